-- The hubs that use this database now: where the others reach them. `seen_at` is by the clock of the database alone.
create table toolhub.hubs (
  id text primary key,
  urls text[] not null,
  secret_hash text not null,
  version text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
