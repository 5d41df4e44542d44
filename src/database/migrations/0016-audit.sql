-- Who changed what: a chain, in which each record has the hash of the one before. `record` is what the hash is over; the other columns are for finding it.
create table toolhub.audit (
  id bigint primary key,
  -- Of the event: one that is written again after an answer was lost is left as it is.
  event uuid not null unique,
  at timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  record text not null
);
create index audit_at on toolhub.audit (at);
