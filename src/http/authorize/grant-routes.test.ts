import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { settings } from '../../../test/kit/snapshots.ts';
import type { Consent } from '../../auth/oauth/consents.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { Caller } from '../frame/caller.ts';
import { grantRoutes, type GrantOptions } from './grant-routes.ts';

const consent = (username: string, since?: string): Consent => ({
  id: `${username}-${since}`,
  username,
  since,
  client: 'c',
  clientName: 'An app',
  clientHost: 'app.example',
  endpoint: '',
  resource: '',
  loginAt: 1,
  createdAt: 1,
  usedAt: 1,
  generation: 1,
  rotatedAt: 1,
});

/** What an admin, or ann, sees of these, and how often the names of users were read meanwhile. */
async function listed(all: readonly Consent[], users: number, isAdmin: boolean) {
  let reads = 0;
  const own = Array.from({ length: users }, (_, at) => {
    const name = at === 0 ? 'ann' : `user${at}`;
    const user = {
      createdAt: 'now',
      get username() {
        reads++;
        return name;
      },
    };
    return user as UserSettings;
  });
  const [ann] = own;
  const caller = {
    principal: { kind: 'user', username: 'ann', since: 'now' },
    user: ann,
    admin: isAdmin,
    settings: { ...settings({}), users: own },
  } as unknown as Caller;
  const options = {
    consents: { all: () => Promise.resolve(all), end: () => Promise.resolve(true) },
    uses: { read: () => Promise.resolve(() => undefined) },
  } as unknown as GrantOptions;
  const app = new Hono<{ Variables: { caller: Caller } }>()
    .use((c, next) => {
      c.set('caller', caller);
      return next();
    })
    .route('/', grantRoutes(options));
  const answer = await app.request('/auth/grants');
  const { data } = (await answer.json()) as { data: { id: string }[] };
  return { ids: data.map(({ id }) => id), reads };
}

test('users see their own grants, admins those of all accounts, and none of an account of the same name before', async () => {
  const all = [
    consent('ann', 'now'),
    consent('ann', 'before'),
    consent('user1', 'now'),
    consent('gone'),
    consent('ann'),
  ];
  expect((await listed(all, 3, false)).ids).toEqual(['ann-now']);
  expect((await listed(all, 3, true)).ids).toEqual(['ann-now', 'user1-now']);
});

test('each user is looked at once, however many grants there are', async () => {
  const all = Array.from({ length: 200 }, (_, at) => consent(`user${at + 1}`, 'now'));
  const { ids, reads } = await listed(all, 201, true);
  expect(ids).toHaveLength(200);
  expect(reads).toBeLessThan(2 * 201);
});
