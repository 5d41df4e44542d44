import { join } from 'node:path';
import type { ClientFile } from './client-file.ts';
import { authorization, type Endpoint, pretty, type Snippet } from './snippet.ts';

const entryOf = ({ url, token }: Endpoint) => ({ url, ...authorization(token) });

export const cursorFile: ClientFile = {
  client: 'cursor',
  title: 'Cursor',
  format: 'json',
  path: ({ home }) => join(home, '.cursor', 'mcp.json'),
  servers: 'mcpServers',
  entry: entryOf,
  takesKey: true,
  nextStep: 'Cursor sees the change by itself; Settings → MCP shows the server, and signs in.',
};

/** Cursor's file, and its install link: the name, and the entry as base64 of JSON. */
export function cursor(endpoint: Endpoint): Snippet {
  const { name } = endpoint;
  const entry = entryOf(endpoint);
  const query = new URLSearchParams({ name, config: Buffer.from(JSON.stringify(entry)).toString('base64') });
  return {
    client: 'cursor',
    title: 'Cursor',
    where: '~/.cursor/mcp.json (or .cursor/mcp.json in a project)',
    language: 'json',
    text: pretty({ mcpServers: { [name]: entry } }),
    installUrl: `cursor://anysphere.cursor-deeplink/mcp/install?${query.toString()}`,
  };
}
