import { join } from 'node:path';
import type { ClientFile } from './client-file.ts';
import { authorization, type Endpoint, shellWord, type Snippet } from './snippet.ts';

/** What `claude mcp add --scope user` writes. */
export const claudeCodeFile: ClientFile = {
  client: 'claude-code',
  title: 'Claude Code',
  format: 'json',
  path: ({ home }) => join(home, '.claude.json'),
  servers: 'mcpServers',
  entry: ({ url, token }) => ({ type: 'http', url, ...authorization(token) }),
  takesKey: true,
  nextStep: 'Start Claude Code again; "/mcp" signs in where the hub asks for it.',
};

/** `--header` comes last: it takes any number of values and would swallow the name. */
export function claudeCode({ name, url, token }: Endpoint): Snippet {
  const header = token === undefined ? [] : ['--header', `Authorization: Bearer ${token}`];
  const words = ['claude', 'mcp', 'add', '--transport', 'http', name, url, ...header];
  return {
    client: 'claude-code',
    title: 'Claude Code',
    where: 'in a terminal',
    language: 'shell',
    text: words.map(shellWord).join(' '),
  };
}
