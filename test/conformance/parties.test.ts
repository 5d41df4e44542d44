import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => void vi.useRealTimers());

test('a party that needs a minute and a half to start is waited for', async () => {
  const parties = (await import(new URL('parties.mjs', import.meta.url).href)) as {
    httpFixture: (era: string) => Promise<{ config: { url: string }; close: () => Promise<void> }>;
  };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const opening = parties.httpFixture('new');
  // Handled from now on: it must not count as one that is not, while the clock goes on.
  opening.catch(() => {});
  vi.advanceTimersByTime(90_000);
  vi.useRealTimers();
  const { config, close } = await opening;
  expect(config.url).toMatch(/^http:/);
  await close();
});
