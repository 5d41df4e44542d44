import { expect, test } from 'vitest';

type Look = { status: string; oauth?: { authorizationUrl: string } };

/** Whether a sign-in is wanted of a server that looks so, one look after the other, the last for ever. */
async function wanted(...seen: Look[]): Promise<{ isWanted: boolean; looks: number }> {
  const { wantsSignIn } = (await import(new URL('wanted-sign-in.mjs', import.meta.url).href)) as {
    wantsSignIn: (server: () => Promise<Look>, pause: () => Promise<void>) => Promise<boolean>;
  };
  let looks = 0;
  const look = async (): Promise<Look> => seen[Math.min(looks++, seen.length - 1)] ?? { status: 'connected' };
  const isWanted = await wantsSignIn(look, async () => {});
  return { isWanted, looks };
}

const times = (n: number, look: Look): Look[] => Array.from({ length: n }, () => look);

test('a server that is asked again for a minute before it wants a sign-in is waited for', async () => {
  const asked = [...times(600, { status: 'connecting' }), ...times(600, { status: 'disconnected' })];
  const found = await wanted(...asked, { status: 'oauth_required', oauth: { authorizationUrl: 'http://as.test/' } });
  expect(found).toEqual({ isWanted: true, looks: 1_201 });
});

test('one that is connected, and goes on to want none, is given up soon; one that never is, in the end', async () => {
  expect(await wanted({ status: 'connected' })).toEqual({ isWanted: false, looks: 20 });
  expect(await wanted({ status: 'connecting' })).toEqual({ isWanted: false, looks: 2_400 });
});
