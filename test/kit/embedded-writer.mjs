// Opens the embedded database in the folder given and inserts numbers for ever, saying each one once it is
// acknowledged. Says `open`, or `refused: <why>` and ends.
import { openDatabase } from '../../.built/parts.js';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
try {
  const database = await openDatabase({ url: undefined, dataDir: process.argv[2], log: silent });
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
