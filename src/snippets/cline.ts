import { authorization, type Endpoint, pretty, type Snippet } from './snippet.ts';

/** Without its `type` Cline takes a URL for a legacy SSE endpoint. */
export function cline({ name, url, token }: Endpoint): Snippet {
  const entry = { type: 'streamableHttp', url, ...authorization(token), disabled: false, autoApprove: [] };
  return {
    client: 'cline',
    title: 'Cline',
    where: 'cline_mcp_settings.json (MCP Servers → Configure)',
    language: 'json',
    text: pretty({ mcpServers: { [name]: entry } }),
  };
}
