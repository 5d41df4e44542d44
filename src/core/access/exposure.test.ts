import { expect, test } from 'vitest';
import { server, settings as snapshot, user } from '../../../test/kit/snapshots.ts';
import { coreLimits } from '../limits.ts';
import { exposure } from './exposure.ts';
import type { ServerSettings } from '../settings/server.ts';
import type { Settings } from '../settings/settings.ts';
import type { SystemSettings } from '../settings/system.ts';

function settings(
  servers: Record<string, Partial<ServerSettings>>,
  routing: Partial<SystemSettings['routing']> = {},
): Settings {
  const plain = snapshot({
    servers: Object.entries(servers).map(([name, more]) => server(name, more)),
    users: [user('bob')],
  });
  return { ...plain, system: { ...plain.system, routing: { ...plain.system.routing, ...routing } } };
}

const open = { visibility: 'public' } as const;

test('names each server that is public in so many words, no other, and how to close it', () => {
  const lines = exposure(
    settings({
      a: open,
      b: {},
      c: { visibility: 'private' },
      d: { visibility: 'group' },
      e: { ...open, enabled: false },
      f: { ...open, owner: 'bob' },
      g: { ...open, owner: 'bob', publishedBy: 'admin' },
    }),
  );
  expect(lines).toEqual([
    'call the tools of a (/api/tools/a/…)',
    'call the tools of g (/api/tools/g/…)',
    'to close this, set systemConfig.routing "openApiAccess": "authenticated"; or keep a server to some users with "visibility": "private"',
  ]);
});

test('MCP counts only where it was opened on purpose, and then for every server that is not kept to some', () => {
  const mcp = exposure(settings({ a: {} }, { enableBearerAuth: false }));
  expect(mcp[0]).toBe('use everything of a over MCP (/mcp, /sse)');
  expect(mcp[1]).toContain('"enableBearerAuth": true');
  expect(exposure(settings({ a: open }, { enableBearerAuth: false })).at(-1)).toMatch(
    /openApiAccess.* and .*enableBearerAuth/,
  );
});

test('says nothing when there is nothing to say', () => {
  expect(exposure(settings({ a: {} }))).toEqual([]);
  expect(exposure(settings({ a: open }, { openApiAccess: 'authenticated' }))).toEqual([]);
  expect(exposure(settings({ a: { visibility: 'private' } }, { enableBearerAuth: false }))).toEqual([]);
});

test('a hundred servers are not a hundred lines', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`s${i}`, open]));
  const lines = exposure(settings(many));
  expect(lines).toHaveLength(coreLimits.exposedServers + 2);
  expect(lines.at(-2)).toBe(`call the tools of ${100 - coreLimits.exposedServers} more servers`);
});
