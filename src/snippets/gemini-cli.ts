import { join } from 'node:path';
import type { ClientFile } from './client-file.ts';
import { authorization, type Endpoint, pretty, type Snippet } from './snippet.ts';

const entryOf = ({ url, token }: Endpoint) => ({ httpUrl: url, ...authorization(token) });

export const geminiCliFile: ClientFile = {
  client: 'gemini-cli',
  title: 'Gemini CLI',
  format: 'json',
  path: ({ home }) => join(home, '.gemini', 'settings.json'),
  servers: 'mcpServers',
  entry: entryOf,
  takesKey: true,
  nextStep: 'Start Gemini CLI again; "/mcp auth" signs in where the hub asks for it.',
};

/** Gemini CLI takes `url` for legacy SSE; streamable HTTP is `httpUrl`. */
export function geminiCli(endpoint: Endpoint): Snippet {
  return {
    client: 'gemini-cli',
    title: 'Gemini CLI',
    where: '~/.gemini/settings.json',
    language: 'json',
    text: pretty({ mcpServers: { [endpoint.name]: entryOf(endpoint) } }),
  };
}
