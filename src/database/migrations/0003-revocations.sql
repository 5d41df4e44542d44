-- What ended before it expired: a token of a user, or with an empty `jti` all that were issued to the user until then. Nothing was ever
-- written to the table this replaces.
drop table toolhub.revocations;
create table toolhub.revocations (
  username text not null,
  jti text not null,
  -- Milliseconds since 1970: when the token would have expired, or until when the ended ones were issued.
  until_ms bigint not null,
  primary key (username, jti)
);
