import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseClientConfig } from './client-config.ts';

/** Name → entry, as it would stand in the settings. */
function servers(text: string | object): Record<string, unknown> {
  const { servers, problems } = parseClientConfig(typeof text === 'string' ? text : JSON.stringify(text));
  expect(problems).toEqual([]);
  return Object.fromEntries(servers.map(({ name, config }) => [name, config]));
}
const formatOf = (text: string) => parseClientConfig(text).format;
const github = { type: 'stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-github'] };

describe('JSON of clients', () => {
  test('with mcpServers, comments, trailing commas, and what only the client understands', () => {
    const text = `\uFEFF// my servers
      { "globalShortcut": "", "mcpServers": {
        "github": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github",], /* why */
                    "env": { "GITHUB_TOKEN": "a//b", "PORT": 8080, "GONE": null }, "autoApprove": ["x"], "alwaysAllow": [], "disabled": true },
        "remote": { "type": "streamableHttp", "url": "https://e.com/mcp", "headers": { "A": "b" }, "timeout": 60 },
        "wind": { "serverUrl": "https://e.com/a" },
        "gemini": { "httpUrl": "https://e.com/b", "timeout": 600000, "trust": true, "excludeTools": ["rm"] },
        "legacy": { "type": "sse", "url": "https://e.com/sse" },
      }, }`;
    expect(servers(text)).toEqual({
      github: { ...github, env: { GITHUB_TOKEN: 'a//b', PORT: '8080' }, enabled: false },
      remote: { type: 'streamable-http', url: 'https://e.com/mcp', headers: { A: 'b' }, options: { timeout: 60_000 } },
      wind: { url: 'https://e.com/a' },
      gemini: {
        type: 'streamable-http',
        url: 'https://e.com/b',
        options: { timeout: 600_000 },
        tools: { rm: { enabled: false } },
      },
      legacy: { type: 'sse', url: 'https://e.com/sse' },
    });
    expect(formatOf(text)).toBe('mcpServers');
  });

  test.each([
    [
      'a member without its braces',
      '"github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]},',
    ],
    [
      'the inside of mcpServers',
      '{"github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]}}',
    ],
    ['a bare server', '{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]}'],
    [
      'a server with its name',
      '{"name": "github", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]}',
    ],
    ['a list', '[{"name": "github", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]}]'],
    [
      'a batch for our API',
      '{"servers": [{"name": "github", "config": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]}}]}',
    ],
    [
      'an answer of our API',
      '{"success": true, "data": {"mcpServers": {"github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]}}}}',
    ],
    [
      'a code block',
      '```json\n{"mcpServers": {"github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]}}}\n```\n',
    ],
    [
      'opencode',
      '{"mcp": {"github": {"type": "local", "command": ["npx", "-y", "@modelcontextprotocol/server-github"], "enabled": true}}}',
    ],
    [
      'Zed',
      '{"context_servers": {"github": {"source": "custom", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]}}}',
    ],
    [
      'Zed as it was',
      '{"context_servers": {"github": {"command": {"path": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]}}}}',
    ],
    ['a command in one text', '{"mcpServers": {"github": {"command": "npx -y @modelcontextprotocol/server-github"}}}'],
    ['a command line', '$ npx -y @modelcontextprotocol/server-github'],
  ])('%s', (_, text) => {
    expect(servers(text)).toEqual({ github });
  });
});

describe('JSON with more in it than servers', () => {
  test('of VS Code: what it would ask for, the hub asks for', () => {
    const file = {
      inputs: [
        { type: 'promptString', id: 'github-token', description: 'GitHub token', password: true },
        { type: 'pickString', id: 'region', description: 'Region', options: ['eu'], default: 'eu' },
      ],
      servers: {
        github: {
          type: 'http',
          url: 'https://e.com/${input:region}',
          headers: {
            Authorization: 'Bearer ${input:github-token}',
            Again: '${input:github-token}',
            U: '${env:USER_NAME}',
          },
        },
        files: { command: 'x', args: ['${workspaceFolder}/src', '${userHome}${/}a'], envFile: '.env' },
      },
    };
    for (const document of [file, { mcp: file }]) {
      const { format, servers, notes } = parseClientConfig(JSON.stringify(document));
      expect(format).toBe('vscode');
      expect(servers[0]).toEqual({
        name: 'github',
        config: {
          type: 'streamable-http',
          url: 'https://e.com/${REGION}',
          headers: { Authorization: 'Bearer ${GITHUB_TOKEN}', Again: '${GITHUB_TOKEN}', U: '${USER_NAME}' },
        },
        requiredConfig: [
          { key: 'REGION', title: 'Region', type: 'string', description: 'Region', sensitive: false, default: 'eu' },
          { key: 'GITHUB_TOKEN', title: 'GitHub token', type: 'string', description: 'GitHub token', sensitive: true },
        ],
      });
      expect(servers[1]?.config.args).toEqual(['${workspaceFolder}/src', '${HOME}/a']);
      expect(notes.map(({ path }) => path.replace('mcp.', ''))).toEqual([
        'servers.files.args[0]',
        'servers.files.envFile',
      ]);
    }
  });

  test('of one server made of an API, as an export has it: with the headers and variables its calls need', () => {
    const api = {
      type: 'openapi',
      openapi: { url: 'https://e.com/openapi.json' },
      headers: { Authorization: '${API_AUTHORIZATION}' },
      env: { REGION: 'eu' },
    };
    for (const file of [{ mcpServers: { api } }, { servers: { api } }])
      expect(parseClientConfig(JSON.stringify(file)).servers).toMatchObject([{ name: 'api', config: api }]);
  });

  test('of a hub: servers and groups as they are, no passwords', () => {
    const file = {
      mcpServers: {
        'my server': { command: 'x', custom: 1, env: { A: '$B' } },
        api: { openapi: { url: 'https://e.com' } },
      },
      groups: [{ id: '1', name: 'dev', servers: ['api'] }, 'broken'],
      users: [{ username: 'admin', password: 'hash' }],
      bearerKeys: [],
    };
    const found = parseClientConfig(JSON.stringify(file));
    expect(found).toMatchObject({
      format: 'mcphub',
      servers: [
        { name: 'my-server', config: file.mcpServers['my server'] },
        { name: 'api', config: file.mcpServers.api },
      ],
      groups: [file.groups[0]],
      problems: [{ path: 'groups[1]' }],
    });
    expect(found.notes.map(({ path }) => path)).toEqual(['users', 'bearerKeys', 'mcpServers["my server"]']);
    expect(JSON.stringify(found)).not.toContain('hash');
  });
});

