-- When access keys and grants were last used; ids begin with `key:` or `grant:`.
create table toolhub.last_uses (
  id text primary key,
  used_at timestamptz not null
);
