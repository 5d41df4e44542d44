import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { HubError } from '../core/errors.ts';
import { coreLimits } from '../core/limits.ts';
import { readEnv } from './env.ts';
import { codePoints } from '../../test/kit/code-points.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'env-'));
  atEnd(() => rmSync(folder, { recursive: true }));
});

const read = (source: Record<string, string | undefined>) => readEnv(source, folder);
function refusal(source: Record<string, string>): string {
  try {
    read(source);
  } catch (error) {
    if (error instanceof HubError && error.code === 'misconfigured') return error.message;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(source)}`);
}

test('an empty environment gives the defaults of the contract', () => {
  expect(read({})).toMatchObject({
    host: '127.0.0.1',
    port: 3000,
    basePath: '',
    settingsPath: './mcp_settings.json',
    dataDir: './data',
    database: { kind: 'embedded' },
    adminPassword: undefined,
    jwtSecret: undefined,
    requestTimeoutMs: 60_000,
    connectTimeoutMs: 30_000,
    logLevel: 'info',
    logFormat: undefined,
    readonly: false,
    disableWeb: false,
    trustProxy: { kind: 'auto' },
    allowedOrigins: [],
    allowedHosts: [],
    smart: { enabled: undefined, progressiveDisclosure: undefined },
  });
});

test('an empty or blank variable is a variable that is not set', () => {
  expect(read({ PORT: '', HOST: ' ', DB_URL: '', JWT_SECRET: '', READONLY: '' })).toEqual({
    ...read({}),
    variables: { PORT: '', HOST: ' ', READONLY: '' },
  });
});

test('names of MCPHub work, and ours win over them', () => {
  expect(read({ MCPHUB_SETTING_PATH: '/a', DEFAULT_REQUEST_TIMEOUT: '5', INIT_TIMEOUT: '6' })).toMatchObject({
    settingsPath: '/a',
    requestTimeoutMs: 5,
    connectTimeoutMs: 6,
  });
  expect(read({ INIT_TIMEOUT: '6', CONNECT_TIMEOUT_MS: '7' }).connectTimeoutMs).toBe(7);
  expect(refusal({ INIT_TIMEOUT: 'soon' })).toMatch(/^INIT_TIMEOUT: found "soon", allowed: a whole number from 1 to/);
});

test.each([
  ['/hub/', '/hub'],
  ['hub', '/hub'],
  ['/', ''],
  ['//a//b/', '/a/b'],
  ['/hub/health', '/hub/health'],
  ['/oauth2', '/oauth2'],
  ['/metrics/x', '/metrics/x'],
  ['/health/hub', '/health/hub'],
  ['/health/live/x', '/health/live/x'],
])('BASE_PATH %s is %s', (given, expected) => {
  expect(read({ BASE_PATH: given }).basePath).toBe(expected);
});

test.each([
  '/health',
  'health//live',
  '/health/ready',
  'metrics/',
  '/oauth',
  '//oauth/x',
  '/.well-known',
  '/.well-known/x',
])('BASE_PATH %s, a path that the hub answers itself, is refused', (given) => {
  expect(refusal({ BASE_PATH: given })).toMatch(
    /^BASE_PATH: found ".*", allowed: .*, not \/health, .* or \/metrics, nor \/oauth, \/\.well-known or a path below /,
  );
});

test('an INSTALL_BASE_URL that ends with the BASE_PATH is refused: addresses would have it twice', () => {
  for (const INSTALL_BASE_URL of ['https://hub.example/hub', 'https://hub.example/tools/hub'])
    expect(refusal({ BASE_PATH: '/hub', INSTALL_BASE_URL })).toBe(
      `INSTALL_BASE_URL: found "${INSTALL_BASE_URL}", which ends with the BASE_PATH "/hub" that the hub adds to it. Leave "/hub" out of INSTALL_BASE_URL`,
    );
  for (const INSTALL_BASE_URL of ['https://hub.example/', 'https://hub.example/my-hub', 'https://hub.example/hub/x'])
    expect(read({ BASE_PATH: '/hub', INSTALL_BASE_URL }).basePath).toBe('/hub');
  expect(read({ INSTALL_BASE_URL: 'https://hub.example/hub' }).basePath).toBe('');
});

test.each([
  ['off', { kind: 'off' }],
  ['OFF', { kind: 'off' }],
  ['postgresql://u:p@h/db', { kind: 'postgres', url: 'postgresql://u:p@h/db' }],
  ['postgres:///db?host=/run/pg', { kind: 'postgres', url: 'postgres:///db?host=/run/pg' }],
])('DB_URL %s', (given, expected) => {
  expect(read({ DB_URL: given }).database).toEqual(expected);
});

test.each([
  ['true', { kind: 'all' }],
  ['0', { kind: 'none' }],
  ['2', { kind: 'hops', hops: 2 }],
  ['loopback, 10.0.0.0/8,fd00::/8', { kind: 'addresses', addresses: ['loopback', '10.0.0.0/8', 'fd00::/8'] }],
])('TRUST_PROXY %s', (given, expected) => {
  expect(read({ TRUST_PROXY: given }).trustProxy).toEqual(expected);
});

test('lists are split at commas and brought into the form that requests carry', () => {
  const env = read({
    ALLOWED_ORIGINS: ' https://App.Example.com/ ,http://x:80,',
    ALLOWED_HOSTS: 'Hub.example.com, h:3000, ::1',
  });
  expect(env.allowedOrigins).toEqual(['https://app.example.com', 'http://x']);
  expect(env.allowedHosts).toEqual(['hub.example.com', 'h:3000', '[::1]']);
});

describe('a malformed variable stops the start with its name, the value and what is allowed', () => {
  test.each([
    ['PORT', '70000', '"70000"', '0 to 65535'],
    ['PORT', '80.5', '"80.5"', 'whole number'],
    ['PORT', '3e3', '"3e3"', 'whole number'],
    ['HOST', 'http://localhost', '"http://localhost"', 'without scheme'],
    ['HOST', 'localhost:3000', '"localhost:3000"', 'without scheme or port'],
    ['HOST', '300.1.1.1', '"300.1.1.1"', 'host name'],
    ['BASE_PATH', '/a/../b', '"/a/../b"', 'path'],
    ['BASE_PATH', '/a b', '"/a b"', 'path'],
    ['LOG_LEVEL', 'loud', '"loud"', 'debug, info, warn or error'],
    ['LOG_FORMAT', 'xml', '"xml"', 'pretty or json'],
    ['READONLY', 'maybe', '"maybe"', 'true'],
    ['READONLY', 'constructor', '"constructor"', 'true'],
    ['REQUEST_TIMEOUT_MS', '0', '"0"', 'from 1 to 2147483647'],
    ['REQUEST_TIMEOUT_MS', '2147483648', '"2147483648"', 'from 1 to 2147483647'],
    ['REQUEST_TIMEOUT_MS', '60s', '"60s"', 'milliseconds'],
    ['TRUST_PROXY', '10.0.0.0/33', '"10.0.0.0/33"', 'hops'],
    ['ALLOWED_ORIGINS', '*', '"*"', 'every web page'],
    ['ALLOWED_ORIGINS', 'https://a.example/path', '"https://a.example/path"', 'origins like'],
    ['ALLOWED_HOSTS', 'https://a.example', '"https://a.example"', 'host names like'],
    ['OPENAI_API_BASE_URL', 'ftp://x', '"ftp://x"', 'http://'],
    ['SMART_ROUTING_EMBEDDING_PROVIDER', 'llama', '"llama"', 'openai, azure_openai or builtin'],
  ])('%s=%s', (name, value, found, allowed) => {
    const message = refusal({ [name]: value });
    expect(message.split('\n')).toHaveLength(1);
    expect(message.startsWith(`${name}: found ${found}, allowed: `)).toBe(true);
    expect(message).toContain(allowed);
  });

  test('several at once: one line each', () => {
    expect(refusal({ PORT: 'x', LOG_LEVEL: 'y', JWT_SECRET: 'z' }).split('\n')).toHaveLength(3);
  });

  test('a value with line breaks stays on its line, and a long one is cut', () => {
    const lines = refusal({ PORT: `1\nHOST: ok${'9'.repeat(5000)}` }).split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.length).toBeLessThan(250);
  });
});

test('no secret is ever shown', () => {
  const secret = 'hunter2-hunter2';
  const bad = {
    JWT_SECRET: secret,
    DB_URL: `mysql://root:${secret}@h/db`,
    OPENAI_API_BASE_URL: `ftp://me:${secret}@h`,
  };
  expect(refusal(bad)).not.toContain('hunter2');
  expect(refusal({ ADMIN_PASSWORD: 'abc\n' })).toBe(
    'ADMIN_PASSWORD: found 4 characters (not shown), allowed: 6 to 1024 characters',
  );
});

