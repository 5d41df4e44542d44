import { authorization, type Endpoint, pretty, type Snippet } from './snippet.ts';

/** Cursor's file, and its install link: the name, and the entry as base64 of JSON. */
export function cursor({ name, url, token }: Endpoint): Snippet {
  const entry = { url, ...authorization(token) };
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
