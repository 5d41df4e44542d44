// What the page "Activity" asks of a full table of calls.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { bundle } from '../../scripts/bundle.mjs';
import { databaseReady, startHub } from '../lib/contenders.mjs';
import { percentile } from '../lib/numbers.mjs';
import { logIn } from './logs.mjs';

export const about = 'causes of failures among 200 000 recorded calls, with both databases';
/** It needs the programs of PostgreSQL 15. */
export const byName = true;

const records = 200_000;
/** How many of the calls failed, and with how many different texts; causes leave out ids and times. */
const tables = {
  'one in twenty failed': { every: 20, texts: 400 },
  'all failed, each with a text of its own': { every: 1, texts: records },
};

/** Of the last 30 days, in equal steps; ids begin with the time, as those of the hub do. */
const fill = ({ every, texts }) => `
  insert into toolhub.activity
    (id, at, server, tool, duration_ms, status, error, principal, username, key_name, result_bytes, kind)
  select (lpad(to_hex(ms), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
    to_timestamp(ms / 1000.0), 'server-' || n % 40, 'tool_' || n % 7, n % 900,
    case when n % ${every} = 0 then 'error' else 'success' end,
    case when n % ${every} = 0
      then (500 + n % 30) || ' for request ' || lpad((n / ${every} % ${texts})::text, 12, '0') || repeat(' no answer', n % 20)
    end,
    'key', 'user-' || n % 50, 'laptop', 500, 'call'
  from (
    select n, (extract(epoch from now()) * 1000)::bigint - (${records} - n)::bigint * 12900 as ms
    from generate_series(1, ${records}) as n
  ) as numbered`;

export async function run({ rounds, note, only }) {
  await bundle({ records: 'bench/records.ts' }, '.built-bench');
  const { openEmbedded, startPostgres } = createRequire(import.meta.url)('../../.built-bench/records.js');
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const databases = {
    async embedded(sql, use) {
      await inFolder(async (folder) => {
        const database = await openEmbedded({ folder: join(folder, 'data/database'), log });
        for (const one of sql) await database.query(one);
        await database.close();
        await use({ folder });
      });
    },
    async postgres(sql, use) {
      const server = await startPostgres();
      try {
        const url = await server.createDatabase();
        await inFolder(async (folder) => {
          // The tables are made by the hub.
          const first = await hubWith({ folder, env: { DB_URL: url } });
          await first.close();
          const client = new pg.Client({ connectionString: url });
          await client.connect();
          for (const one of sql) await client.query(one);
          await client.end();
          await use({ folder, env: { DB_URL: url } });
        });
      } finally {
        await server.close();
      }
    },
  };
  for (const [table, shape] of Object.entries(tables)) {
    for (const [database, open] of Object.entries(databases)) {
      if (only && !only.includes(database)) continue;
      await open([fill(shape), 'analyze toolhub.activity'], async (setup) => {
        const hub = await hubWith(setup);
        try {
          const token = await logIn(hub.url);
          for (let round = 0; round < rounds; round++) {
            for (const [over, days] of [
              ['30 days', 31],
              ['24 h', 1],
            ])
              note({ table, database, over }, await ask(hub.url, token, days));
          }
        } finally {
          await hub.close();
        }
      });
    }
  }
}

async function hubWith(setup) {
  const hub = await startHub('hub', { servers: {}, ...setup });
  await databaseReady(hub);
  return hub;
}

async function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function ask(url, token, days) {
  const startDate = new Date(Date.now() - days * 86_400_000).toISOString();
  const took = [];
  for (let asked = 0; asked < 10; asked++) {
    const begun = performance.now();
    const response = await fetch(`${url}/api/activities/failures?startDate=${startDate}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { data, incomplete } = await response.json();
    if (!response.ok || incomplete || data.length === 0)
      throw new Error(`answers ${response.status} with ${data?.length}`);
    took.push(performance.now() - begun);
  }
  return { p50: percentile(took, 0.5), worst: Math.max(...took) };
}
