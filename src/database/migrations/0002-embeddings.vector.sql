-- Without a fixed size: each model has its own. Searched exactly, so no index on the vector (an HNSW index loses rows under a filter).
create table toolhub.embeddings (
  model text not null,
  content_hash text not null,
  embedding vector not null,
  used_at timestamptz not null default now(),
  primary key (model, content_hash)
);
create index embeddings_used on toolhub.embeddings (used_at);