test('a password that no login would take is refused at the start, a line break at its end apart', () => {
  const longest = 'x'.repeat(coreLimits.passwordChars);
  expect(read({ ADMIN_PASSWORD: `${longest}\r\n` }).adminPassword).toBe(longest);
  expect(refusal({ ADMIN_PASSWORD: `${longest}x` })).toBe(
    'ADMIN_PASSWORD: found 1025 characters (not shown), allowed: 6 to 1024 characters',
  );
});

test("the hub's own secrets are not among the variables that servers may use", () => {
  const env = read({ JWT_SECRET: 'x'.repeat(32), ADMIN_PASSWORD: 'password', DB_URL: 'off', TOKEN: 't' });
  expect(env.variables).toEqual({ TOKEN: 't' });
  expect(env).toMatchObject({ jwtSecret: 'x'.repeat(32), adminPassword: 'password' });
});

describe('.env', () => {
  test('fills in what the environment does not say, also for servers', () => {
    writeFileSync(join(folder, '.env'), 'PORT=4000\nLOG_LEVEL="debug" # why\nTOKEN=a=b\n');
    expect(read({ PORT: '5000' })).toMatchObject({ port: 5000, logLevel: 'debug', variables: { TOKEN: 'a=b' } });
  });

  test('an empty variable of the environment switches one of the file off', () => {
    writeFileSync(join(folder, '.env'), 'PORT=4000\n');
    expect(read({ PORT: '' }).port).toBe(3000);
  });

  test('a folder of that name is not ours', () => {
    mkdirSync(join(folder, '.env'));
    expect(read({}).port).toBe(3000);
  });
});

