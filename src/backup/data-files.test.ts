import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { expect, test } from 'vitest';
import { tempFolder } from '../../test/kit/databases.ts';
import { refusalOf } from '../../test/kit/settings-place.ts';
import { dataFiles } from './data-files.ts';
import { writeBackup } from './write-backup.ts';

function folderWith(files: Record<string, string | Buffer>): string {
  const folder = tempFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const backupOf = (dataDir: string, out: Transform) => {
  const jwtSecret = { from: 'data folder', value: 'a secret that is long enough for it' } as const;
  const settingsPath = join(dataDir, 'none.json');
  return writeBackup({ dataDir, settingsPath, databaseKind: 'off', database: undefined, jwtSecret }, out.resume());
};

test('a backup has nothing of the homes of servers, and says so', async () => {
  const through = new Transform({ transform: (chunk, _encoding, done) => done(null, chunk) });
  const { files, leftOut } = await backupOf(folderWith({ 'jwt.secret': 'abc', 'sandbox/notes/x': 'x' }), through);
  expect(Object.keys(files)).toEqual(['data/jwt.secret']);
  expect(leftOut).toEqual(['sandbox']);
});

test('files are counted before the first byte', async () => {
  const folder = folderWith({ 'bundles/a': 'aaa', 'bundles/b': 'bbb', c: 'ccc' });
  const most = { backupEntries: 1000, backupDataBytes: 1000 };
  expect((await dataFiles(folder, most)).map(({ path }) => path)).toEqual(['bundles/a', 'bundles/b', 'c']);
  for (const less of [{ backupEntries: 102 }, { backupDataBytes: 8 }]) {
    const refusal = await refusalOf(dataFiles(folder, { ...most, ...less }));
    expect([refusal.code, refusal.message]).toEqual(['misconfigured', expect.stringContaining('with c there are')]);
  }
});

test('a file that became a pipe since it was listed is not waited for', async () => {
  const folder = folderWith({ a: randomBytes(1_000_000), z: 'z' });
  const exchanges = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (lstatSync(join(folder, 'z')).isFile()) {
        rmSync(join(folder, 'z'));
        execFileSync('mkfifo', [join(folder, 'z')]);
      }
      done(null, chunk);
    },
  });
  expect((await backupOf(folder, exchanges)).gone).toEqual(['data/z']);
});