test('TOML of Codex', () => {
  const text = `
model = "o3"
[mcp_servers.github] # first
command = "npx"
args = ["-y", "@modelcontextprotocol/server-github"]
env_vars = ["GITHUB_TOKEN"]
startup_timeout_sec = 20
tool_timeout_sec = 90
disabled_tools = ["delete"]
[mcp_servers.github.env]
A = 'b'
[mcp_servers."figma"]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_TOKEN"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Org" = "ORG" }
enabled = false`;
  expect(formatOf(text)).toBe('codex');
  expect(servers(text)).toEqual({
    github: {
      ...github,
      env: { A: 'b', GITHUB_TOKEN: '${GITHUB_TOKEN}' },
      tools: { delete: { enabled: false } },
      options: { timeout: 90_000 },
    },
    figma: {
      url: 'https://mcp.figma.com/mcp',
      headers: { 'X-Region': 'eu', 'X-Org': '${ORG}', Authorization: 'Bearer ${FIGMA_TOKEN}' },
      enabled: false,
    },
  });
});

describe('lines of a terminal', () => {
  const figma = { type: 'streamable-http', url: 'https://mcp.figma.com/mcp' };
  test.each([
    ['claude mcp add --transport http figma https://mcp.figma.com/mcp', { figma }],
    [
      'claude mcp add -t http -s user figma https://mcp.figma.com/mcp --header "A: b c" -H \'X-K: d\'',
      { figma: { ...figma, headers: { A: 'b c', 'X-K': 'd' } } },
    ],
    [
      'claude mcp add figma --transport sse --header "A: b" "C: d" https://e.com/sse',
      { figma: { type: 'sse', url: 'https://e.com/sse', headers: { A: 'b', C: 'd' } } },
    ],
    [
      'claude mcp add --env A=1 B="2 3" github -- npx -y @modelcontextprotocol/server-github',
      { github: { ...github, env: { A: '1', B: '2 3' } } },
    ],
    [
      'claude mcp add github -e A=1 \\\n  -- npx -y @modelcontextprotocol/server-github',
      { github: { ...github, env: { A: '1' } } },
    ],
    ['gemini mcp add --trust github npx -y @modelcontextprotocol/server-github', { github }],
    [
      `claude mcp add-json github '{"type":"stdio","command":"npx","args":["-y","@modelcontextprotocol/server-github"]}'`,
      { github },
    ],
    [
      `code --add-mcp '{"name":"github","command":"npx","args":["-y","@modelcontextprotocol/server-github"]}'`,
      { github },
    ],
    [
      'codex mcp add figma --url https://mcp.figma.com/mcp --bearer-token-env-var T',
      { figma: { url: figma.url, headers: { Authorization: 'Bearer ${T}' } } },
    ],
    [
      'TOKEN=abc uvx mcp-server-fetch --x "a b"',
      { fetch: { type: 'stdio', command: 'uvx', args: ['mcp-server-fetch', '--x', 'a b'], env: { TOKEN: 'abc' } } },
    ],
    [
      'node /srv/notes/dist/index.js',
      { notes: { type: 'stdio', command: 'node', args: ['/srv/notes/dist/index.js'] } },
    ],
    [
      'docker run -i --rm -e TOKEN -e A=b ghcr.io/acme/mcp-server-x:1',
      {
        x: {
          type: 'stdio',
          command: 'docker',
          args: ['run', '-i', '--rm', '-e', 'TOKEN', '-e', 'A=b', 'ghcr.io/acme/mcp-server-x:1'],
          env: { TOKEN: '${TOKEN}' },
        },
      },
    ],
    ['https://mcp.figma.com/mcp', { figma: { url: figma.url } }],
    ['http://localhost:3001/mcp', { 'localhost-3001': { url: 'http://localhost:3001/mcp' } }],
    ['https://a.com/mcp\nhttps://b.com/mcp', { a: { url: 'https://a.com/mcp' }, b: { url: 'https://b.com/mcp' } }],
    [
      `cursor://anysphere.cursor-deeplink/mcp/install?name=figma&config=${btoa('{"url":"https://mcp.figma.com/mcp"}')}`,
      { figma: { url: figma.url } },
    ],
    [
      `vscode:mcp/install?${encodeURIComponent('{"name":"figma","type":"http","url":"https://mcp.figma.com/mcp"}')}`,
      { figma },
    ],
    [
      `https://insiders.vscode.dev/redirect/mcp/install?name=figma&config=${encodeURIComponent('{"type":"http","url":"https://mcp.figma.com/mcp"}')}`,
      { figma },
    ],
    [
      '# two servers\nclaude mcp add a -- x-mcp\n\nclaude mcp add b -- y-mcp --z',
      { a: { type: 'stdio', command: 'x-mcp', args: [] }, b: { type: 'stdio', command: 'y-mcp', args: ['--z'] } },
    ],
  ])('%s', (text, expected) => {
    expect(servers(text)).toEqual(expected);
  });
});

