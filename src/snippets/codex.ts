import { join } from 'node:path';
import type { ClientFile } from './client-file.ts';
import type { Endpoint, Snippet } from './snippet.ts';

export const codexFile: ClientFile = {
  client: 'codex',
  title: 'Codex',
  format: 'toml',
  path: ({ home }) => join(home, '.codex', 'config.toml'),
  servers: 'mcp_servers',
  entry: ({ url }) => ({ url }),
  takesKey: false,
  nextStep: 'Start Codex again; "codex mcp login <name>" signs in where the hub asks for it.',
};

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
