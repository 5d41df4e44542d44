-- Logins in browsers. The cookie itself is not kept, only its hash.
create table toolhub.sessions (
  id text primary key,
  token_hash text not null unique,
  username text not null,
  content jsonb not null,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
create index sessions_username on toolhub.sessions (username);
