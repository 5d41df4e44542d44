-- Events that say who tried to get in stay when the others are too many.
alter table toolhub.logs add column security boolean not null default false;
create index logs_security on toolhub.logs (id) where security;
