import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { allSnippets, withCommand } from './all.ts';
import { clientName, endpointUrl, shellWord, type Snippet } from './snippet.ts';
import { codePoints } from '../../test/kit/code-points.ts';

const mcpUrl = 'http://127.0.0.1:3000/mcp';

/** The address and the headers a client would read out of a snippet. */
function read(snippet: Snippet): { name: string; url: string; authorization: string | undefined } {
  if (snippet.language === 'shell') return readCommand(snippet.text);
  const file = (snippet.language === 'toml' ? parseToml(snippet.text) : JSON.parse(snippet.text)) as Record<
    string,
    unknown
  >;
  const servers = (file['mcpServers'] ?? file['servers'] ?? file['mcp_servers']) as Record<
    string,
    Record<string, unknown>
  >;
  const [[name, entry] = ['', {}]] = Object.entries(servers);
  const args = (entry['args'] ?? []) as string[];
  const env = (entry['env'] ?? {}) as Record<string, string>;
  const headers = (entry['headers'] ?? {}) as Record<string, string>;
  return {
    name,
    url: (entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl'] ?? args[2]) as string,
    authorization: headers['Authorization'] ?? env['TOOLHUB_AUTH'],
  };
}

function readCommand(text: string): ReturnType<typeof read> {
  const words = splitWords(text);
  expect(words.slice(0, 5)).toEqual(['claude', 'mcp', 'add', '--transport', 'http']);
  const [name = '', url = '', , header] = words.slice(5);
  return { name, url, authorization: header?.replace('Authorization: ', '') };
}

/** Words as a POSIX shell splits them; a real shell is asked in a test of its own. */
function splitWords(text: string): string[] {
  const words = text.match(/(?:'[^']*'|"[^"]*"|\\'|[^\s'"\\])+/g) ?? [];
  return words.map((word) =>
    word.replace(/'([^']*)'|"([^"]*)"|\\(')/g, (_, a?: string, b?: string, c?: string) => a ?? b ?? c ?? ''),
  );
}

const groupName = fc.oneof(
  fc.string({ unit: codePoints, minLength: 1 }),
  fc.constantFrom('$smart', 'dev tools', "it's", 'a/b', '搜索', 'a"b', '${HOME}', '`id`', '%41', '..', '#?&'),
);

describe('every client', () => {
  test('gets the address of any group, exactly', () => {
    fc.assert(
      fc.property(
        groupName,
        fc.option(fc.stringMatching(/^[A-Za-z0-9_.-]{1,80}$/), { nil: undefined }),
        (group, token) => {
          const url = endpointUrl(mcpUrl, group);
          const name = clientName(group);
          for (const snippet of allSnippets({ name, url, token })) {
            const found = read(snippet);
            expect(found.name).toBe(name);
            expect(found.url).toBe(url);
          }
        },
      ),
    );
  });

  test('gets the token in the way it takes one', () => {
    const token = 'mcphub_0123';
    const snippets = allSnippets({ name: 'toolhub', url: mcpUrl, token });
    for (const snippet of snippets.filter(({ client }) => client !== 'codex' && client !== 'vscode')) {
      expect([snippet.client, read(snippet).authorization]).toEqual([snippet.client, `Bearer ${token}`]);
    }
    const codex = snippets.find(({ client }) => client === 'codex');
    expect(parseToml(codex?.text ?? '')).toEqual({
      mcp_servers: { toolhub: { url: mcpUrl, bearer_token_env_var: 'TOOLHUB_TOKEN' } },
    });
    const vscode = snippets.find(({ client }) => client === 'vscode');
    expect(JSON.parse(vscode?.text ?? '')).toEqual({
      inputs: [{ type: 'promptString', id: 'toolhub-token', description: 'Tool Hub access key', password: true }],
      servers: {
        toolhub: { type: 'http', url: mcpUrl, headers: { Authorization: 'Bearer ${input:toolhub-token}' } },
      },
    });
    expect(codex?.text + String(vscode?.text) + String(vscode?.installUrl)).not.toContain(token);
  });

  test('is asked for no token where none is needed', () => {
    for (const { text } of allSnippets({ name: 'toolhub', url: mcpUrl })) {
      expect(text).not.toMatch(/bearer|token|auth|header/i);
    }
  });

  test('has an id and a place of its own', () => {
    const ids = allSnippets({ name: 'toolhub', url: mcpUrl }).map(({ client }) => client);
    expect(ids).toEqual([
      'claude-code',
      'cursor',
      'vscode',
      'codex',
      'claude-desktop',
      'gemini-cli',
      'windsurf',
      'cline',
    ]);
  });
});

