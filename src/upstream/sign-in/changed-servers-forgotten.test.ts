import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { logLines } from '../../../test/kit/channel-log.ts';
import { temporaryFolder } from '../../../test/kit/hostile.ts';
import { server as serverSettings } from '../../../test/kit/snapshots.ts';
import { createSealer } from '../../core/seal.ts';
import { upstreamLimits } from '../limits.ts';
import { grantFile, openFileGrants } from './grants-in-file.ts';
import { createStaleGrants } from './changed-servers.ts';

// A hub whose settings are behind those of another must not forget, for all of them, what fits only the newer ones.

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

async function place(isCurrent?: () => boolean) {
  const log = logLines();
  const file = grantFile(join(temporaryFolder(), 'oauth.sealed'), createSealer(randomBytes(32), 'oauth'), log);
  const grants = await openFileGrants(file);
  await grants.set({ server: 'mail', address: 'https://mail.example/mcp', tokens: { access: 'a' } });
  const transport = { type: 'streamable-http', url: 'https://mail.example/mcp', headers: {}, env: {} } as const;
  const settings = { hasServer: true };
  const staleGrants = createStaleGrants({
    grants,
    log: () => log,
    server: (name) => (settings.hasServer && name === 'mail' ? serverSettings('mail', { transport }) : undefined),
    expand: () => transport,
    maySignIn: () => true,
    userSince: () => undefined,
    changed: () => undefined,
    ...(isCurrent && { isCurrent }),
  });
  const look = () => {
    staleGrants.forget(() => undefined);
    return grants.all().length;
  };
  return { settings, look, close: () => staleGrants.close() };
}

test('alone, a hub forgets at once', async () => {
  const { settings, look, close } = await place();
  expect(look()).toBe(1);
  settings.hasServer = false;
  expect(look()).toBe(0);
  close();
});

test('beside others, it forgets what has not fitted for a while without a break', async () => {
  const { settings, look, close } = await place(() => true);
  settings.hasServer = false;
  expect(look()).toBe(1);
  vi.advanceTimersByTime(upstreamLimits.signInSettleMs - 1);
  expect(look()).toBe(1);
  settings.hasServer = true;
  expect(look()).toBe(1);
  settings.hasServer = false;
  vi.advanceTimersByTime(upstreamLimits.signInSettleMs);
  expect(look(), 'the settings came meanwhile').toBe(1);
  vi.advanceTimersByTime(upstreamLimits.signInSettleMs);
  expect(look()).toBe(0);
  close();
});

test('while the database is away it forgets nothing, however long', async () => {
  let isReady = false;
  const { settings, look, close } = await place(() => isReady);
  settings.hasServer = false;
  for (let i = 0; i < 5; i++) {
    expect(look()).toBe(1);
    vi.advanceTimersByTime(upstreamLimits.signInSettleMs * 2);
  }
  isReady = true;
  expect(look(), 'not on the strength of what it saw before').toBe(1);
  vi.advanceTimersByTime(upstreamLimits.signInSettleMs);
  expect(look()).toBe(0);
  close();
});
