import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HubError } from '../../core/errors.ts';
import type { Problem } from '../../core/errors.ts';
import { groupNameInput } from '../group/group-input.ts';
import { serverNameInput } from '../server/server-input.ts';
import { parseSettings } from './parse-settings.ts';

const parse = (document: unknown) => parseSettings(document);

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

test('the era of a server is found out unless the settings say it; other words are refused', () => {
  const era = (value?: unknown) =>
    parse({ mcpServers: { s: { command: 'x', ...(value !== undefined && { era: value }) } } }).settings.servers.get('s')
      ?.era;
  expect([era(), era('auto'), era('session'), era('stateless')]).toEqual([
    undefined,
    undefined,
    'session',
    'stateless',
  ]);
  expect(lines({ mcpServers: { s: { command: 'x', era: 'new' } } })).toEqual([
    expect.stringMatching(/^mcpServers\.s\.era: .*"auto", "session", "stateless".*"new"/),
  ]);
});

test('an empty document gives the defaults', () => {
  const { settings, warnings } = parse({});
  expect(settings).toEqual({
    servers: new Map(),
    groups: [],
    users: [],
    keys: [],
    system: {
      nameSeparator: '-',
      routing: {
        enableGlobalRoute: true,
        enableGroupNameRoute: true,
        enableBearerAuth: undefined,
        openApiAccess: 'open',
        bearerAuthHeaderName: undefined,
      },
      oauthServer: { enabled: true, registration: true },
      listPageSize: 0,
      progressiveDisclosure: undefined,
      storeToolPayload: false,
    },
  });
  expect(warnings).toEqual([]);
});

test('a file of MCPHub is read as it is, without a word', () => {
  const { settings, warnings } = parse({
    mcpServers: {
      'time-server': {
        type: 'stdio',
        command: 'npx',
        args: ['-y', 'time-mcp'],
        env: { TZ: 'UTC' },
        enabled: true,
        owner: 'admin',
      },
      amap: {
        type: 'sse',
        url: 'https://mcp.amap.com/sse?key=${KEY}',
        keepAliveInterval: 60000,
        headers: {},
        visibility: 'public',
      },
      api: {
        type: 'openapi',
        openapi: { url: 'https://petstore/openapi.json', version: '3.1.0', security: { type: 'none' } },
      },
    },
    users: [{ username: 'admin', password: '$2b$10$abcdefghijklmnopqrstuv', isAdmin: true }],
    groups: [
      { id: 'g-1', name: 'dev', servers: ['amap', { name: 'time-server', tools: ['get_time'] }], owner: 'admin' },
    ],
    systemConfig: {
      routing: { enableGlobalRoute: true, skipAuth: false, jsonBodyLimit: '1mb' },
      nameSeparator: '-',
      mcpRouter: { title: 5 },
      toolResultCompression: { enabled: false, minTokens: 2000 },
      auth: { betterAuth: { enabled: false } },
    },
    bearerKeys: [
      {
        id: 'k',
        name: 'n',
        token: 'mcphub_x',
        enabled: true,
        kind: 'system',
        accessType: 'groups',
        allowedGroups: ['g-1'],
      },
    ],
    userConfigs: {},
    oauthClients: [],
    prompts: [{ name: 'greet', template: 'Hello', enabled: false }],
    resources: [],
  });
  expect(warnings).toEqual([]);
  expect([...settings.servers.keys()]).toEqual(['time-server', 'amap', 'api']);
  expect(settings.servers.get('amap')).toMatchObject({
    transport: { type: 'sse', url: 'https://mcp.amap.com/sse?key=${KEY}' },
    keepAliveMs: 60_000,
    visibility: 'public',
    enabled: true,
  });
  expect(settings.groups[0]?.servers).toMatchObject([
    { name: 'amap', tools: 'all', prompts: 'all', resources: 'all' },
    { name: 'time-server', tools: ['get_time'] },
  ]);
  expect(settings.users[0]).toMatchObject({
    username: 'admin',
    role: 'admin',
    passwordHash: '$2b$10$abcdefghijklmnopqrstuv',
  });
  expect(settings.keys[0]?.tokenHash).toBe(createHash('sha256').update('mcphub_x').digest('hex'));
});

