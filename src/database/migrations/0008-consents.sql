-- What users let clients do (OAuth). No code and no token is kept: `content` has the number of the last refresh token.
create table toolhub.consents (
  id text primary key,
  username text not null,
  client text not null,
  content jsonb not null,
  used_at timestamptz not null default now(),
  ended_at timestamptz
);
create index consents_username on toolhub.consents (username);
create index consents_client on toolhub.consents (client);