test('whatever the variables hold, they are read or refused, each on its line', () => {
  const names = [
    'PORT',
    'HOST',
    'DB_URL',
    'TRUST_PROXY',
    'ALLOWED_HOSTS',
    'ALLOWED_ORIGINS',
    'BASE_PATH',
    'JWT_SECRET',
  ];
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom(...names),
        fc.oneof(fc.string({ unit: codePoints }), fc.webUrl(), fc.ipV6(), fc.integer().map(String)),
      ),
      (source) => {
        try {
          const env = read(source);
          expect(env.basePath).toMatch(/^(\/[^/]+)*$/);
          expect(env.port).toBeLessThanOrEqual(65_535);
        } catch (error) {
          if (!(error instanceof HubError)) throw error;
          expect(error.message.split('\n')).toHaveLength(error.problems.length);
        }
      },
    ),
    { numRuns: 50 },
  );
});

describe('a secret in a file', () => {
  const names = ['JWT_SECRET', 'DB_URL', 'ADMIN_PASSWORD', 'OPENAI_API_KEY', 'AZURE_OPENAI_API_KEY'];
  const secret = 'postgres://hub:0123456789abcdef0123456789@db/hub';
  const file = (text: string | Buffer, name = 'secret') => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const valuesOf = ({ jwtSecret, database, adminPassword, smart }: ReturnType<typeof read>) => [
    jwtSecret,
    database,
    adminPassword,
    smart.openai.apiKey,
    smart.azure.apiKey,
  ];

  test.each(names)('%s is read from %s_FILE, also by a relative path, a link and without its line break', (name) => {
    const expected = valuesOf(read({ [name]: secret }));
    expect(valuesOf(read({}))).not.toEqual(expected);
    const path = file(secret);
    symlinkSync(path, join(folder, 'link'));
    for (const given of [path, 'secret', './secret', join(folder, 'link')])
      expect(valuesOf(read({ [`${name}_FILE`]: given }))).toEqual(expected);
    for (const end of ['\n', '\r\n']) {
      file(secret + end);
      expect(valuesOf(read({ [`${name}_FILE`]: path, [name]: '' }))).toEqual(expected);
    }
    file(`${name}_FILE=secret\n`, '.env');
    expect(valuesOf(read({}))).toEqual(expected);
    expect(valuesOf(read({ [`${name}_FILE`]: ' ' }))).toEqual(valuesOf(read({ [`${name}_FILE`]: '' })));
  });

  test('only one line break is taken off: the rest may be meant', () => {
    expect(read({ OPENAI_API_KEY_FILE: file('a\n\n') }).variables['OPENAI_API_KEY']).toBe('a\n');
  });

  test('one in a file and in the environment is refused, neither is shown', () => {
    const message = refusal({ JWT_SECRET: secret, JWT_SECRET_FILE: file(secret) });
    expect(message).toBe('JWT_SECRET_FILE: found JWT_SECRET set too; only one of them can count, remove the other');
  });

  test('a file that cannot be used is refused with its variable and path, and never with what is in it', () => {
    mkdirSync(join(folder, 'folder'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    symlinkSync('/proc/self/environ', join(folder, 'environ'));
    symlinkSync('round', join(folder, 'round'));
    const cases: [string, string][] = [
      [join(folder, 'missing'), 'does not exist (ENOENT)'],
      [join(folder, 'missing', 'one'), 'does not exist (ENOENT)'],
      [join(file('x', 'plain'), 'below'), 'does not exist (ENOTDIR)'],
      [join(folder, 'folder'), 'is a folder'],
      [join(folder, 'pipe'), 'is not a regular file'],
      [join(folder, 'round'), 'is a link that leads nowhere (ELOOP)'],
      [file('', 'empty'), 'is empty'],
      [file(' \n', 'blank'), 'is empty'],
      [file('secret-'.repeat(10_000), 'large'), 'has more than 64 KB; a secret is short'],
      [file(Buffer.from([0xff, 0xfe, 0x73]), 'binary'), 'is not text in UTF-8'],
      ['/proc/self/environ', 'is a place where the system tells of itself, not a file'],
      [join(folder, 'environ'), 'is a place where the system tells of itself, not a file'],
      ['/dev/zero', 'is a place where the system tells of itself, not a file'],
      ['/sys/kernel/notes', 'is a place where the system tells of itself, not a file'],
    ];
    for (const [path, why] of cases)
      expect(refusal({ JWT_SECRET_FILE: path })).toBe(
        `JWT_SECRET_FILE: ${path} ${why}. Name a readable file that holds JWT_SECRET alone`,
      );
  });

  test('a text that is refused is told by the name of its file variable, beside everything else that is wrong', () => {
    const message = refusal({ JWT_SECRET_FILE: file('too short'), ADMIN_PASSWORD_FILE: '/nowhere', PORT: 'x' });
    expect(message.split('\n').toSorted()).toEqual([
      expect.stringMatching(/^ADMIN_PASSWORD_FILE: \/nowhere does not exist/),
      'JWT_SECRET_FILE: found 9 characters (not shown), allowed: at least 32 bytes, for example the output of `openssl rand -hex 32`',
      expect.stringMatching(/^PORT: /),
    ]);
  });
});
