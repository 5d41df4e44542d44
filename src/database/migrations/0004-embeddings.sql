-- Where there is no vector extension: vectors as little-endian 32-bit floats. They are compared in the memory of each hub.
create table toolhub.embedding_bytes (
  model text not null,
  content_hash text not null,
  embedding bytea not null,
  used_at timestamptz not null default now(),
  primary key (model, content_hash)
);
create index embedding_bytes_used on toolhub.embedding_bytes (used_at);

-- Which hub is getting the vector of which text, so that no two pay for the same. Left to expire also when it is done: whoever looked a moment before must not begin.
create table toolhub.embedding_claims (
  model text not null,
  content_hash text not null,
  hub text not null,
  until timestamptz not null,
  primary key (model, content_hash)
);
