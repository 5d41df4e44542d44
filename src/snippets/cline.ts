import { join } from 'node:path';
import { type ClientFile, vscodeFolder } from './client-file.ts';
import { authorization, type Endpoint, pretty, type Snippet } from './snippet.ts';

const entryOf = ({ url, token }: Endpoint) => ({
  type: 'streamableHttp',
  url,
  ...authorization(token),
  disabled: false,
  autoApprove: [],
});

/** That of the extension in VS Code. */
export const clineFile: ClientFile = {
  client: 'cline',
  title: 'Cline',
  format: 'json',
  path: (folders) =>
    join(vscodeFolder(folders), 'globalStorage', 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json'),
  servers: 'mcpServers',
  entry: entryOf,
  takesKey: true,
  nextStep: 'Cline sees the change by itself; its page of MCP servers shows the hub, and signs in.',
};

/** Without its `type` Cline takes a URL for a legacy SSE endpoint. */
export function cline(endpoint: Endpoint): Snippet {
  return {
    client: 'cline',
    title: 'Cline',
    where: 'cline_mcp_settings.json (MCP Servers → Configure)',
    language: 'json',
    text: pretty({ mcpServers: { [endpoint.name]: entryOf(endpoint) } }),
  };
}
