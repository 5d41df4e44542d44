-- Of how long a call took: what it waited in the hub before it was sent, and what was spent at the server.
alter table toolhub.activity add column queue_ms integer, add column server_ms integer;
