import { expect, test } from 'vitest';
import { isSettings, recognise } from './recognise.ts';

test.each([
  ['https://mcp.notion.com/mcp', 'url', 'notion'],
  ['  http://localhost:3001/mcp\n', 'url', 'localhost'],
  ['http://127.0.0.1:9/mcp', 'url', ''],
  ['npx -y @modelcontextprotocol/server-github@1.2', 'command', 'github'],
  ['$ uvx mcp-server-fetch', 'command', 'fetch'],
  ['API_KEY=<YOUR_KEY> node /srv/notes/dist/index.js', 'command', 'notes'],
  ['docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server', 'command', 'github'],
  ['npx -y \\\n  tavily-mcp', 'command', 'tavily'],
])('%s is of the kind %s, with the name %s', (text, kind, name) => {
  const found = recognise(text);
  expect(found).toMatchObject({ kind, server: { name } });
});

test.each([
  '{"mcpServers": {"a": {"url": "https://x.example/mcp"}}}',
  '{ "servers": {"a": {"command": "x"}} }',
  '{"mcp": {"servers": {}}}',
  '{"command": "npx", "args": []}',
  '[mcp_servers.a]\nurl = "https://x.example/mcp"',
  '```json\n{"mcpServers": {}}\n```',
  'claude mcp add --transport http notes https://x.example/mcp',
  'code --add-mcp \'{"name":"a","command":"npx"}\'',
  'cursor://anysphere.cursor-deeplink/mcp/install?name=a&config=e30=',
  'https://cursor.com/install-mcp?name=a&config=e30=',
  'https://a.example/mcp\nhttps://b.example/mcp',
])('%s is for the hub to read', (text) => {
  expect(recognise(text)).toEqual({ kind: 'settings' });
});

test.each(['', 'github', 'web search', 'Postgres, read-only', 'a sentence\nin two lines', '{"a": 1}'])(
  '%j is nothing but words',
  (text) => {
    expect(recognise(text)).toBeUndefined();
  },
);

test('an address of an OpenAPI document is a REST API, and a name of the registry is looked up there', () => {
  expect(recognise('https://api.example.com/v1/openapi.json')).toMatchObject({
    server: { name: 'example', draft: { type: 'openapi', apiUrl: 'https://api.example.com/v1/openapi.json' } },
  });
  expect(recognise('io.github.someone/notes')).toEqual({ kind: 'registry', name: 'io.github.someone/notes' });
});

test('a value that is JSON, pasted into a field, is no settings of a client', () => {
  expect(isSettings('{"url": "https://x.example"}')).toBe(false);
  expect(isSettings('{"mcpServers": {"a": {}}}')).toBe(true);
});
