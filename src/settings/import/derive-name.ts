import { serverNameFrom, type ServerEntry } from '../server/server-entry.ts';

/** A name for a server that came without one: of its package, its script, its image or its host. */
export function deriveName({ url, command = '', args = [] }: ServerEntry): string {
  if (url !== undefined) return fromHost(url);
  const program =
    command
      .split(/[/\\]/)
      .at(-1)
      ?.replace(/\.(exe|cmd|bat)$/i, '') ?? '';
  if (program === 'docker' || program === 'podman')
    return fromPackage(args.findLast((arg) => /^[\w.-]+(\/[\w.-]+)+/.test(arg)) ?? program);
  if (program === 'cmd') return deriveName({ command: args[1] ?? '', args: args.slice(2) });
  const words = args.filter((arg) => !arg.startsWith('-') && !['dlx', 'exec', 'run', 'tool', 'x'].includes(arg));
  if (runners.has(program)) return fromPackage(words[0] ?? program);
  if (interpreters.has(program)) return fromScript(words[0] ?? program);
  return fromPackage(program);
}

const runners = new Set(['npx', 'bunx', 'uvx', 'pnpm', 'pnpx', 'yarn', 'npm', 'pipx', 'uv', 'bun', 'deno']);
const interpreters = new Set(['node', 'python', 'python3', 'tsx', 'ts-node', 'ruby', 'java', 'php', 'bash', 'sh']);

/** `@modelcontextprotocol/server-github@1.2` → `github`. */
function fromPackage(text: string): string {
  const name = serverNameFrom(text.replace(/(?<=.)[@:=].*$/, ''));
  const short = name.replace(/^(mcp[-_])?server[-_]|^mcp[-_]|[-_]mcp([-_]server)?$|[-_]server$/gi, '');
  return short === '' ? name : short;
}

/** `/srv/notes/dist/index.js` → `notes`. */
function fromScript(text: string): string {
  const parts = text.split(/[/\\]/).filter((part) => part !== '' && part !== '.');
  const said = parts
    .map((part) => part.replace(/\.\w+$/, ''))
    .filter((part) => !/^(index|main|server|app|__main__|dist|build|src|lib|out|bin)$/.test(part));
  return fromPackage(said.at(-1) ?? parts.at(-1) ?? 'server');
}

/** `https://mcp.notion.com/mcp` → `notion`; `http://localhost:3001` → `localhost-3001`. */
function fromHost(url: string): string {
  if (!URL.canParse(url)) return 'server';
  const { hostname, port } = new URL(url);
  const labels = hostname.split('.').filter((label) => !/^(www|mcp|api|server)$/.test(label));
  const isName = labels.length > 1 && !/^\d+$/.test(labels.at(-1) ?? '');
  return serverNameFrom(isName ? (labels.at(-2) ?? hostname) : [hostname, port].filter(Boolean).join('-'));
}
