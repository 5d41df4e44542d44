-- What users show at a login besides the password: sealed, a row for each user who has set it up.
create table toolhub.second_factors (
  username text primary key,
  ciphertext bytea not null,
  updated_at timestamptz not null default now()
);
