import type { Database } from '../../database/database.ts';
import { smartLimits } from '../limits.ts';
import type { SpaceContents } from '../vector-store.ts';

/** The table of vectors, in either of its two forms: `vector` where the extension is there, bytes where it is not. */
export interface VectorRows {
  sizes(space: string, hashes: readonly string[]): Promise<Map<string, number>>;
  read(space: string, hashes: readonly string[]): Promise<Map<string, Float32Array>>;
  save(space: string, vectors: ReadonlyMap<string, Float32Array>): Promise<void>;
  /** Only with the extension. */
  similarities(space: string, query: Float32Array, hashes: readonly string[]): Promise<Map<string, number>>;
  claim(space: string, hashes: readonly string[], again: boolean): Promise<Set<string>>;
  release(space: string, hashes: readonly string[]): Promise<void>;
  tend(space: string, hashes: readonly string[]): Promise<void>;
  contents(): Promise<SpaceContents[]>;
}

/** `hub` tells this hub's claims from those of others. */
export function vectorRows(database: Database, hub: string): VectorRows {
  const { table, size, write, read } = database.hasVector ? asVectors : asBytes;

  return {
    async sizes(space, hashes) {
      const rows = await database.query<{ hash: string; size: number }>(
        `select content_hash as hash, ${size} as size from ${table} where model = $1 and content_hash = any($2::text[])`,
        [space, hashes],
      );
      return new Map(rows.map((row) => [row.hash, row.size]));
    },
    async read(space, hashes) {
      const rows = await database.query<{ hash: string; text: string }>(
        `select content_hash as hash, ${read} as text from ${table} where model = $1 and content_hash = any($2::text[])`,
        [space, hashes],
      );
      return new Map(rows.map((row) => [row.hash, decode(row.text, database.hasVector)]));
    },
    async save(space, vectors) {
      const texts = Array.from(vectors.values(), (vector) => encode(vector, database.hasVector));
      await database.query(
        `insert into ${table} (model, content_hash, embedding)
         select $1, hash, ${write} from unnest($2::text[], $3::text[]) as given (hash, text) order by hash
         on conflict (model, content_hash) do update set embedding = excluded.embedding, used_at = now()`,
        [space, [...vectors.keys()], texts],
      );
    },
    async similarities(space, query, hashes) {
      // The case comes first: `<=>` fails for vectors of different sizes.
      const rows = await database.query<{ hash: string; similarity: number }>(
        `select content_hash as hash, similarity from (
           select content_hash, case when vector_dims(embedding) = $4 then 1 - (embedding <=> $2::text::vector) end as similarity
           from ${table} where model = $1 and content_hash = any($3::text[])) as compared
         where similarity is not null`,
        [space, encode(query, true), hashes, query.length],
      );
      return new Map(rows.map((row) => [row.hash, row.similarity]));
    },
    async claim(space, hashes, again) {
      // In the order of the hashes: two hubs that want the same ones must not wait for each other in a circle.
      const open = again
        ? ''
        : `where not exists (select from ${table} as kept where kept.model = $1 and kept.content_hash = hash)`;
      const rows = await database.query<{ hash: string }>(
        `insert into toolhub.embedding_claims as held (model, content_hash, hub, until)
         select $1, hash, $3, now() + $4::float8 * interval '1 ms' from unnest($2::text[]) as given (hash) ${open} order by hash
         on conflict (model, content_hash) do update set hub = excluded.hub, until = excluded.until
           where held.until < now() or held.hub = excluded.hub
         returning content_hash as hash`,
        [space, hashes, hub, smartLimits.embeddingClaimMs],
      );
      return new Set(rows.map((row) => row.hash));
    },
    async release(space, hashes) {
      await database.query(
        'delete from toolhub.embedding_claims where model = $1 and content_hash = any($2::text[]) and hub = $3',
        [space, hashes, hub],
      );
    },
    async tend(space, hashes) {
      await database.query(
        `update ${table} set used_at = now()
         where model = $1 and content_hash = any($2::text[]) and used_at < now() - interval '1 day'`,
        [space, hashes],
      );
      await database.query(`delete from ${table} where used_at < now() - $1::float8 * interval '1 ms'`, [
        smartLimits.embeddingsKeptMs,
      ]);
      await database.query(`delete from toolhub.embedding_claims where until < now() - interval '1 hour'`);
    },
    contents: () =>
      database.query<SpaceContents>(
        `select model as space, count(*)::int as vectors, max(${size})::int as dimensions, min(used_at) as oldest, max(used_at) as newest
         from ${table} group by model order by model`,
      ),
  };
}

const asVectors = {
  table: 'toolhub.embeddings',
  size: 'vector_dims(embedding)',
  write: 'text::vector',
  read: 'embedding::text',
};
const asBytes = {
  table: 'toolhub.embedding_bytes',
  size: 'octet_length(embedding) / 4',
  write: `decode(text, 'base64')`,
  read: `encode(embedding, 'base64')`,
};

function encode(vector: Float32Array, asVector: boolean): string {
  if (asVector) return `[${vector.join(',')}]`;
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

function decode(text: string, asVector: boolean): Float32Array {
  if (asVector) return Float32Array.from(JSON.parse(text) as number[]);
  return new Float32Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer);
}
