-- The settings document, when DB_URL is set: one row. Text, not jsonb: the order of its keys means something and unknown keys are kept.
create table toolhub.settings (
  id smallint primary key check (id = 1),
  version bigint not null,
  document text not null,
  updated_at timestamptz not null default now()
);

-- `hub` tells replicas apart: their ids are times and may coincide.
create table toolhub.logs (
  id bigint not null,
  hub integer not null,
  at timestamptz not null,
  level text not null,
  service text not null,
  message text not null,
  primary key (id, hub)
);
create index logs_service on toolhub.logs (service, id);
create index logs_level on toolhub.logs (level, id);
create index logs_at on toolhub.logs (at);

create table toolhub.activity (
  id uuid primary key,
  at timestamptz not null,
  server text not null,
  tool text not null,
  duration_ms double precision not null,
  status text not null,
  error text,
  principal text not null,
  username text,
  key_id text,
  key_name text,
  "group" text,
  scope text,
  source_ip text,
  result_bytes integer not null,
  trace_id text,
  input text,
  output text
);
create index activity_at on toolhub.activity (at);
create index activity_server on toolhub.activity (server, id);
create index activity_username on toolhub.activity (username, id) where username is not null;
create index activity_key on toolhub.activity (key_id, id) where key_id is not null;
create index activity_failed on toolhub.activity (status, id) where status <> 'success';

-- What ended before it expired: a token of a user, or with an empty `jti` all that were issued to the user until then.
create table toolhub.revocations (
  username text not null,
  jti text not null,
  -- Milliseconds since 1970: when the token would have expired, or until when the ended ones were issued.
  until_ms bigint not null,
  primary key (username, jti)
);

-- Tokens for upstream servers, sealed by the hub before they come here.
create table toolhub.oauth_tokens (
  server text not null,
  principal text not null,
  ciphertext bytea not null,
  updated_at timestamptz not null default now(),
  primary key (server, principal)
);
