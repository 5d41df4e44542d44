import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { parseClientConfig } from '../../src/settings/import/client-config.ts';
import { expandServer } from '../../src/settings/server/placeholders.ts';
import { parseSettings } from '../../src/settings/document/parse-settings.ts';
import { allSnippets } from '../../src/snippets/all.ts';
import { shellWord } from '../../src/snippets/snippet.ts';

const url = 'https://hub.example:8443/mcp/%24smart/dev';
const token = 'mcphub_0123456789';

describe('what the hub shows for other clients can be pasted back', () => {
  const snippets = allSnippets({ name: 'toolhub-dev', url, token });
  const texts = snippets.flatMap(({ client, text, installUrl }) => [
    [client, text] as const,
    ...(installUrl === undefined ? [] : [[`${client} link`, installUrl] as const]),
  ]);

  test.each(texts)('%s', (client, text) => {
    const { servers, problems, format } = parseClientConfig(text);
    expect([problems, servers.length, format]).toEqual([[], 1, expect.not.stringMatching('unknown')]);
    const server = servers[0]!;
    expect(server.name).toBe('toolhub-dev');
    if (client === 'claude-desktop') {
      const { servers } = parseSettings({ mcpServers: { x: server.config } }).settings;
      const { transport } = expandServer(servers.get('x')!, {});
      // The header's value is a variable that mcp-remote fills in from its own environment.
      expect(transport).toMatchObject({
        command: 'npx',
        args: ['-y', 'mcp-remote', url, '--header', 'Authorization:${TOOLHUB_AUTH}'],
        env: { TOOLHUB_AUTH: `Bearer ${token}` },
      });
    } else {
      expect(server.config.url).toBe(url);
      const authorization = server.config.headers?.['Authorization'];
      expect(authorization).toBe(
        server.requiredConfig.length === 0 ? `Bearer ${token}` : `Bearer \${${server.requiredConfig[0]?.key}}`,
      );
    }
    parseSettings({ mcpServers: { [server.name]: server.config } });
  });
});

const text = fc
  .string({ unit: 'grapheme' })
  .filter((value) => value.trim() === value && value !== '' && !/[$\0]/.test(value));
const entry = fc.record({
  command: text,
  args: fc.array(text),
  env: fc.dictionary(fc.stringMatching(/^[A-Z_]{1,9}$/), text),
});
const names = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);

describe('whatever is imported', () => {
  test('is what was written', () => {
    fc.assert(
      fc.property(fc.dictionary(names, entry, { minKeys: 1, noNullPrototype: true }), (mcpServers) => {
        fc.pre(!['__proto__', 'constructor', 'prototype'].some((name) => Object.hasOwn(mcpServers, name)));
        const { servers, problems } = parseClientConfig(JSON.stringify({ mcpServers }));
        expect(problems).toEqual([]);
        for (const { name, config } of servers) {
          const { command, args, env } = mcpServers[name]!;
          expect(config).toEqual({ type: 'stdio', command, args, ...(Object.keys(env).length > 0 && { env }) });
        }
        expect(servers.length).toBe(Object.keys(mcpServers).length);
      }),
    );
  });

  test('from a command line has the words the shell would have', () => {
    fc.assert(
      fc.property(fc.array(text), fc.dictionary(fc.stringMatching(/^[A-Z]{1,9}$/), text), (args, env) => {
        const flags = Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
        const line = ['claude', 'mcp', 'add', 'x', ...flags, '--', 'npx', ...args].map(shellWord).join(' ');
        expect(parseClientConfig(line).servers[0]?.config).toEqual({
          type: 'stdio',
          command: 'npx',
          args,
          ...(flags.length > 0 && { env }),
        });
      }),
    );
  });

  test('is accepted by the settings', () => {
    const loose = fc.oneof(
      text,
      fc.constantFrom('${A}', '${env:A}', '${input:a b}', 'https://e.com', 'sse', 'http'),
      fc.integer(),
      fc.boolean(),
    );
    const member = fc.constantFrom(
      'command',
      'args',
      'env',
      'url',
      'headers',
      'type',
      'disabled',
      'timeout',
      'cwd',
      'httpUrl',
    );
    const value = fc.oneof(loose, fc.array(loose), fc.dictionary(fc.stringMatching(/^[A-Za-z-]{1,9}$/), loose));
    fc.assert(
      fc.property(fc.dictionary(names, fc.dictionary(member, value)), (mcpServers) => {
        const { servers } = parseClientConfig(JSON.stringify({ mcpServers }));
        parseSettings({ mcpServers: Object.fromEntries(servers.map(({ name, config }) => [name, config])) });
      }),
      { numRuns: 300 },
    );
  });
});
