import { expect, test } from 'vitest';
import { catalogue, entry, group, server, settings } from '../../test/kit/snapshots.ts';
import type { CacheHints } from '../core/catalogue.ts';
import { anonymous, type Principal } from '../core/access/principal.ts';
import { view as viewOf } from '../core/access/view.ts';
import { createHints } from './hints.ts';
import { mcpLimits } from './limits.ts';

type Visibility = 'public' | 'private' | 'group' | undefined;

interface World {
  hints: (CacheHints | undefined)[];
  visibility?: Visibility;
  owner?: string;
  credential?: boolean;
}

function hintsFor(options: World) {
  const names = options.hints.map((_, i) => `s${i}`);
  const { visibility, owner = 'admin' } = options;
  const all = settings({
    servers: names.map((name) => server(name, { visibility, owner })),
    groups: [
      group(
        'g',
        names.map((name) => entry(name)),
      ),
    ],
  });
  const hints = createHints({
    settings: () => all,
    hints: (server) => options.hints[names.indexOf(server)],
    needsCredential: () => options.credential ?? false,
  });
  const view = { ...viewOf(all, catalogue(), anonymous, { kind: 'all' }), servers: names };
  const of = (principal: Principal = anonymous): string =>
    hints.of('tools', view, principal, { kind: 'named', name: 'g' });
  return { of, ofHub: () => hints.ofHub(anonymous, { kind: 'named', name: 'g' }) };
}

const open = { tools: { ttlMs: 5_000, scope: 'public' } } as const;

test('a list may be kept for as long as the least patient of its servers says, and never longer than the hub vouches', () => {
  expect(hintsFor({ hints: [open, { tools: { ttlMs: 3_000, scope: 'public' } }] }).of()).toContain('"ttlMs":3000');
  expect(hintsFor({ hints: [{ tools: { ttlMs: 9e9, scope: 'public' } }] }).of()).toContain(
    `"ttlMs":${mcpLimits.listTtlMs},`,
  );
  for (const silent of [[open, undefined], [open, { prompts: open.tools }], []]) {
    expect(hintsFor({ hints: silent }).of()).toBe('"ttlMs":0,"cacheScope":"private"');
  }
});

test('a list is public only where it is the same for all who could ask', () => {
  expect(hintsFor({ hints: [open, open] }).of()).toBe('"ttlMs":5000,"cacheScope":"public"');
  const limited = {
    'one list is private': hintsFor({ hints: [open, { tools: { ttlMs: 5_000, scope: 'private' } }] }).of(),
    'a credential is needed': hintsFor({ hints: [open], credential: true }).of(),
    'a server is private': hintsFor({ hints: [open], visibility: 'private' }).of(),
    'a server is for a group': hintsFor({ hints: [open], visibility: 'group' }).of(),
    'a server is a user’s': hintsFor({ hints: [open], owner: 'ann' }).of(),
    'a user asks by name': hintsFor({ hints: [open] }).of({ kind: 'user', username: 'ann' }),
  };
  expect(Object.entries(limited).filter(([, text]) => !text.includes('"cacheScope":"private"'))).toEqual([]);
  expect(hintsFor({ hints: [open] }).ofHub()).toBe('"ttlMs":0,"cacheScope":"public"');
});
