import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { parse as parseToml } from 'smol-toml';
import { beforeAll, describe, expect, test } from 'vitest';
import { clientFiles } from '../../src/snippets/all.ts';
import { api, login } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { type Person, person } from '../kit/command.ts';
import { hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// `toolhub connect` (CONTRACT §12): the real program, on files in a home folder of its own.

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  const mail = await hostileHttp({ name: 'mail' });
  hub = await testHub({
    mcpServers: { mail: mail.config },
    groups: [{ id: 'g1', name: 'dev', servers: ['mail'] }],
  });
  await hub.connected(1);
  admin = await login(hub);
});

const cursorOf = ({ home }: Person) => join(home, '.cursor', 'mcp.json');
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as { mcpServers: Record<string, Entry> };
interface Entry {
  url: string;
  headers?: { Authorization: string };
}
function put(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
const keys = async () => (await api(hub, 'GET', '/auth/keys', { token: admin })).body.data as { name: string }[];
const byPassword = ['login', '--username', 'admin', '--password-stdin'];

describe('every client', () => {
  test.each(clientFiles.map(({ client, format }) => [client, format] as const))(
    '%s: shown first, written with --write, the same a second time, and undone exactly',
    async (client, format) => {
      const who = person(hub);
      const file = clientFiles.find((each) => each.client === client);
      const path = file?.path({ platform: 'linux', home: who.home, appFolder: join(who.home, '.config') }) ?? '';
      const before =
        format === 'toml'
          ? '# mine\n[mcp_servers.other]\ncommand = "x"\n'
          : `// mine\n{\n\t"${file?.servers}": {\n\t\t"other": { "command": "x" } // keep\n\t},\n}\n`;
      put(path, before);
      chmodSync(path, 0o640);
      // The same code for all: two of them go the whole way.
      const isOneOfTwo = client === 'claude-code' || client === 'codex';
      if (isOneOfTwo) {
        const shown = await who.run(['connect', client, '--group', 'dev']);
        expect([shown.code, shown.stderr, readFileSync(path, 'utf8')]).toEqual([0, '', before]);
        expect(shown.stdout).toMatch(/^\+ .*toolhub-dev/m);
        expect(shown.stdout).toContain(`${hub.url}/mcp/dev`);
      }
      const written = await who.run(['connect', client, '--group', 'dev', '--write', '--no-wait']);
      expect([written.code, written.stderr]).toEqual([0, '']);
      const after = readFileSync(path, 'utf8');
      for (const kept of format === 'toml' ? [before] : ['// mine\n', '"other": { "command": "x" }', '// keep'])
        expect(after).toContain(kept);
      if (format === 'toml')
        expect(parseToml(after)).toHaveProperty(['mcp_servers', 'toolhub-dev', 'url'], `${hub.url}/mcp/dev`);
      expect(statSync(path).mode & 0o777).toBe(0o640);
      if (isOneOfTwo) {
        const again = await who.run(['connect', client, '--group', 'dev', '--write', '--no-wait']);
        expect(again.stdout).toContain('Nothing to change');
        expect(readFileSync(path, 'utf8')).toBe(after);
      }
      const removed = await who.run(['connect', client, '--group', 'dev', '--remove']);
      expect([removed.code, removed.stderr, readFileSync(path, 'utf8')]).toEqual([0, '', before]);
      if (isOneOfTwo) expect((await who.run(['connect', client, '--remove'])).stdout).toContain('Nothing to change');
    },
  );

  test('that has no file yet gets one, and none is left behind', async () => {
    const who = person(hub);
    await who.run(['connect', 'cursor', '--write', '--no-wait']);
    expect(read(cursorOf(who))).toEqual({ mcpServers: { toolhub: { url: `${hub.url}/mcp` } } });
    await who.run(['connect', 'cursor', '--group', '$smart/dev', '--write', '--no-wait']);
    expect(read(cursorOf(who)).mcpServers['toolhub-smart-dev']?.url).toBe(`${hub.url}/mcp/%24smart/dev`);
    await who.run(['connect', 'cursor', '--group', '$smart/dev', '--remove']);
    await who.run(['connect', 'cursor', '--remove']);
    expect(existsSync(cursorOf(who))).toBe(false);
  });

  test('whose file was changed since keeps those changes, and gets its own old entry back', async () => {
    const who = person(hub);
    const old = { command: 'npx', args: ['old'], env: { SECRET: 'sekret-1' } };
    const path = put(cursorOf(who), JSON.stringify({ mcpServers: { toolhub: old } }, null, 2));
    const written = await who.run(['connect', 'cursor', '--write', '--no-wait']);
    expect(written.stdout + written.stderr).not.toContain('sekret');
    const changed = { ...read(path), more: 1 };
    writeFileSync(path, JSON.stringify(changed));
    await who.run(['connect', 'cursor', '--remove']);
    expect(read(path)).toEqual({ mcpServers: { toolhub: old }, more: 1 });
  });
});

describe('a file that cannot be edited is left as it is', () => {
  test.each([
    ['no JSON', '{"mcpServers": {'],
    ['a list', '[]'],
    ['a list of servers that is none', '{"mcpServers": 3}'],
    ['a member twice', '{"a": 1, "a": 2}'],
    ['no text', Buffer.from([0xff, 0xfe, 0x7b]).toString('latin1')],
  ])('%s', async (_, text) => {
    const who = person(hub);
    const path = put(cursorOf(who), '');
    writeFileSync(path, text, 'latin1');
    const { code, stderr } = await who.run(['connect', 'cursor', '--write', '--no-wait']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(path)]);
    await who.run(['connect', 'cursor', '--remove']);
    expect(readFileSync(path, 'latin1')).toBe(text);
    expect(readdirSync(dirname(path))).toEqual(['mcp.json']);
  });

  test('one that a link leads out of the home folder to; a link within it stays one', async () => {
    const who = person(hub);
    const outside = put(join(temporaryFolder(), 'mcp.json'), '{}');
    mkdirSync(dirname(cursorOf(who)));
    symlinkSync(outside, cursorOf(who));
    const refused = await who.run(['connect', 'cursor', '--write', '--no-wait']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('not below your home folder')]);
    expect(readFileSync(outside, 'utf8')).toBe('{}');
    symlinkSync(dirname(outside), join(who.home, '.gemini'));
    expect((await who.run(['connect', 'gemini-cli', '--write', '--no-wait'])).code).toBe(2);
    expect(readdirSync(dirname(outside))).toEqual(['mcp.json']);
    const inside = put(join(who.home, 'dotfiles', 'claude.json'), '{}');
    symlinkSync(inside, join(who.home, '.claude.json'));
    expect((await who.run(['connect', 'claude-code', '--write', '--no-wait'])).code).toBe(0);
    expect(lstatSync(join(who.home, '.claude.json')).isSymbolicLink()).toBe(true);
    expect(read(inside).mcpServers['toolhub']?.url).toBe(`${hub.url}/mcp`);
  });

  test('an entry of that name that was there before stays', async () => {
    const who = person(hub);
    const text = '{"mcpServers": {"toolhub": {"url": "https://elsewhere.example/mcp"}}}';
    const path = put(cursorOf(who), text);
    const { code, stderr } = await who.run(['connect', 'cursor', '--remove']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('by hand')]);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

describe('with a key', () => {
  test('it is made for what the client reaches, is nowhere but in its file, and goes with the entry', async () => {
    const who = person(hub);
    await who.run(byPassword, { input: 'correct horse' });
    const shown = await who.run(['connect', 'cursor', '--group', 'dev', '--key']);
    expect([shown.code, await keys()]).toEqual([0, []]);
    const written = await who.run(['connect', 'cursor', '--group', 'dev', '--key', '--write', '--no-wait']);
    expect(written.code).toBe(0);
    const { headers } = read(cursorOf(who)).mcpServers['toolhub-dev'] ?? {};
    const token = headers?.Authorization.replace('Bearer ', '') ?? '';
    expect(token).toMatch(/^mcphub_/);
    expect(written.stdout + written.stderr).not.toContain(token);
    expect(await keys()).toMatchObject([
      { name: expect.stringMatching(/^Cursor on /) as string, allowedGroups: ['dev'] },
    ]);
    await who.run(['connect', 'cursor', '--group', 'dev', '--key', '--write', '--no-wait']);
    expect((await keys()).length).toBe(1);
    const removed = await who.run(['connect', 'cursor', '--group', 'dev', '--remove']);
    expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining('access key is deleted')]);
    expect(removed.stdout).not.toContain(token);
    expect(await keys()).toEqual([]);
  });

  test('and without the right to make one nothing is written; clients that take none say so', async () => {
    const who = person(hub);
    const { code, stderr } = await who.run(['connect', 'cursor', '--key', '--write', '--no-wait']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('toolhub login')]);
    expect(existsSync(cursorOf(who))).toBe(false);
    for (const client of ['codex', 'vscode']) {
      const refused = await who.run(['connect', client, '--key']);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('signs in by itself')]);
    }
  });
});

