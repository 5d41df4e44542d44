import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HubError } from '../core/errors.ts';
import { parseSettings } from '../settings/document/parse-settings.ts';
import { expandServer } from '../settings/server/placeholders.ts';
import { type Manifest, parseManifest } from './manifest.ts';
import { type BundleHost, bundleServer } from './server-config.ts';

const linux: BundleHost = { platform: 'linux', home: '/home/ada' };
const mac: BundleHost = { platform: 'darwin', home: '/Users/ada' };
const windows: BundleHost = { platform: 'win32', home: 'C:\\Users\\Ada' };
const folder = '/data/bundles/fetch-1.0.0';

type Server = Partial<Manifest['server']>;
function manifest(server: Server, user_config: Manifest['user_config'] = {}, more: object = {}): Manifest {
  const base = { manifest_version: '0.3', name: 'fetch', version: '1.0.0', user_config, ...more };
  return parseManifest(
    JSON.stringify({ ...base, server: { type: 'node', entry_point: 'server/index.js', ...server } }),
  );
}

const files = new Set(['manifest.json', 'server/index.js', 'bin/run', 'bin/run-mac', 'bin/win.exe']);
const place = { folder, files };
const option = (more: object) => ({ type: 'string' as const, title: 'T', description: 'D', ...more });

/** What the hub would really start, with its own environment at hand. */
function started(config: object, environment: Record<string, string> = {}) {
  const server = parseSettings({ mcpServers: { fetch: config } }).settings.servers.get('fetch');
  if (server === undefined) throw new Error('not in the settings');
  const { transport, missing } = expandServer(server, environment);
  if (transport.type !== 'stdio') throw new Error(transport.type);
  return { ...transport, missing };
}

describe('how a bundle is started', () => {
  test.each([
    [{ type: 'node' }, 'node', [`${folder}/server/index.js`]],
    [{ type: 'python', entry_point: 'm.py' }, 'python3', [`${folder}/m.py`]],
    [{ type: 'uv', entry_point: 'src/m.py' }, 'uv', ['run', '--directory', folder, 'src/m.py']],
    [{ type: 'binary', entry_point: 'bin/run' }, `${folder}/bin/run`, []],
    [{ mcp_config: { command: 'npx', args: ['-y', 'x'] } }, 'npx', ['-y', 'x']],
    [{ mcp_config: { command: '${__dirname}/bin/run', args: ['a${/}b'] } }, `${folder}/bin/run`, ['a/b']],
    [
      { mcp_config: { command: './bin/run', args: ['${HOME}:${DESKTOP}:${DOCUMENTS}:${DOWNLOADS}'] } },
      `${folder}/bin/run`,
      ['/home/ada:/home/ada/Desktop:/home/ada/Documents:/home/ada/Downloads'],
    ],
    [{ mcp_config: { command: '/usr/bin/env', args: ['${pathSeparator}'] } }, '/usr/bin/env', ['/']],
  ] as [Server, string, string[]][])('%j', (server, command, args) => {
    const { config } = bundleServer(manifest(server), place, {}, { host: linux });
    expect(started(config)).toMatchObject({ command, args, cwd: folder, missing: [] });
    expect(config.enabled).toBe(true);
  });

  test('depends on the platform where the manifest says so', () => {
    const made = manifest({
      type: 'binary',
      entry_point: 'bin/run',
      mcp_config: {
        command: 'bin/run',
        args: ['usual'],
        env: { A: 'a', B: 'b' },
        platform_overrides: {
          darwin: { command: 'bin/run-mac', env: { B: 'mac' } },
          win32: { command: 'bin/win', args: ['C:${/}x'] },
        },
      },
    });
    const of = (host: BundleHost, folder: string) => bundleServer(made, { folder, files }, {}, { host });
    expect(of(linux, folder).config).toMatchObject({
      command: `${folder}/bin/run`,
      args: ['usual'],
      env: { A: 'a', B: 'b' },
    });
    expect(of(mac, folder).config).toMatchObject({
      command: `${folder}/bin/run-mac`,
      args: ['usual'],
      env: { A: 'a', B: 'mac' },
    });
    expect(of(windows, 'D:\\b').config).toMatchObject({ command: 'D:\\b\\bin\\win.exe', args: ['C:\\x'] });
    expect(of(mac, folder).executables).toEqual(['bin/run-mac', 'bin/run']);
    expect(of(windows, 'D:\\b').executables).toEqual(['bin/win.exe', 'bin/run']);
  });

  test.each(['../../bin/sh', './../x', 'bin/absent', '${__dirname}/absent', ' '])(
    'is never by the command %j',
    (command) => {
      expect(() => bundleServer(manifest({ mcp_config: { command } }), place, {}, { host: linux })).toThrow(HubError);
    },
  );

  test('is said to be doubtful on a platform it was not made for', () => {
    const made = manifest({}, {}, { compatibility: { platforms: ['darwin', 'win32'] } });
    expect(bundleServer(made, place, {}, { host: linux }).notes).toEqual([
      'Made for darwin, win32; this hub runs on linux, where it may not start.',
    ]);
    expect(bundleServer(made, place, {}, { host: mac }).notes).toEqual([]);
  });

  test.each([
    ['./server/index.js', []],
    ['server/gone.js', ['"server/gone.js" (server.entry_point) is not in the bundle; it may not start.']],
  ])('is said to be doubtful when its entry point, %s, is missing', (entry_point, notes) => {
    expect(bundleServer(manifest({ entry_point }), place, {}, { host: linux }).notes).toEqual(notes);
  });
});

