import { expect, test } from 'vitest';
import { exposure } from './exposure.ts';
import { limits } from '../limits.ts';
import type { ServerSettings, Settings, SystemSettings } from '../settings/types.ts';

function settings(
  servers: Record<string, Partial<ServerSettings>>,
  routing: Partial<SystemSettings['routing']> = {},
): Settings {
  const entries = Object.entries(servers).map(([name, more]): [string, ServerSettings] => [
    name,
    { name, enabled: true, visibility: undefined, ...more } as ServerSettings,
  ]);
  const system = {
    routing: { enableGlobalRoute: true, enableBearerAuth: undefined, openApiAccess: 'open', ...routing },
  };
  return { servers: new Map(entries), groups: [], users: [], keys: [], system } as unknown as Settings;
}

test('names each server that anonymous callers reach, no other, and how to close it', () => {
  const lines = exposure(
    settings({
      a: {},
      b: { visibility: 'public' },
      c: { visibility: 'private' },
      d: { visibility: 'group' },
      e: { enabled: false },
    }),
  );
  expect(lines).toEqual([
    'call the tools of a (/api/tools/a/…)',
    'call the tools of b (/api/tools/b/…)',
    'to close this, set systemConfig.routing "openApiAccess": "authenticated"; or keep a server to some users with "visibility": "private"',
  ]);
});

test('MCP counts only where it was opened on purpose', () => {
  const open = exposure(settings({ a: {} }, { enableBearerAuth: false, openApiAccess: 'off' }));
  expect(open[0]).toBe('use everything of a over MCP (/mcp, /sse)');
  expect(open[1]).toContain('"enableBearerAuth": true');
  expect(exposure(settings({ a: {} }, { enableBearerAuth: false })).at(-1)).toMatch(
    /openApiAccess.* and .*enableBearerAuth/,
  );
});

test('says nothing when there is nothing to say', () => {
  expect(exposure(settings({ a: {} }, { openApiAccess: 'authenticated' }))).toEqual([]);
  expect(exposure(settings({ a: { visibility: 'private' } }, { enableBearerAuth: false }))).toEqual([]);
});

test('a hundred servers are not a hundred lines', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`s${i}`, {}]));
  const lines = exposure(settings(many));
  expect(lines).toHaveLength(limits.exposedServers + 2);
  expect(lines.at(-2)).toBe(`call the tools of ${100 - limits.exposedServers} more servers`);
});
