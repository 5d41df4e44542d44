-- Sign-ins to servers, for all hubs on this database. A hub that fetches new tokens says so first, and the others wait for what it gets: an authorization server takes a
-- refresh token that is used twice for a stolen one.
alter table toolhub.oauth_tokens
  add column claimed_by text,
  add column claimed_until timestamptz;

-- Sign-ins under way, by the hash of their `state`: whichever hub gets the answer takes it, once.
create table toolhub.sign_ins (
  state_hash text primary key,
  server text not null,
  username text not null,
  ciphertext bytea not null,
  expires_at timestamptz not null
);

-- Random secrets that the hubs share where the environment gives them none (JWT_SECRET).
create table toolhub.secrets (
  name text primary key,
  value bytea not null,
  created_at timestamptz not null default now()
);
