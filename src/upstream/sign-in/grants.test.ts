import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logLines } from '../../../test/kit/channel-log.ts';
import { temporaryFolder } from '../../../test/kit/hostile.ts';
import { createSealer } from '../../core/seal.ts';
import type { Grant } from './grants.ts';
import { grantFile, openFileGrants } from './grants-in-file.ts';

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
  return {
    path,
    log,
    open: (key: Uint8Array = secret) => openFileGrants(grantFile(path, createSealer(key, 'oauth'), log)),
  };
}

test('what was kept is there after a restart, and nothing of it can be read in the file', async () => {
  const { path, open } = place();
  const grants = await open();
  await Promise.all(['a', 'b', 'c'].map((name) => grants.set(grant(name))));
  await grants.delete({ server: 'b' });
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
  expect((await open()).get({ server: 'a' })?.tokens?.access).toBe('newer');
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
  expect(grants.get({ server: 'a' })).toEqual(grant('a'));
  expect(JSON.stringify(log.lines)).toMatch(/not saved/);
});

test('a grant of one user is not the grant of another, nor one for all', async () => {
  const { open } = place();
  const grants = await open();
  await grants.set({ ...grant('a'), holder: 'ann' });
  expect(grants.get({ server: 'a', holder: 'ann' })?.tokens?.access).toBe('access-of-a');
  expect(grants.get({ server: 'a' })).toBeUndefined();
  expect(grants.get({ server: 'a', holder: 'bob' })).toBeUndefined();
  expect(grants.get({ server: 'a', holder: '' })).toBeUndefined();
});

test('two who replace the same grant do so one after the other, and the second finds what the first made', async () => {
  const { open } = place();
  const grants = await open();
  await grants.set(grant('a'));
  const old = grants.get({ server: 'a' });
  if (!old) throw new Error('no grant');
  let used = 0;
  const work = async (from: Grant): Promise<Grant> => {
    used += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return { ...from, tokens: { access: `made by ${used}` } };
  };
  const made = await Promise.all(Array.from({ length: 5 }, () => grants.replace(old, work)));
  expect(used).toBe(1);
  expect(made.map((one) => one?.tokens?.access)).toEqual(Array.from({ length: 5 }, () => 'made by 1'));
});

test('what was signed in or out meanwhile is not replaced', async () => {
  const { open } = place();
  const grants = await open();
  for (const meanwhile of [
    () => grants.set({ ...grant('a'), tokens: { access: 'newer' } }),
    () => grants.delete({ server: 'a' }),
  ]) {
    await grants.set(grant('a'));
    const old = grants.get({ server: 'a' });
    if (!old) throw new Error('no grant');
    const made = await grants.replace(old, async (from) => {
      await meanwhile();
      return { ...from, tokens: { access: 'renewed' } };
    });
    expect(made?.tokens?.access).not.toBe('renewed');
    expect(grants.get({ server: 'a' })).toBe(made);
  }
});