describe('what is wrong', () => {
  test('with one server does not cost the others, and has a path', () => {
    const found = parseClientConfig(
      JSON.stringify({
        mcpServers: {
          good: { command: 'x' },
          args: { command: 'x', args: ['a', {}, ['b']] },
          env: { command: 'x', env: { 'A B': [] } },
          none: { note: 'nothing to start' },
          url: { url: 'ftp://e.com' },
          text: 'npx',
          extension: { settings: {} },
        },
      }),
    );
    expect(found.servers.map(({ name }) => name)).toEqual(['good']);
    expect(found.problems.map(({ path }) => path)).toEqual([
      'mcpServers.args.args[1]',
      'mcpServers.args.args[2]',
      'mcpServers.env.env["A B"]',
      'mcpServers.none.command',
      'mcpServers.url.url',
      'mcpServers.text',
      'mcpServers.extension.command',
    ]);
  });

  test('with a name is mended and said', () => {
    const names = ['io.github.acme/notes', 'notes', 'Größe & Maß', '__proto__', '../../..', '搜索'];
    const members = names.map((name) => `${JSON.stringify(name)}:{"command":"x"}`);
    const text = `{"mcpServers":{${members.join(',')}}}`;
    const { servers, notes } = parseClientConfig(text);
    expect(servers.map(({ name }) => name)).toEqual(['notes', 'notes-2', 'Gro-e-Ma', 'proto', 'server', 'server-2']);
    expect(notes.length).toBe(6);
  });

  test.each([
    ['', ''],
    ['hello', ''],
    ['Please add the server', ''],
    ['{"a": 1}', ''],
    ['{"mcpServers": {"a": {}', ''],
    ['[1, 2]', ''],
    ['[mcp_servers.a\ncommand = 1', ''],
    ['claude mcp add', 'command'],
    ['claude mcp add x', 'command.x'],
    ["claude mcp add-json x 'no'", 'command'],
    ['"', ''],
    ['{', ''],
  ])('with all of %j is one problem and no server', (text, path) => {
    const { servers, problems } = parseClientConfig(text);
    expect([servers, problems.map((problem) => problem.path)]).toEqual([[], [path]]);
  });

  test('in the syntax is found by line and column, and not quoted', () => {
    const message = (text: string) => parseClientConfig(text).problems[0]?.message;
    expect(message('{\n  "mcpServers": { // x\n    "a": hunter2\n  }\n}')).toBe(
      "is not valid JSON: Unexpected token 'h' in line 3, column 10",
    );
    expect(message('{"a": "b" "c"}')).toMatch(/^is not valid JSON: Expected .* in line 1, column 11$/);
    expect(message('{"a": {')).toBe('is not valid JSON: it ends too early');
    expect(message('{} {}')).toMatch(/column 4$/);
    expect(message('[mcp_servers.a]\ncommand = nope')).toMatch(/in line 2, column \d+$/);
  });
});

const anyMember = fc.constantFrom(
  ...'mcpServers servers mcp context_servers mcp_servers inputs groups users command args env url headers type data'.split(
    ' ',
  ),
);
const anyWord = fc.constantFrom(
  ...'claude mcp add,-e,--,A=b,",\',\\,\n,npx,https://e.com,{,},[mcp_servers.a],command = "x",vscode:mcp/install?,%,```'.split(
    ',',
  ),
);

test('nothing that is pasted makes it throw', () => {
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      fc.constantFrom<unknown>(null, 1, true, '', 'npx', 'https://e.com', '${input:x}'),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(anyMember, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(fc.property(tree, (value) => void parseClientConfig(JSON.stringify(value))));
  const words = fc.array(fc.oneof(anyWord, fc.string()));
  fc.assert(fc.property(words, (words) => void parseClientConfig(words.join(' '))));
});
