import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logLines } from '../../../test/kit/channel-log.ts';
import { temporaryFolder } from '../../../test/kit/hostile.ts';
import { createSealer } from '../../core/seal.ts';
import type { Grant } from './grant.ts';
import { openGrants } from './grants.ts';

const grant = (server: string): Grant => ({
  server,
  address: `https://${server}.example/mcp`,
  issuer: 'https://as.example',
  tokens: { access: `access-of-${server}`, refresh: `refresh-of-${server}` },
});

function place() {
  const path = join(temporaryFolder(), 'oauth.sealed');
  const secret = randomBytes(32);
  const log = logLines();
  return { path, log, open: (key: Uint8Array = secret) => openGrants(path, createSealer(key, 'oauth'), log) };
}

test('what was kept is there after a restart, and nothing of it can be read in the file', async () => {
  const { path, open } = place();
  const grants = await open();
  await Promise.all(['a', 'b', 'c'].map((name) => grants.set(grant(name))));
  await grants.delete('b');
  await grants.close();
  expect((await open()).all()).toEqual([grant('a'), grant('c')]);
  const text = readFileSync(path, 'latin1');
  expect(text).not.toMatch(/access|refresh|example/);
  expect(Buffer.from(text, 'base64url').toString('latin1')).not.toMatch(/access|refresh|example/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a change has reached the disk when it resolves, also one made while another is written', async () => {
  const { open } = place();
  const grants = await open();
  const first = grants.set(grant('a'));
  const second = grants.set({ ...grant('a'), tokens: { access: 'newer' } });
  await first;
  await second;
  expect((await open()).get('a')?.tokens?.access).toBe('newer');
});

test('with another secret, or a file that was altered, the hub starts without and says so', async () => {
  const { path, log, open } = place();
  await (await open()).set(grant('a'));
  expect((await open(randomBytes(32))).all()).toEqual([]);
  writeFileSync(path, `${readFileSync(path, 'utf8').slice(0, -2)}xx`);
  expect((await open()).all()).toEqual([]);
  expect(log.lines.filter((line) => /sign in again/.test(JSON.stringify(line)))).toHaveLength(2);
});

test('a disk that refuses ends no sign-in: the log says what is at stake', async () => {
  const { path, log, open } = place();
  mkdirSync(path);
  const grants = await open();
  await grants.set(grant('a'));
  expect(grants.get('a')).toEqual(grant('a'));
  expect(JSON.stringify(log.lines)).toMatch(/not saved/);
});
