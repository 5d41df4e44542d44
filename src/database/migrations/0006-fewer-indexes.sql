-- Writing them cost half of what a record costs, with each call. Ids begin with the time and the table is bounded, so the primary key finds what is of a time, and the rest is looked through.
drop index toolhub.activity_at;
drop index toolhub.activity_server;
drop index toolhub.activity_username;
drop index toolhub.activity_key;
