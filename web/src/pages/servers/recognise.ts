import { fieldsOf } from './command-line.ts';
import { type Draft, emptyDraft } from './config.ts';
import { asksIn, type NewServer } from './asks.ts';

/** What a pasted text is. */
export type Recognised =
  | { readonly kind: 'url' | 'command'; readonly server: NewServer }
  /** Settings of a client, an install link, several servers: for the hub to read. */
  | { readonly kind: 'settings' }
  | { readonly kind: 'registry'; readonly name: string };

/** No value that a field takes looks like it: values may be JSON too. */
const settingsOfClients = /"(?:mcpServers|servers|context_servers|mcp_servers|mcp)"\s*:\s*[{[]/;
const oneServer = /^\s*\{[^]*"(?:command|url|serverUrl|httpUrl)"\s*:/;
const toml = /^\s*\[\s*"?(?:mcp_servers|mcpServers)\b/m;
const fence = /^\s*```/;
/** `claude mcp add …`, `code --add-mcp …`. */
const addCommand = /^(?:[$>%]\s+)?[\w.-]+\s+(?:mcp\s+add(?:-json)?|--add-mcp)\s/;
const installLink =
  /^(?:cursor|vscode|vscode-insiders):|^https?:\/\/[^?#]*(?:install|redirect)[^?#]*\?.*(?:config|url)=/i;
const registryName = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+\/[\w.-]+$/i;
const apiDocument = /(?:openapi|swagger)[^/?#]*$|\.ya?ml$/i;

/** Whether it is the settings of a client beyond doubt, whatever field it was pasted into. */
export function isSettings(text: string): boolean {
  return (/^\s*\{/.test(text) && settingsOfClients.test(text)) || toml.test(text) || addCommand.test(text.trim());
}

/** What a text is, of what servers can be made of; undefined for words to search for, and for what is nothing known. */
export function recognise(pasted: string): Recognised | undefined {
  const text = pasted.trim();
  if (text === '') return undefined;
  if (isSettings(text) || oneServer.test(text) || installLink.test(text) || fence.test(text))
    return { kind: 'settings' };
  // A line that ends with \ goes on in the next.
  const lines = text.replace(/\\\r?\n\s*/g, ' ').split(/\s*\r?\n\s*/);
  if (lines.length > 1) return lines.every((line) => ofLine(line) !== undefined) ? { kind: 'settings' } : undefined;
  return ofLine(lines[0] ?? '');
}

function ofLine(line: string): Recognised | undefined {
  if (/^https?:\/\/\S+$/i.test(line) && URL.canParse(line)) return { kind: 'url', server: fromUrl(line) };
  if (registryName.test(line)) return { kind: 'registry', name: line };
  const fields = fieldsOf(line);
  if (fields === undefined) return undefined;
  const draft: Draft = { ...emptyDraft, ...fields };
  return { kind: 'command', server: { name: nameOfCommand(fields), draft, asks: asksIn(draft) } };
}

function fromUrl(url: string): NewServer {
  const { hostname, pathname } = new URL(url);
  const isApi = apiDocument.test(pathname);
  const draft: Draft = isApi ? { ...emptyDraft, type: 'openapi', apiUrl: url } : { ...emptyDraft, type: 'auto', url };
  // `mcp.notion.com` is `notion`; an address of numbers has no name.
  const labels = hostname.split('.').filter((label) => !/^(?:www|mcp|api|server)$/.test(label));
  const name = /^[\d.]+$|^\[/.test(hostname) ? '' : (labels.at(-2) ?? labels[0] ?? '');
  return { name, draft, asks: asksIn(draft) };
}

const notNames = /^(?:-|\.|dlx$|exec$|run$|tool$|x$|compose$|[A-Za-z_]\w*=)/;

/** `npx -y @modelcontextprotocol/server-github@1` is `github`, `node /srv/notes/dist/index.js` `notes`. */
function nameOfCommand({ command, args }: Pick<Draft, 'command' | 'args'>): string {
  const words = args.split('\n');
  const isContainer = /^(?:docker|podman)/.test(command);
  const image = words.findLast((word) => /^[\w.-]+(?:\/[\w.-]+)+/.test(word));
  const said = (isContainer ? image : words.find((word) => !notNames.test(word))) ?? command;
  const parts = said
    .replace(/(?<=.)[@:=].*$/, '')
    .split(/[/\\]/)
    .map((part) => part.replace(/\.(?:m?[jt]s|py|exe|cmd|rb|jar)$/i, ''))
    .filter((part) => part !== '' && part !== '.');
  const isFile = parts.length > 1 && !said.startsWith('@');
  const named = isFile
    ? parts.filter((part) => !/^(?:index|main|server|app|__main__|dist|build|src|lib|out|bin)$/.test(part))
    : parts;
  const name = (named.at(-1) ?? '').replace(/[^\w.-]+/g, '-');
  return name.replace(/^(?:mcp[-_])?server[-_]|^mcp[-_]|[-_]mcp(?:[-_]server)?$|[-_]server$/gi, '') || name;
}
