import { type Endpoint, shellWord, type Snippet } from './snippet.ts';

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
