import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../../../test/kit/databases.ts';
import { homeOf, moveHome } from './sandbox-home.ts';

function folderWith(...servers: string[]): string {
  const folder = tempFolder();
  for (const server of servers) {
    mkdirSync(homeOf(folder, server), { recursive: true });
    writeFileSync(join(homeOf(folder, server), 'of'), server);
  }
  return folder;
}

test('a home that cannot be removed is not under its name any more, and goes with the next one', async () => {
  const folder = folderWith('notes', 'mail');
  // As with a folder of mode 000, for any user but root.
  const refused = () => Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }));
  await moveHome(folder, 'notes', undefined, refused);
  expect(existsSync(homeOf(folder, 'notes'))).toBe(false);
  expect(readdirSync(join(folder, 'sandbox'))).toHaveLength(2);
  await moveHome(folder, 'mail', undefined);
  expect(readdirSync(join(folder, 'sandbox'))).toEqual([]);
});

test('a home takes the place of one that an earlier server of its new name left', async () => {
  const folder = folderWith('notes', 'mail');
  await moveHome(folder, 'notes', 'mail');
  expect(readFileSync(join(homeOf(folder, 'mail'), 'of'), 'utf8')).toBe('notes');
  expect(readdirSync(join(folder, 'sandbox'))).toEqual(['mail']);
  await moveHome(folder, 'none', 'mail');
  expect(readdirSync(join(folder, 'sandbox'))).toEqual([]);
});