const withOptions = manifest(
  {
    mcp_config: {
      command: 'node',
      args: [
        'x',
        '--dirs',
        '${user_config.dirs}',
        '--level=${user_config.level}',
        '--opt',
        '${user_config.opt}',
        '${user_config.last}',
      ],
      env: {
        KEY: '${user_config.key}',
        DIRS: '${user_config.dirs}',
        OPT: '${user_config.opt}',
        ON: 'is-${user_config.on}',
        NAMES: '${user_config.names}',
      },
    },
  },
  {
    dirs: { ...option({ type: 'directory' }), multiple: true, default: ['${HOME}/a', '${DOCUMENTS}'] },
    level: option({ type: 'number', default: 3, min: 1, max: 9 }),
    opt: option({}),
    last: option({}),
    key: option({ sensitive: true, required: true, title: 'API key' }),
    on: option({ type: 'boolean', default: false }),
    names: option({ multiple: true, default: ['b', 'c'] }),
  },
);
const config = (given: object) => bundleServer(withOptions, place, { ...given }, { host: linux });

describe('values of the user', () => {
  test('default to what the manifest says; what is optional and absent leaves no trace', () => {
    expect(started(config({ key: 'k' }).config)).toMatchObject({
      args: ['x', '--dirs', '/home/ada/a', '/home/ada/Documents', '--level=3'],
      env: { KEY: 'k', DIRS: '/home/ada/a:/home/ada/Documents', ON: 'is-false', NAMES: 'b,c' },
    });
    expect(started(config({ key: 'k' }).config).env).not.toHaveProperty('OPT');
  });

  test('are taken as JSON or as the text of form fields', () => {
    const args = ['x', '--dirs', '/p', '--level=7', '--opt', 'o', 'l'];
    for (const given of [
      { dirs: ['/p'], level: 7, on: true },
      { dirs: '/p', level: '7', on: 'true' },
    ]) {
      const { env, args: made } = started(config({ ...given, key: 'k', opt: 'o', last: 'l' }).config);
      expect([made, env['ON']]).toEqual([args, 'is-true']);
    }
    expect(started(config({ key: 'k', dirs: ['~/x', '~', '~y'] }).config).args.slice(2, 5)).toEqual([
      '/home/ada/x',
      '/home/ada',
      '~y',
    ]);
  });

  test('that are required and missing are listed, and the server waits for them', () => {
    const { config: made, requiredConfig, notes } = config({ key: '' });
    expect(requiredConfig).toEqual([
      { key: 'key', title: 'API key', type: 'string', description: 'D', sensitive: true },
    ]);
    expect([made.enabled, made.env?.['KEY'], notes]).toEqual([
      false,
      '${MCPB_FETCH_KEY}',
      ['Disabled until it is configured: API key (key).'],
    ]);
    expect(started(made, { MCPB_FETCH_KEY: 'from the environment' }).env['KEY']).toBe('from the environment');
  });

  test('that do not fit are named, and never shown', () => {
    const bad = {
      level: 99,
      dirs: [1],
      on: 'hunter2',
      opt: ['a'],
      last: 'a\0hunter2',
      key: { hunter2: 1 },
      stranger: 'hunter2',
    };
    try {
      config(bad);
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      expect(error.problems.map(({ path }) => path).sort()).toEqual(
        Object.keys(bad)
          .map((key) => `userConfig.${key}`)
          .sort(),
      );
      expect(JSON.stringify([error.message, error.problems])).not.toContain('hunter2');
    }
  });

  test('that are secret do not show in the answer', () => {
    const given = { key: 'hunter2', opt: 'open' };
    const shown = bundleServer(withOptions, place, given, { host: linux, hideSecrets: true }).config;
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    expect(shown.env).toMatchObject({ KEY: '••••', OPT: 'open' });
  });
});

