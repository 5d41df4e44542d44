import { authorization, type Endpoint, pretty, type Snippet } from './snippet.ts';

/** Gemini CLI takes `url` for legacy SSE; streamable HTTP is `httpUrl`. */
export function geminiCli({ name, url, token }: Endpoint): Snippet {
  return {
    client: 'gemini-cli',
    title: 'Gemini CLI',
    where: '~/.gemini/settings.json',
    language: 'json',
    text: pretty({ mcpServers: { [name]: { httpUrl: url, ...authorization(token) } } }),
  };
}
