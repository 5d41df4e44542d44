import { authorization, type Endpoint, pretty, type Snippet } from './snippet.ts';

/** Windsurf calls the address `serverUrl`; an entry with `url` does not connect. */
export function windsurf({ name, url, token }: Endpoint): Snippet {
  return {
    client: 'windsurf',
    title: 'Windsurf',
    where: '~/.codeium/windsurf/mcp_config.json',
    language: 'json',
    text: pretty({ mcpServers: { [name]: { serverUrl: url, ...authorization(token) } } }),
  };
}
