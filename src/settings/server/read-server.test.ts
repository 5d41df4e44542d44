import { describe, expect, test } from 'vitest';
import { HubError } from '../../core/errors.ts';
import type { Problem } from '../../core/errors.ts';
import { parseSettings } from '../document/parse-settings.ts';

const parse = (document: unknown) => parseSettings(document);
const server = (config: unknown, rest: object = {}) =>
  parse({ mcpServers: { s: config }, ...rest }).settings.servers.get('s');

function problems(document: unknown): Problem[] {
  try {
    const found = [...parse(document).faults.values()].flat();
    if (found.length > 0) return found;
  } catch (error) {
    if (error instanceof HubError && error.code === 'invalid_input') return [...error.problems];
    throw error;
  }
  throw new Error('accepted');
}
const lines = (document: unknown) => problems(document).map(({ path, message }) => `${path}: ${message}`);
const warnings = (document: unknown) => parse(document).warnings.map(({ path, message }) => `${path}: ${message}`);

test('a word that is none of the allowed ones is shown beside them', () => {
  const config = { command: 'x', pins: { mode: 'strict' }, sandbox: { network: 'open' } };
  expect(lines({ mcpServers: { s: config } })).toEqual([
    'mcpServers.s.sandbox.network: allowed: "none", "host"; found "open"',
    'mcpServers.s.pins.mode: allowed: "off", "warn", "hold"; found "strict"',
  ]);
});

