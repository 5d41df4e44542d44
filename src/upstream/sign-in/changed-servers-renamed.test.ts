import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logLines } from '../../../test/kit/channel-log.ts';
import { temporaryFolder } from '../../../test/kit/hostile.ts';
import { server as serverSettings } from '../../../test/kit/snapshots.ts';
import { createSealer } from '../../core/seal.ts';
import { deferred } from '../../core/deferred.ts';
import { HubError } from '../../core/errors.ts';
import type { Grant, Grants } from './grants.ts';
import { grantFile, openFileGrants } from './grants-in-file.ts';
import { createRenaming } from './changed-servers.ts';

const address = 'https://mail.example/mcp';
const grantOf = (server: string, access: string, more: Partial<Grant> = {}): Grant => ({
  server,
  address,
  tokens: { access, refresh: `refresh of ${access}` },
  since: 1,
  ...more,
});

/** Sign-ins of the servers with these owners. */
async function place(owners: Record<string, string>, change: (grants: Grants) => Grants = (same) => same) {
  const log = logLines();
  const file = grantFile(join(temporaryFolder(), 'oauth.sealed'), createSealer(randomBytes(32), 'oauth'), log);
  const grants = await openFileGrants(file);
  const renaming = createRenaming({
    grants: change(grants),
    server: (name) => {
      const owner = owners[name];
      return owner === undefined ? undefined : serverSettings(name, { owner });
    },
    forget: () => undefined,
    relist: () => undefined,
    log: () => log,
  });
  const kept = () => Object.fromEntries(grants.all().map(({ server, tokens }) => [server, tokens?.access]));
  /** A renewal that goes on until the function it gives is called. */
  const renew = (old: Grant, access: string) => {
    const answer = deferred<void>();
    const done = grants.replace(old, async (current) => {
      await answer.promise;
      return { ...current, tokens: { access, refresh: `refresh of ${access}` } };
    });
    return async () => {
      answer.resolve();
      await done;
    };
  };
  return { grants, renaming, kept, renew };
}

test('a server that is renamed twice while its sign-in is renewed keeps it, as it is then', async () => {
  const { grants, renaming, kept, renew } = await place({ post: 'ann' });
  const old = grantOf('mail', 'old');
  await grants.set(old);
  const answered = renew(old, 'new');
  const both = [renaming.rename('mail', 'letters'), renaming.rename('letters', 'post')];
  expect(renaming.seen.all()).toEqual([]);
  await answered();
  await Promise.all(both);
  expect(kept()).toEqual({ post: 'new' });
  expect(renaming.seen.get({ server: 'post' })).toMatchObject({ tokens: { access: 'new' } });
});

test('servers that swap their names keep each its own', async () => {
  const { grants, renaming, kept, renew } = await place({ mail: 'ann', post: 'ann' });
  const [one, other] = [grantOf('mail', 'of mail'), grantOf('post', 'of post')];
  await Promise.all([one, other].map((grant) => grants.set(grant)));
  const answered = renew(one, 'new of mail');
  const all = [renaming.rename('mail', 'x'), renaming.rename('post', 'mail'), renaming.rename('x', 'post')];
  await answered();
  await Promise.all(all);
  expect(kept()).toEqual({ mail: 'of post', post: 'new of mail' });
});

test('what another server left under the new name is not for this one', async () => {
  const { grants, renaming, kept } = await place({ post: 'eve' });
  await grants.set(grantOf('post', 'of the one before'));
  await renaming.rename('mail', 'post');
  expect(kept()).toEqual({});
});

test('who signed in to the renamed server while the old sign-in was on its way is not undone', async () => {
  const { grants, renaming, kept, renew } = await place({ post: 'ann' });
  const old = grantOf('mail', 'old');
  await grants.set(old);
  const answered = renew(old, 'new');
  const renamed = renaming.rename('mail', 'post');
  await grants.set(grantOf('post', 'anew', { since: Date.now() }));
  await answered();
  await renamed;
  expect(kept()).toEqual({ post: 'anew' });
});

test('the next server of the old name keeps its own sign-in, which goes nowhere', async () => {
  const { grants, renaming, kept, renew } = await place({ mail: 'eve', post: 'ann' });
  const old = grantOf('mail', 'old');
  await grants.set(old);
  const answered = renew(old, 'new');
  const renamed = renaming.rename('mail', 'post');
  await grants.set(grantOf('mail', 'of the next', { since: Date.now() + 1 }));
  await answered();
  await renamed;
  expect(kept()).toEqual({ mail: 'of the next' });
});

test('nothing comes to a server of another user that got the new name meanwhile', async () => {
  const owners: Record<string, string> = { post: 'ann' };
  const { grants, renaming, kept, renew } = await place(owners);
  const old = grantOf('mail', 'old');
  await grants.set(old);
  const answered = renew(old, 'new');
  const renamed = renaming.rename('mail', 'post');
  owners['post'] = 'eve';
  await answered();
  await renamed;
  expect(kept()).toEqual({});
});

test('a sign-in that was ended while another hub seemed to renew it does not come back under the new name', async () => {
  const asked = deferred<void>();
  const { grants, renaming, kept } = await place({ post: 'ann' }, (real) => ({
    ...real,
    async replace() {
      await asked.promise;
      throw new HubError('timeout', 'Another hub is renewing the sign-in.');
    },
  }));
  await grants.set(grantOf('mail', 'old'));
  const renamed = renaming.rename('mail', 'post');
  await grants.delete({ server: 'mail' });
  asked.resolve();
  await renamed;
  expect(kept()).toEqual({});
});
