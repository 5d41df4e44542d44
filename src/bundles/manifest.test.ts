import { describe, expect, test } from 'vitest';
import { HubError } from '../core/errors.ts';
import { parseManifest } from './manifest.ts';

const minimal = {
  manifest_version: '0.3',
  name: 'fetch',
  version: '1.2.0',
  server: { type: 'node', entry_point: 'server/index.js', mcp_config: { command: 'node', args: ['server/index.js'] } },
};

function problems(value: unknown): { code: string; message: string; problems: Record<string, string> } {
  try {
    parseManifest(typeof value === 'string' ? value : JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    const byPath = Object.fromEntries(error.problems.map(({ path, message }) => [path, message]));
    return { code: error.code, message: error.message, problems: byPath };
  }
  throw new Error('the manifest was accepted');
}

describe('a manifest', () => {
  test.each(['0.1', '0.2', '0.3', '0.4'])('of version %s is read', (version) => {
    expect(parseManifest(JSON.stringify({ ...minimal, manifest_version: version })).manifest_version).toBe(version);
  });

  test('of the time when bundles were called dxt is read', () => {
    const { manifest_version: _, ...rest } = minimal;
    expect(parseManifest(JSON.stringify({ dxt_version: '0.1', ...rest })).manifest_version).toBe('0.1');
  });

  test('of a version to come is refused by name', () => {
    expect(problems({ ...minimal, manifest_version: '1.0' })).toMatchObject({
      code: 'invalid_input',
      problems: { manifest_version: 'must be one of 0.1, 0.2, 0.3, 0.4' },
    });
  });

  test('keeps what the hub has no use for', () => {
    const more = {
      ...minimal,
      author: { name: 'A' },
      icons: [{ src: 'a.png', size: '16x16' }],
      localization: { resources: 'x/${locale}.json', default_locale: 'en-US' },
      _meta: { 'com.example': { a: 1 } },
      compatibility: { claude_desktop: '>=1', platforms: ['darwin'], runtimes: { node: '>=16' } },
      server: { ...minimal.server, hint: 1, mcp_config: { ...minimal.server.mcp_config, timeout: 5 } },
    };
    expect(parseManifest(JSON.stringify(more))).toEqual(more);
  });

  test('of the uv kind needs no command', () => {
    const uv = { ...minimal, manifest_version: '0.4', server: { type: 'uv', entry_point: 'src/server.py' } };
    expect(parseManifest(JSON.stringify(uv)).server.mcp_config).toBeUndefined();
  });

  test('with nothing to start is refused', () => {
    expect(problems({ ...minimal, server: { type: 'node' } }).problems).toEqual({
      'server.mcp_config.command': 'is missing, and so is server.entry_point',
    });
  });

  test('has each of its problems named by path, the first ones in the message too', () => {
    const found = problems({
      name: 'fetch',
      version: '',
      server: {
        type: 'ruby',
        entry_point: 5,
        mcp_config: { command: 'x', args: ['a', 1], env: { A: null }, platform_overrides: { win32: { args: 'x' } } },
      },
      user_config: { key: { type: 'secret' }, n: { type: 'number', default: {} } },
      tools: [{}],
    });
    expect(Object.keys(found.problems).sort()).toEqual([
      'manifest_version',
      'server.entry_point',
      'server.mcp_config.args[1]',
      'server.mcp_config.env.A',
      'server.mcp_config.platform_overrides.win32.args',
      'server.type',
      'tools[0].name',
      'user_config.key.type',
      'user_config.n.default',
      'version',
    ]);
    expect(found.problems['server.mcp_config.args[1]']).toMatch(/^must be string/);
    expect(found.message).toMatch(/manifest_version must be one of .*; and 7 more\.$/);
  });

  test.each(['', '../up', 'a/b', 'a b', '.hidden', 'a..b', '__proto__', 'constructor', 'ü', 'x'.repeat(129)])(
    'cannot be called %j',
    (name) => {
      expect(Object.keys(problems({ ...minimal, name }).problems)).toEqual(['name']);
    },
  );

  test.each(['', '[]', 'null', '"x"', '{', '{"name":'])('is not %j', (json) => {
    expect(problems(json).code).toBe('invalid_input');
  });
});
