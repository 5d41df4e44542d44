import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/kit/hostile.ts';
import { oauthFixture, type OAuthFixture } from '../../test/kit/oauth-server.ts';
import { server } from '../../test/kit/snapshots.ts';
import { createSealer } from '../core/seal.ts';
import type { OAuthSettings } from '../core/settings/server.ts';
import { readEnv } from '../env/env.ts';
import type { Grant } from '../upstream/sign-in/grants.ts';
import { checkServers } from './checks/servers.ts';
import { noLog, openProbes } from './probe.ts';
import { readStoredSignIns } from './stored-sign-ins.ts';

// `toolhub doctor` connects with the sign-ins that the hub has kept, and takes nothing away from it.

const secret = Buffer.alloc(32, 7);

function folderWith(grants: readonly Grant[]): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'hub.secret'), `${secret.toString('hex')}\n`);
  writeFileSync(join(folder, 'oauth.sealed'), createSealer(secret, 'oauth').seal(JSON.stringify({ grants })));
  return folder;
}

async function check(fixture: OAuthFixture, dataDir: string, oauth: OAuthSettings = {}) {
  const transport = { type: 'streamable-http', url: fixture.url, headers: {}, env: {}, oauth } as const;
  const mail = server('mail', { transport, owner: 'ann' });
  const env = readEnv({ DATA_DIR: dataDir });
  const known = { name: 'mail', trusted: true, allowedCidrs: [] };
  const { probe, close } = openProbes(env, [known], await readStoredSignIns(dataDir, noLog));
  try {
    const [found] = await checkServers([{ settings: mail }], probe);
    return found;
  } finally {
    await close();
  }
}

const grantOf = (fixture: OAuthFixture, more: Partial<Grant> = {}): Grant => {
  const { access, refresh } = fixture.issue();
  return { server: 'mail', address: fixture.url, tokens: { access, refresh }, ...more };
};

test('a server that was signed in to is connected with the kept token', async () => {
  const fixture = await oauthFixture();
  const folder = folderWith([grantOf(fixture)]);
  const before = readFileSync(join(folder, 'oauth.sealed'));
  expect(await check(fixture, folder)).toMatchObject({ status: 'ok' });
  expect(readFileSync(join(folder, 'oauth.sealed'))).toEqual(before);
});

test('a token that has ended is not renewed here: the running hub would lose its refresh token', async () => {
  const fixture = await oauthFixture();
  const ended = grantOf(fixture);
  const over = { ...ended, tokens: { ...ended.tokens, expiresAt: Date.now() - 1 } };
  expect(await check(fixture, folderWith([over]))).toMatchObject({
    status: 'warn',
    detail: expect.stringMatching(/has ended/),
  });
  expect(fixture.refusals.every((token) => token === undefined)).toBe(true);
  fixture.expireAll();
  const refused = await check(fixture, folderWith([ended]));
  expect(refused).toMatchObject({ status: 'warn', detail: expect.stringMatching(/refuses the access token/) });
  expect(refused?.detail).not.toContain('canary');
  expect(fixture.exchanges).toHaveLength(0);
});

test('without a sign-in it says so, and no secret is made', async () => {
  const fixture = await oauthFixture();
  const folder = temporaryFolder();
  expect(await check(fixture, folder)).toMatchObject({
    status: 'fail',
    detail: expect.stringMatching(/needs a user to sign in/),
  });
  expect(existsSync(join(folder, 'hub.secret'))).toBe(false);
  const elsewhere = grantOf(fixture, { address: 'https://other.example/mcp' });
  expect(await check(fixture, folderWith([elsewhere]))).toMatchObject({ status: 'fail' });
});

test('where users sign in alone it is the owner’s sign-in that is tried, and never the one for all', async () => {
  const fixture = await oauthFixture();
  const perUser = { perUser: true };
  const first = grantOf(fixture, { holder: 'bob', since: 1 });
  fixture.expireAll();
  const owners = grantOf(fixture, { holder: 'ann', since: 2 });
  expect(await check(fixture, folderWith([first, owners]), perUser)).toMatchObject({ status: 'ok' });
  expect(await check(fixture, folderWith([grantOf(fixture)]), perUser)).toMatchObject({ status: 'fail' });
});
