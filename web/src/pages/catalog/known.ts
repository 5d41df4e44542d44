import { type Ask, openRows, type NewServer } from '../servers/asks.ts';
import { emptyDraft } from '../servers/config.ts';
import list from './known-servers.json';

export const categories = ['files', 'code', 'web', 'data', 'work', 'talk', 'cloud', 'media', 'mind'] as const;
export type Category = (typeof categories)[number];

/** What a server has to be given. */
export const kinds = [
  'key',
  'token',
  'folder',
  'file',
  'address',
  'host',
  'connection',
  'user',
  'password',
  'id',
  'secret',
  'name',
] as const;
export type Kind = (typeof kinds)[number];
const secrets: ReadonlySet<Kind> = new Set<Kind>(['key', 'token', 'connection', 'password', 'secret']);

export interface Need {
  /** As in `Ask`. */
  readonly key: string;
  readonly kind: Kind;
  readonly optional?: boolean;
  /** The page of its maker where such a key is made. */
  readonly from?: string;
}

/**
 * A server of the list that comes with the hub: it is an npm or PyPI package, or at a public address. The list is no
 * recommendation, and nothing in it is connected before it is added.
 */
export interface KnownServer {
  /** Its name in this hub, unless another is typed. */
  readonly name: string;
  readonly title: string;
  readonly category: Category;
  /** What it does, in English; other languages have it among their texts (`catalog.about`, by `name`). */
  readonly about: string;
  readonly home: string;
  readonly npm?: string;
  readonly pypi?: string;
  readonly url?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** It wants an account: after it was added (by its sign-in), or on the hub's machine. */
  readonly signIn?: boolean;
  readonly needs?: readonly Need[];
}

// Its shape is tested (`known.test.ts`); of texts in JSON the compiler knows only that they are texts.
export const knownServers = list as readonly unknown[] as readonly KnownServer[];

/** The form filled in for it. `labelOf` names what is asked for. */
export function knownDraft(server: KnownServer, labelOf: (kind: Kind) => string): NewServer {
  const { name, npm, pypi, url, args = [], needs = [], about } = server;
  const command = npm === undefined ? 'uvx' : 'npx';
  const words = npm === undefined ? [pypi ?? '', ...args] : ['-y', npm, ...args];
  const reach =
    url === undefined
      ? { type: 'stdio' as const, command, args: words.join('\n'), env: openRows(server.env) }
      : { type: 'auto' as const, url, headers: openRows(server.headers) };
  return {
    name,
    isKnown: true,
    // What tools do is described for search too, in the language of most tools.
    draft: { ...emptyDraft, ...reach, description: about },
    asks: needs.map((need) => askOf(need, labelOf)),
  };
}

function askOf({ key, kind, optional = false, from }: Need, labelOf: (kind: Kind) => string): Ask {
  const isPlace = key.startsWith('<');
  return {
    key,
    label: labelOf(kind),
    ...(!isPlace && { hint: key }),
    ...(from !== undefined && { from }),
    secret: secrets.has(kind),
    required: !optional,
  };
}

/** What has to be there before a server works. */
export type Requirement = 'node' | 'uv' | 'docker' | 'dotnet' | 'account' | 'key' | 'value' | 'nothing';

export function requirementsOf({ npm, pypi, signIn = false, needs = [] }: KnownServer): readonly Requirement[] {
  const wanted = needs.filter(({ optional = false }) => !optional);
  const found: Requirement[] = [];
  if (npm !== undefined) found.push('node');
  if (pypi !== undefined) found.push('uv');
  if (signIn) found.push('account');
  if (wanted.some(({ kind }) => secrets.has(kind))) found.push('key');
  else if (wanted.length > 0) found.push('value');
  return found.length === 0 ? ['nothing'] : found;
}
