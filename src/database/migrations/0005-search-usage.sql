-- Searches of smart routing, and what was done with their results: those records carry the id of the search and the rank of the tool.
alter table toolhub.activity
  add column kind text not null default 'call',
  add column search_id uuid,
  add column query text,
  add column search_rank integer,
  -- JSON: [{server, tool, score}], best first.
  add column results text;
create index activity_search on toolhub.activity (search_id) where search_id is not null;
create index activity_kind on toolhub.activity (kind, id) where kind <> 'call';
