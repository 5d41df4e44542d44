import type { Endpoint, Snippet } from './snippet.ts';

/** Codex takes a token from the environment only; one in its file is refused. */
export function codex({ name, url, token }: Endpoint): Snippet {
  const lines = [`[mcp_servers.${name}]`, `url = ${JSON.stringify(url)}`];
  if (token !== undefined) lines.push('bearer_token_env_var = "TOOLHUB_TOKEN"');
  const where = '~/.codex/config.toml';
  return {
    client: 'codex',
    title: 'Codex',
    where: token === undefined ? where : `${where}, and the access key in the environment as TOOLHUB_TOKEN`,
    language: 'toml',
    text: lines.join('\n'),
  };
}
