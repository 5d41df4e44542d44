-- What the AI client of a call calls itself; null for calls over REST, and for those from before.
alter table toolhub.activity add column client text;