describe('how a server is reached', () => {
  test.each([
    [{ command: 'x' }, { type: 'stdio', command: 'x', args: [], env: {}, cwd: undefined }],
    [{ type: 'local', command: 'x' }, { type: 'stdio' }],
    [{ url: 'https://x' }, { type: 'auto', url: 'https://x' }],
    [{ serverUrl: 'https://x' }, { type: 'auto' }],
    [{ httpUrl: 'https://x' }, { type: 'streamable-http' }],
    [{ type: 'http', url: 'https://x' }, { type: 'streamable-http' }],
    [{ type: 'streamableHttp', url: 'https://x' }, { type: 'streamable-http' }],
    [{ type: 'streamable_http', url: 'https://x' }, { type: 'streamable-http' }],
    [{ type: 'Streamable-HTTP', url: 'https://x' }, { type: 'streamable-http' }],
    [{ transport: 'sse', url: 'https://x' }, { type: 'sse' }],
    [{ url: '${BASE}/mcp' }, { type: 'auto' }],
    [{ url: 'https://${HOST}:${PORT}/mcp' }, { type: 'auto' }],
    [{ openapi: { schema: {} } }, { type: 'openapi', openapi: { schema: {} } }],
    [{ command: 'x', url: 'https://x' }, { type: 'stdio' }],
    [{ type: 'sse', command: 'x', url: 'https://x' }, { type: 'sse' }],
    [
      { command: 'x', url: null, type: null, env: { A: null, B: 'b' } },
      { type: 'stdio', env: { B: 'b' } },
    ],
    [{ command: 'x', env: { N: 5, T: true } }, { env: { N: '5', T: 'true' } }],
  ])('%j', (config, expected) => {
    expect(server(config)?.transport).toMatchObject(expected);
  });

  test.each([
    [{ type: 'stdio' }, 'mcpServers.s.command: expected the program to start, found nothing'],
    [{ type: 'stdio', url: 'https://x' }, 'To use the url instead, remove "type".'],
    [{ command: ' ' }, 'mcpServers.s.command: expected the program'],
    [
      { type: 'sse', command: 'x' },
      'mcpServers.s.url: expected an address like https://example.com/mcp, found nothing',
    ],
    [
      { type: 'websocket', url: 'ws://x' },
      'mcpServers.s.type: allowed: "stdio", "sse", "streamable-http", "openapi"; found "websocket"',
    ],
    [{ type: 'constructor', url: 'http://x' }, 'mcpServers.s.type: allowed'],
    [{ url: 'ws://x' }, 'found one that begins with ws://'],
    [{ url: 'https://' }, 'found one without a host'],
    [{ url: 'https:///mcp' }, 'found one without a host'],
    [{ url: 'https://exa mple.com' }, 'mcpServers.s.url: expected an address'],
    [{ type: 'openapi' }, 'mcpServers.s.openapi: needs a "url"'],
    [{ openapi: { url: 'petstore.json' } }, 'mcpServers.s.openapi.url: expected an address'],
    [{ command: ['npx'] }, 'mcpServers.s.command: expected string, found an array'],
    [
      { command: 'x', args: '-y' },
      'mcpServers.s.args: expected array, found a string: write ["…"], one string per item',
    ],
    [{ command: 'x', env: ['A=b'] }, 'mcpServers.s.env: expected object, found an array'],
    [{ command: 'x', env: { 'A=B': 'c' } }, 'mcpServers.s.env["A=B"]: a variable\'s name'],
    [
      { command: 'x', options: { maxBufferSize: 1.5 } },
      'mcpServers.s.options.maxBufferSize: expected a whole number from 1 to',
    ],
    [{ command: 'x', options: { timeout: 1e12 } }, 'mcpServers.s.options.timeout: expected a whole number'],
    [{ command: 'x', tools: ['a'] }, 'mcpServers.s.tools: expected object'],
    [{ command: 'x', tools: { a: { enabled: 'no' } } }, 'mcpServers.s.tools.a.enabled: expected boolean, found "no"'],
  ])('%j is refused with the fix', (config, expected) => {
    const found = lines({ mcpServers: { s: config } });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  test.each([
    [{ command: 'npx -y thing' }, 'mcpServers.s.command: contains spaces'],
    [{ command: 'x', url: 'https://x' }, 'mcpServers.s: has a "command" and a url: the command is used'],
    [{ url: 'https://x', command: 'x', type: 'http' }, 'mcpServers.s.command: has no effect'],
    [{ url: 'https://x', headers: { 'A B': 'c' } }, 'mcpServers.s.headers["A B"]: is no name a header can have'],
    [{ url: 'https://x', headers: { A: '1', a: '2' } }, 'mcpServers.s.headers.a: is there twice'],
    [
      { openapi: { url: 'https://x', cookieSession: true }, perSessionClient: false },
      'mcpServers.s.perSessionClient: has no effect beside "openapi.cookieSession"',
    ],
    [{ command: 'x', headers: {} }, 'mcpServers.s.headers: has no effect'],
    [{ command: 'x', timeout: 60 }, 'mcpServers.s.timeout: has no effect; the member is called options.timeout'],
    [
      { command: 'x', options: { timeout: 60 } },
      'mcpServers.s.options.timeout: is in milliseconds, found number 60: 60000 would be 60 s',
    ],
    [{ command: 'x', enabled: true, disabled: true }, 'mcpServers.s.disabled: contradicts "enabled": true, which wins'],
    [{ command: 'x', args: ['${env:KEY}'] }, 'mcpServers.s.args[0]: only ${VAR}'],
    [{ command: 'x', env: { N: 5 } }, 'mcpServers.s.env.N: is a number and used by its text; put it in quotes'],
  ])('%j is accepted with a warning', (config, expected) => {
    expect(warnings({ mcpServers: { s: config } }).join('\n')).toContain(expected);
  });
});

test('disabled of other programs is enabled of ours', () => {
  expect(server({ command: 'x', disabled: true })?.enabled).toBe(false);
  expect(server({ command: 'x', disabled: true, enabled: true })?.enabled).toBe(true);
  expect(server({ command: 'x', enabled: false })?.enabled).toBe(false);
});

test('items are keyed by their own names; the prefixed form counts too, and the bare one wins', () => {
  const tools = {
    's-get': { enabled: false, description: 'prefixed' },
    get: { enabled: true },
    's-post': { enabled: false },
    put: false,
    's-': { enabled: false },
  };
  const map = server({ command: 'x', tools })?.tools;
  expect(map?.get('get')).toEqual({ enabled: true, description: undefined });
  expect(map?.get('post')).toEqual({ enabled: false, description: undefined });
  expect(map?.get('put')?.enabled).toBe(false);
  expect(map?.has('')).toBe(false);
  const other = server(
    { command: 'x', tools: { s__get: { enabled: false } } },
    { systemConfig: { nameSeparator: '__' } },
  );
  expect(other?.tools.get('get')?.enabled).toBe(false);
});

test('a path with spaces, a price and a sum are nothing to warn about', () => {
  expect(warnings({ mcpServers: { s: { command: '/opt/my tool/run', args: ['$100', 'a$b', '${OK:-$5}'] } } })).toEqual(
    [],
  );
});
