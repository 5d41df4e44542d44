import { join } from 'node:path';
import type { ClientFile } from './client-file.ts';
import { authorization, type Endpoint, pretty, type Snippet } from './snippet.ts';

const entryOf = ({ url, token }: Endpoint) => ({ serverUrl: url, ...authorization(token) });

export const windsurfFile: ClientFile = {
  client: 'windsurf',
  title: 'Windsurf',
  format: 'json',
  path: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
  servers: 'mcpServers',
  entry: entryOf,
  takesKey: true,
  nextStep: 'Refresh the servers in Windsurf (Cascade → MCP), or start it again.',
};

/** Windsurf calls the address `serverUrl`; an entry with `url` does not connect. */
export function windsurf(endpoint: Endpoint): Snippet {
  return {
    client: 'windsurf',
    title: 'Windsurf',
    where: '~/.codeium/windsurf/mcp_config.json',
    language: 'json',
    text: pretty({ mcpServers: { [endpoint.name]: entryOf(endpoint) } }),
  };
}