test('every problem is named, at its path, whatever else is wrong', () => {
  expect(
    lines({
      mcpServers: {
        github: { command: 'npx', args: ['-y', 'x', 5], enabled: 'true', options: { timeout: -5 } },
        'my.server': { url: 'example.com/mcp' },
        none: {},
        text: 'npx',
      },
      groups: [{ name: 'Dev', servers: [7] }, { name: 'dev' }, {}],
      users: [{ username: 'a', role: 'root' }, { username: 'a' }],
      bearerKeys: [{ accessType: 'some' }],
      systemConfig: { routing: { openApiAccess: 'yes' }, nameSeparator: 'a b' },
    }),
  ).toEqual([
    'systemConfig.routing.openApiAccess: allowed: "open", "authenticated", "off"; found "yes"',
    'systemConfig.nameSeparator: expected 1 to 8 characters without spaces and "/", for example "-" or "__", found "a b"',
    'groups[0].servers[0]: expected object, found number 7',
    'groups[1].name: is the same as groups[0].name; group names must differ by more than their case',
    "groups[2].name: expected the group's name, found nothing",
    'users[0].role: allowed: "admin", "user"; found "root"',
    'users[1].username: is the same as users[0].username; usernames must differ',
    'bearerKeys[0].accessType: allowed: "all", "groups", "servers", "custom"; found "some"',
    'bearerKeys[0].token: a key needs a "token" or a "tokenHash", found nothing',
    'mcpServers.github.args[2]: expected string, found number 5: put it in quotes',
    'mcpServers.github.enabled: expected boolean, found "true": write true without quotes',
    'mcpServers.github.options.timeout: expected a whole number from 1 to 2147483647 milliseconds, found number -5',
    'mcpServers["my.server"].url: expected an address like https://example.com/mcp: it has to begin with http:// or https://',
    'mcpServers.none: needs a "command" (a program to start), a "url" (a remote server) or "openapi" (an API), found none of them',
    'mcpServers.text: expected object, found a string',
  ]);
});

describe('values that may be secrets are never shown', () => {
  test.each([
    { mcpServers: { s: { command: 'x', args: 'hunter2' } } },
    { mcpServers: { s: { command: 'x', env: { K: { v: 'hunter2' } } } } },
    { mcpServers: { s: { url: 'hunter2' } } },
    { mcpServers: { s: { url: 'ftp://me:hunter2@x' } } },
    { mcpServers: { s: { url: 'https://me:hunter2@x:99999/' } } },
    { mcpServers: { s: { url: 'https://x', headers: 'hunter2' } } },
    { mcpServers: { s: { url: 'https://x', oauth: { clientSecret: ['hunter2'] } } } },
    { users: [{ username: 'u', password: 77231 }] },
    { bearerKeys: [{ token: 77231 }] },
    { bearerKeys: [{ tokenHash: 'hunter2' }] },
    { systemConfig: { routing: { bearerAuthKey: 77231 } } },
  ])('%j', (document) => {
    const text = lines(document).join('\n');
    expect(text).not.toBe('');
    expect(text).not.toMatch(/hunter2|77231/);
  });

  test('nor in warnings', () => {
    const text = warnings({
      mcpServers: { s: { command: 'x', env: { K: 77231, P: 'a$HUNTER', Q: '${hunter' }, args: ['$HUNTER2'] } },
      users: [{ username: 'u', password: 'hunter2' }],
    }).join('\n');
    expect(text).toContain('mcpServers.s.env.P: only ${VAR} is expanded');
    expect(text).toContain('users[0].password: is neither');
    expect(text).not.toMatch(/hunter|77231/i);
  });
});

