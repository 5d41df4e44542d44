-- What users set for themselves at servers with a credentialTemplate: the values are sealed.
create table toolhub.user_credentials (
  server text not null,
  username text not null,
  ciphertext bytea not null,
  updated_at timestamptz not null default now(),
  primary key (server, username)
);