test('the command waits until the hub sees the client', async () => {
  const who = person(hub);
  await who.run(byPassword, { input: 'correct horse' });
  const running = who.start(['connect', 'cursor', '--write']);
  await running.says(/Waiting for Cursor/);
  const client = new Client({ name: 'cursor-\u001b[2Jvscode', version: '1' });
  atEnd(() => client.close());
  await client.connect(
    new StreamableHTTPClientTransport(new URL(read(cursorOf(who)).mcpServers['toolhub']?.url ?? '')),
  );
  const { code, stderr } = await running.ended;
  expect([code, stderr]).toEqual([0, expect.stringMatching(/Connected: it calls itself "cursor-.*vscode"/)]);
  expect(stderr).not.toContain('\u001b');
  const alone = await person(hub).run(['connect', 'cursor', '--write']);
  expect([alone.code, alone.stderr]).toEqual([0, expect.stringContaining('toolhub login')]);
});

test.each([
  [['connect'], 'Name one client: claude-code'],
  [['connect', 'curser'], 'Did you mean cursor?'],
  [['connect', 'nothing-like-it'], 'Known: claude-code'],
  [['connect', 'cursor', 'cline'], 'Name one client'],
  [['connect', 'claude-ai'], 'needs a public https address'],
  [['connect', 'claude.ai'], 'needs a public https address'],
  [['connect', 'ChatGPT', '--url', 'https://hub.example.com'], 'https://hub.example.com/mcp in ChatGPT'],
  [['connect', 'cursor', '--name', 'a b'], '--name'],
  [['connect', 'cursor', '--write', '--remove'], 'not both'],
])('%j is wrong use', async (args, words) => {
  const { code, stdout, stderr } = await person(hub).run(args);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)]);
});