describe('values of the version before', () => {
  test('stay when the bundle is replaced and nothing new is given for a secret', () => {
    const previousEnv = { KEY: 'old secret', OPT: 'edited by hand', DIRS: '/old' };
    const { config: made, requiredConfig } = bundleServer(manifest1(), place, {}, { host: linux, previousEnv });
    expect([made.env, made.enabled, requiredConfig]).toEqual([
      { KEY: 'old secret', OPT: 'edited by hand', DIRS: '/new' },
      true,
      [],
    ]);
    const waiting = { KEY: '${MCPB_FETCH_KEY}' };
    expect(bundleServer(manifest1(), place, {}, { host: linux, previousEnv: waiting }).config.enabled).toBe(false);
    const shown = bundleServer(manifest1(), place, {}, { host: linux, previousEnv, hideSecrets: true }).config;
    expect(JSON.stringify(shown)).not.toMatch(/old secret|edited/);
  });

  function manifest1(): Manifest {
    return manifest(
      {
        mcp_config: {
          command: 'node',
          args: [],
          env: { KEY: '${user_config.key}', OPT: '${user_config.opt}', DIRS: '/new' },
        },
      },
      { key: option({ required: true, sensitive: true }), opt: option({}) },
    );
  }
});

describe('a bundle cannot read the environment of the hub', () => {
  const hostile = fc
    .array(
      fc.constantFrom(
        '$',
        '{',
        '}',
        'JWT_SECRET',
        '${JWT_SECRET}',
        '${JWT_SECRET:-x}',
        ':-',
        '${',
        '${user_config.a}',
        '${user_config.b}',
        'x',
        ' ',
      ),
      { minLength: 1, maxLength: 8 },
    )
    .map((parts) => parts.join(''));

  test('whatever its texts and the values contain', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (text, a, b) => {
        const made = manifest(
          { mcp_config: { command: 'node', args: [text], env: { E: text } } },
          { a: option({}), b: option({ default: b }) },
        );
        const { config } = bundleServer(made, place, { a }, { host: linux });
        const { args, env, missing } = started(config, { JWT_SECRET: 'LEAKED' });
        expect(JSON.stringify([args, env])).not.toContain('LEAKED');
        expect(missing).toEqual([]);
        const expected = text.replace(/\$\{user_config\.([ab])\}/g, (_, key) => (key === 'a' ? a : b));
        expect(env['E']).toBe(expected.trim());
      }),
    );
  });

  test('by its own name and a key that spell a variable of the hub', () => {
    const made = {
      ...manifest(
        { mcp_config: { command: 'x', env: { S: '${user_config.secret}' } } },
        { secret: option({ required: true }) },
      ),
      name: 'jwt',
    };
    const { config } = bundleServer(made, place, {}, { host: linux });
    expect(started({ ...config, enabled: true }, { JWT_SECRET: 'LEAKED' }).env['S']).toBe('');
  });
});
