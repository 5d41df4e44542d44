-- Ten thousand calls that wait for the yes of a person: what is asked of all of them at once is in columns of its own,
-- and what is asked at each new one in indexes.
alter table toolhub.approvals add column who text, add column principal text, add column server text, add column tool text;
create index approvals_made on toolhub.approvals (created_at);
create index approvals_waiting on toolhub.approvals (caller, expires_at) where state = 'waiting';
