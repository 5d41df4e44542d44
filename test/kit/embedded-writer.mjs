// Opens the embedded database in the data folder given, with the archive given, and inserts numbers for ever. Says each
// one once it is acknowledged; before that `open`, or `refused: <why>` and ends.
import { join } from 'node:path';
import { openEmbedded } from '../../.built/parts.js';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const [dataDir, archive] = process.argv.slice(2);
try {
  const database = await openEmbedded({ folder: join(dataDir, 'database'), archive, log });
  await database.query('create schema if not exists toolhub');
  await database.query('create table if not exists toolhub.numbers (n int primary key)');
  const [row] = await database.query('select coalesce(max(n), 0) as n from toolhub.numbers');
  process.stdout.write(`open ${row.n}\n`);
  for (let n = row.n + 1; ; n += 1) {
    await database.query('insert into toolhub.numbers values ($1)', [n]);
    process.stdout.write(`${n}\n`);
  }
} catch (error) {
  process.stdout.write(`refused: ${error.code} ${error.message}\n`);
  process.exit(3);
}