test('clients that are services are there where they can get to the hub, and not with a key', () => {
  const services = (url: string, token?: string) =>
    allSnippets({ name: 'toolhub', url, token }).flatMap(({ client, language, text }) =>
      language === 'text' ? [[client, text]] : [],
    );
  const url = 'https://hub.example.com/mcp/dev';
  expect(services(url)).toEqual([
    ['claude-ai', url],
    ['chatgpt', url],
  ]);
  expect(services(url, 'mcphub_0')).toEqual([]);
  const near = [mcpUrl, 'https://localhost/mcp', 'https://127.0.0.1/mcp', 'https://[::1]:3000/mcp'];
  expect(near.flatMap((each) => services(each))).toEqual([]);
});

describe('addresses', () => {
  test('lead back to the group, one path segment whatever it is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (group) => {
        const { pathname } = new URL(endpointUrl(mcpUrl, '$smart', group));
        // The URL standard drops "." and ".." however they are written: such a group is reached by its id.
        if (group === '.' || group === '..') return;
        expect(pathname.split('/').slice(2).map(decodeURIComponent)).toEqual(['$smart', group]);
      }),
    );
  });

  test('need no quoting in a shell', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoints }), (group) => {
        expect(shellWord(endpointUrl(mcpUrl, group))).toBe(endpointUrl(mcpUrl, group));
      }),
    );
  });
});

describe('names', () => {
  test('are what every client accepts, and differ where groups differ', () => {
    expect(clientName()).toBe('toolhub');
    expect(clientName('dev_1')).toBe('toolhub-dev_1');
    expect(clientName('dev tools')).not.toBe(clientName('dev-tools'));
    expect(clientName('搜索')).not.toBe(clientName('文件'));
    fc.assert(
      fc.property(fc.string({ unit: codePoints }), (group) => {
        expect(clientName(group)).toMatch(/^toolhub-[A-Za-z0-9_-]*$/);
      }),
    );
  });
});

test('the command line of a client with a file names the hub and the endpoint, each one word', () => {
  const [first] = allSnippets({ name: 'toolhub', url: mcpUrl });
  if (first === undefined) throw new Error('There is no client.');
  const at = { hub: 'http://127.0.0.1:3000/hub', path: ['$smart', "it's; rm -rf ~"] };
  const { command = '' } = withCommand(first, at);
  const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
  const words = ['--url', at.hub, '--group', "$smart/it's; rm -rf ~", '--write'];
  expect(printed.split('\0').slice(0, -1)).toEqual(['toolhub', 'connect', 'claude-code', ...words]);
  expect(withCommand({ ...first, client: 'claude-ai' }, at)).not.toHaveProperty('command');
});

describe('install links', () => {
  const of = (client: string) =>
    allSnippets({ name: 'toolhub', url: mcpUrl }).find((snippet) => snippet.client === client)?.installUrl;

  test('of Cursor carry the entry as base64', () => {
    const query = new URL(of('cursor') ?? '').searchParams;
    expect(query.get('name')).toBe('toolhub');
    expect(JSON.parse(Buffer.from(query.get('config') ?? '', 'base64').toString())).toEqual({ url: mcpUrl });
  });

  test('of VS Code carry the entry as JSON', () => {
    const [, json = ''] = (of('vscode') ?? '').split('vscode:mcp/install?');
    expect(JSON.parse(decodeURIComponent(json))).toEqual({ name: 'toolhub', type: 'http', url: mcpUrl });
  });
});

test('a shell reads each word as it was meant', () => {
  const words = [
    'plain',
    '',
    'two words',
    "it's",
    '$HOME',
    '`id`',
    'a"b',
    'back\\slash',
    'wow!',
    '%PATH%',
    '*',
    '~',
    'line\nbreak',
    '搜索',
  ];
  const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${words.map(shellWord).join(' ')}`], { encoding: 'utf8' });
  expect(printed.split('\0').slice(0, -1)).toEqual(words);
});
