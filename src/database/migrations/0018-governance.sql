-- Calls that wait for the yes of a person, at any of the hubs on this database.
create table toolhub.approvals (
  id uuid primary key,
  hash text not null,
  caller text not null,
  state text not null,
  content jsonb not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  decided_by text,
  decided_at timestamptz
);
create index approvals_hash on toolhub.approvals (hash);
create index approvals_state on toolhub.approvals (state, expires_at);

-- What hubs on this database have counted together: calls of a second (bucket >= 0) and of a day (bucket < 0).
create unlogged table toolhub.call_counts (
  id text not null,
  caller text not null default '',
  bucket bigint not null,
  calls integer not null,
  primary key (id, caller, bucket)
);

-- Calls that are running, by hub. One that says nothing any more is gone, and its calls with it.
create unlogged table toolhub.call_running (
  id text not null,
  caller text not null default '',
  hub uuid not null,
  calls integer not null,
  seen_at timestamptz not null default now(),
  primary key (id, caller, hub)
);

-- What of each server was first seen or approved, and what was rejected.
create table toolhub.pins (
  server text primary key,
  content jsonb not null
);