describe('names', () => {
  test.each(['__proto__', 'constructor', 'prototype'])(
    '%s is no name for a server, a tool, an argument, a group or a user',
    (name) => {
      const own = (value: unknown) => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`) as object;
      expect(lines({ mcpServers: own({ command: 'x' }) })).toEqual([
        `mcpServers.${name}: this name is reserved; give the server another`,
      ]);
      expect(lines({ mcpServers: { s: { command: 'x', tools: own({}) } } })[0]).toContain(
        `mcpServers.s.tools.${name}: `,
      );
      const s = { command: 'x', tools: { t: { arguments: own({}) } } };
      expect(lines({ mcpServers: { s } })[0]).toContain(`.arguments.${name}: no argument can have this name`);
      const servers = [{ name: 's', overrides: own({}) }];
      expect(lines({ groups: [{ name: 'g', servers }] })[0]).toContain(`.overrides.${name}: no tool can have`);
      expect(lines({ groups: [{ name }] })[0]).toContain('groups[0].name: this name is reserved');
      expect(lines({ groups: [{ name: 'g', servers: [name] }] })[0]).toContain('groups[0].servers[0].name');
      expect(lines({ users: [{ username: name }] })[0]).toContain('users[0].username: this name is reserved');
    },
  );

  test('a __proto__ in an entry gives it nothing', () => {
    const document: unknown = JSON.parse(
      '{"mcpServers":{"s":{"url":"https://x","__proto__":{"command":"evil","type":"stdio"}}}}',
    );
    expect(parse(document).settings.servers.get('s')?.transport.type).toBe('auto');
  });

  test('a server or group of the file that new ones could not be called is kept, with a warning', () => {
    const { settings, warnings } = parse({ mcpServers: { 'my server': { command: 'x' } }, groups: [{ name: 'a/b' }] });
    expect(settings.servers.has('my server')).toBe(true);
    expect(settings.groups[0]?.name).toBe('a/b');
    expect(warnings.map(({ path }) => path)).toEqual(['mcpServers["my server"]', 'groups[0].name']);
  });

  // What the API lets be made, the next start must not find fault with, and the other way round.
  test.each(['a', 'dev team', 'x.y-z_1', 'größe', '研发'])(
    'group %s may be made, and is read without a word',
    (name) => {
      expect(groupNameInput.parse(name)).toBe(name);
      expect(parse({ groups: [{ name }] }).warnings).toEqual([]);
    },
  );
  test.each([' a', 'a ', '$smart', 'a/b', 'x'.repeat(65), 'a\nb', '..'])(
    'group %j may not be made, and is noticed',
    (name) => {
      expect(groupNameInput.safeParse(name).data).not.toBe(name);
      expect(parse({ groups: [{ name }] }).warnings.map(({ path }) => path)).toEqual(['groups[0].name']);
    },
  );
  test.each(['a b', '../x', 'a..b', '.a', 'x'.repeat(129), 'é'])(
    'server %j may not be made, and is noticed',
    (name) => {
      expect(serverNameInput.safeParse(name).success).toBe(false);
      expect(parse({ mcpServers: { [name]: { command: 'x' } } }).warnings).toHaveLength(1);
    },
  );
});

test('servers under a name that other programs use are not silently passed over', () => {
  expect(warnings({ servers: { a: { command: 'x' } } })).toEqual([
    'servers: is not read; servers are listed in "mcpServers"',
  ]);
});

test('null is absent everywhere, and stays where it means something', () => {
  const document = {
    mcpServers: {
      gone: null,
      s: { openapi: { schema: { enum: [null], default: null } }, tools: null, owner: null },
      schema: { command: 'x', cwd: null },
    },
    groups: null,
    users: null,
    systemConfig: { routing: null },
  };
  const { settings } = parse(document);
  expect([...settings.servers.keys()]).toEqual(['s', 'schema']);
  expect(settings.servers.get('s')?.transport).toMatchObject({ openapi: { schema: { enum: [null], default: null } } });
});

test('a hundred thousand problems are all told, and the text stays readable', () => {
  const document = { groups: Array.from({ length: 100_000 }, () => 1) };
  expect(problems(document)).toHaveLength(100_000);
  expect(() => parse(document)).toThrow(/^Settings not accepted, 100000 problems:\n(.*\n){100}… and 99900 more$/);
});

test('the document is never touched', () => {
  const document = {
    mcpServers: { s: { command: 'x', env: { A: 1 }, x: { y: null } } },
    groups: [{ name: 'g' }],
    unknown: [1],
  };
  const before = JSON.stringify(document);
  parse(document);
  expect(JSON.stringify(document)).toBe(before);
});

/** Members that mean something, so that random documents reach the rules about them. */
const words =
  'mcpServers groups users bearerKeys systemConfig command url args env headers type name servers tools openapi schema options timeout routing username password token alias id __proto__ constructor'.split(
    ' ',
  );
const key = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...words) }, fc.string());
const scalar = fc.oneof(
  fc.constantFrom(null, true, 'all', 'stdio', 'http', 'https://x', '${A', '$B', '', 0, -1),
  fc.string(),
  fc.integer(),
  fc.double(),
);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    scalar,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('json')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  ),
}));
const document = fc.oneof(
  json,
  fc.record(
    {
      mcpServers: fc.dictionary(
        fc.string(),
        fc.record(
          { type: json, command: json, url: json, args: json, env: json, tools: json, options: json },
          { requiredKeys: [] },
        ),
      ),
      groups: fc.array(fc.record({ id: json, name: json, servers: fc.array(json) }, { requiredKeys: [] })),
      users: fc.array(fc.record({ username: json, password: json, role: json, isAdmin: json }, { requiredKeys: [] })),
      bearerKeys: fc.array(
        fc.record({ id: json, token: json, tokenHash: json, owner: json, kind: json }, { requiredKeys: [] }),
      ),
      systemConfig: json,
    },
    { requiredKeys: [] },
  ),
);

describe('for any JSON, settings or a HubError with paths', () => {
  test('from random documents', () => {
    fc.assert(
      fc.property(document, (value) => {
        const given: unknown = JSON.parse(JSON.stringify(value) ?? 'null');
        try {
          const { settings } = parse(given);
          expect(settings.servers).toBeInstanceOf(Map);
        } catch (error) {
          if (!(error instanceof HubError)) throw error;
          expect(error.code).toBe('invalid_input');
          expect(error.problems.length).toBeGreaterThan(0);
          expect(new Set(error.problems.map(({ path }) => path)).size).toBe(error.problems.length);
        }
      }),
      { numRuns: 300 },
    );
  });

  test.each([undefined, null, [], 'x', 5])('%j', (value) => {
    expect(problems(value)).toEqual([
      { path: '(the whole document)', message: expect.stringContaining('expected object') as string },
    ]);
  });

  test('too deep, or around in a circle', () => {
    let deep: unknown = {};
    for (let i = 0; i < 100_000; i++) deep = { deep };
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(lines(deep)[0]).toContain('nested too deeply');
    expect(lines(circle)[0]).toContain('nested too deeply');
  });
});
