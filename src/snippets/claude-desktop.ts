import { join } from 'node:path';
import type { ClientFile } from './client-file.ts';
import { type Endpoint, pretty, type Snippet } from './snippet.ts';

/**
 * The file of Claude Desktop starts programs only, so `mcp-remote` stands between. It takes plain http for this machine
 * only, unless told otherwise, and arguments with blanks arrive split on Windows, hence the header's value in `env`.
 */
function entryOf({ url, token }: Endpoint) {
  const { protocol, hostname } = new URL(url);
  const plainAndFar = protocol === 'http:' && hostname !== 'localhost' && hostname !== '127.0.0.1';
  const args = ['-y', 'mcp-remote', url];
  if (plainAndFar) args.push('--allow-http');
  if (token !== undefined) args.push('--header', 'Authorization:${TOOLHUB_AUTH}');
  const env = token === undefined ? {} : { env: { TOOLHUB_AUTH: `Bearer ${token}` } };
  return { command: 'npx', args, ...env };
}

export const claudeDesktopFile: ClientFile = {
  client: 'claude-desktop',
  title: 'Claude Desktop',
  format: 'json',
  path: ({ appFolder }) => join(appFolder, 'Claude', 'claude_desktop_config.json'),
  servers: 'mcpServers',
  entry: entryOf,
  takesKey: true,
  nextStep: 'Quit Claude Desktop and start it again; it needs npx (Node.js).',
};

export function claudeDesktop(endpoint: Endpoint): Snippet {
  return {
    client: 'claude-desktop',
    title: 'Claude Desktop',
    where: 'claude_desktop_config.json (Settings → Developer → Edit Config)',
    language: 'json',
    text: pretty({ mcpServers: { [endpoint.name]: entryOf(endpoint) } }),
  };
}
