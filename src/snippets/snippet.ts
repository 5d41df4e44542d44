import { createHash } from 'node:crypto';

/** What a client is to be connected to. */
export interface Endpoint {
  /** What the client will call the hub; see `clientName`. */
  readonly name: string;
  /** See `endpointUrl`. */
  readonly url: string;
  /** An access key, when the endpoint asks for one. */
  readonly token?: string | undefined;
}

/** How one AI client is connected to one endpoint: text to paste, and where. */
export interface Snippet {
  /** Stable id: `claude-code`. */
  readonly client: string;
  /** The client's own name: `Claude Code`. */
  readonly title: string;
  /** The place the text goes to, as a phrase: `in a terminal`, `~/.cursor/mcp.json`. */
  readonly where: string;
  readonly language: 'shell' | 'json' | 'toml' | 'text';
  readonly text: string;
  /** A link that makes the client add the endpoint by itself. */
  readonly installUrl?: string;
  /** A command line that does it, where the client keeps a file. */
  readonly command?: string;
}

/**
 * The address of a group, a server, or `$smart`, as clients need it. Everything outside `[A-Za-z0-9._~-]` is
 * percent-encoded, `$` too: shells and some clients would take `$smart` for a variable.
 */
export function endpointUrl(mcpUrl: string, ...path: readonly string[]): string {
  return [mcpUrl, ...path.map(encodeSegment)].join('/');
}

function encodeSegment(segment: string): string {
  const wellFormed = segment.replace(/\p{Surrogate}/gu, '\ufffd');
  return encodeURIComponent(wellFormed).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Whether clients that are services on the internet may get to the address: not with plain http, or on this machine. */
export function isFromElsewhere(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' && hostname !== 'localhost' && !/^(?:127\.|\[::1\])/.test(hostname);
}

/** A name every client accepts (letters, digits, `-`, `_`): `toolhub` for everything, `toolhub-<group>` for a group. */
export function clientName(group?: string): string {
  if (group === undefined) return 'toolhub';
  const plain = group.replace(/[^A-Za-z0-9_]+/g, '-').replace(/^-+|-+$/g, '');
  // Two groups called 搜索 and 文件 must not end up with one name.
  const tail = plain === group ? plain : [plain, shortHash(group)].filter(Boolean).join('-');
  return `toolhub-${tail}`;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6);
}

/** HTTP headers that carry the token; nothing without one. */
export function authorization(token: string | undefined): { headers?: { Authorization: string } } {
  return token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };
}

/** JSON as people write it in settings files. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** One word of a command line. Double quotes where they do, because cmd.exe knows no others. */
export function shellWord(text: string): string {
  if (/^(?!~)[\w./:@%+=,~-]+$/.test(text)) return text;
  if (/^[^"$`\\!]*$/.test(text)) return `"${text}"`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
