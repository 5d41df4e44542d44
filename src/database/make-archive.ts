import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from './archive.ts';
import { engineVersions } from './engine.ts';
import { makeEmbedded } from './make-embedded.ts';
import { openDatabase } from './open.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export { engineVersions };

/** For the build: writes a new database with all migrations applied into the file `archive`. Takes seconds. */
export async function makeArchive(archive: string): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'toolhub-'));
  const folder = join(dataDir, 'database');
  try {
    await makeEmbedded(folder);
    const database = await openDatabase({ url: undefined, dataDir, log: silent });
    // The hub makes no other databases, and these two are two thirds of the folder.
    for (const template of ['template0', 'template1']) {
      await database.query(`alter database ${template} with is_template false`);
      await database.query(`drop database ${template}`);
    }
    // The log of what was done so far is needed no longer when all of it is in the tables.
    await database.query('select pg_switch_wal()');
    await database.query('checkpoint');
    const [wal] = await database.query<{ name: string }>('select pg_walfile_name(pg_current_wal_insert_lsn()) as name');
    await database.close();
    const isOldLog = (path: string): boolean => /^pg_wal\/[0-9A-F]{24}$/.test(path) && !path.endsWith(`/${wal?.name}`);
    writeFileSync(archive, pack(folder, engineVersions(), isOldLog));
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
