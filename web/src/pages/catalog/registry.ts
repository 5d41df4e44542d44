import { rowOf, type Row } from '../../ui/key-values.tsx';
import type { Ask, NewServer } from '../servers/asks.ts';
import { type Draft, emptyDraft } from '../servers/config.ts';
import type { Requirement } from './known.ts';

/** What the MCP registry says of a server (its `v0` API), as far as it is used here. */
export interface RegistryServer {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly version?: string;
  readonly repository?: { readonly url?: string };
  readonly packages?: readonly RegistryPackage[];
  readonly remotes?: readonly RegistryRemote[];
}

interface Value {
  readonly value?: string;
  readonly default?: string;
  readonly description?: string;
  readonly isRequired?: boolean;
  readonly isSecret?: boolean;
}

interface Named extends Value {
  readonly name?: string;
  /** Of `{name}` in the value. */
  readonly variables?: Readonly<Record<string, Value>>;
}

interface Argument extends Named {
  readonly type?: 'positional' | 'named';
  readonly valueHint?: string;
}

interface RegistryPackage {
  readonly registryType?: string;
  readonly identifier?: string;
  readonly version?: string;
  readonly runtimeHint?: string;
  readonly environmentVariables?: readonly Named[];
  readonly runtimeArguments?: readonly Argument[];
  readonly packageArguments?: readonly Argument[];
}

interface RegistryRemote {
  readonly type?: string;
  readonly url?: string;
  readonly headers?: readonly Named[];
  readonly variables?: Readonly<Record<string, Value>>;
}

export interface RegistryAnswer {
  readonly servers: readonly RegistryServer[];
  readonly nextCursor?: string;
}

/** A way to it, with what it asks for. */
interface Way {
  readonly draft: Draft;
  readonly asks: readonly Ask[];
  readonly needs: readonly Requirement[];
}

/** The form filled in for it, and what has to be there before. */
export interface Taken {
  readonly server: NewServer;
  readonly needs: readonly Requirement[];
  /** It is a program on the hub's machine. */
  readonly isProgram: boolean;
}

/**
 * Undefined when this hub knows no way to start it. A remote address is taken before a program: nothing has to be
 * installed.
 */
export function takenOf(server: RegistryServer): Taken | undefined {
  const way = remoteWay(server) ?? packageWay(server);
  if (!way) return undefined;
  const { draft, asks, needs } = way;
  const name = (server.name.split('/').at(-1) ?? server.name).replace(/[^\w.-]+/g, '-').slice(0, 40);
  const open = asks.some(({ required, secret }) => required && secret) ? (['key'] as const) : [];
  const all = [...needs, ...open];
  return {
    server: { name, draft: { ...draft, description: server.description ?? '' }, asks, isKnown: true },
    needs: all.length === 0 ? ['nothing'] : all,
    isProgram: draft.type === 'stdio',
  };
}

function remoteWay({ remotes = [] }: RegistryServer): Way | undefined {
  const remote = remotes.find(({ type, url }) => url !== undefined && (type === 'streamable-http' || type === 'sse'));
  if (!remote) return undefined;
  const { type, url = '', headers = [], variables } = remote;
  return {
    draft: {
      ...emptyDraft,
      type: type === 'sse' ? 'sse' : 'streamable-http',
      url: withPlaces(url),
      headers: rowsOf(headers),
    },
    asks: [...asksOfPlaces(url, variables), ...asksOf(headers)],
    needs: [],
  };
}

interface Runner {
  readonly command: string;
  readonly before: readonly string[];
  readonly join: string;
  readonly needs: Requirement;
}

const runners: Readonly<Record<string, Runner>> = {
  npm: { command: 'npx', before: ['-y'], join: '@', needs: 'node' },
  pypi: { command: 'uvx', before: [], join: '==', needs: 'uv' },
  oci: { command: 'docker', before: ['run', '-i', '--rm'], join: ':', needs: 'docker' },
  nuget: { command: 'dnx', before: [], join: '@', needs: 'dotnet' },
};

function packageWay({ packages = [] }: RegistryServer): Way | undefined {
  for (const found of packages) {
    const { registryType = '', identifier, version, runtimeHint } = found;
    const runner = Object.hasOwn(runners, registryType) ? runners[registryType] : undefined;
    if (!runner || identifier === undefined) continue;
    const pinned =
      version === undefined || version === 'latest' || identifier.includes(':')
        ? identifier
        : `${identifier}${runner.join}${version}`;
    const variables = found.environmentVariables ?? [];
    const forwarded = registryType === 'oci' ? variables.flatMap(({ name = '' }) => ['-e', name]) : [];
    const own = [...(found.runtimeArguments ?? []), ...(found.packageArguments ?? [])];
    const args = [
      ...runner.before,
      ...forwarded,
      ...wordsOf(found.runtimeArguments),
      pinned,
      ...wordsOf(found.packageArguments),
    ];
    return {
      draft: {
        ...emptyDraft,
        type: 'stdio',
        command: runtimeHint ?? runner.command,
        args: args.join('\n'),
        env: rowsOf(variables),
      },
      asks: [...own.flatMap((argument) => asksOfArgument(argument)), ...asksOf(variables)],
      needs: [runner.needs],
    };
  }
  return undefined;
}

function wordsOf(list: readonly Argument[] = []): readonly string[] {
  return list.flatMap((argument) => {
    const { type, name } = argument;
    const given = valueOf(argument);
    if (type === 'named' && name !== undefined) return given === undefined ? [] : [name, given];
    return given === undefined ? [] : [given];
  });
}

/** A place of its own where the argument is required and says no value. */
function valueOf({ value, default: first, valueHint, isRequired }: Argument): string | undefined {
  const given = value ?? first;
  if (given !== undefined) return withPlaces(given);
  return isRequired === true && valueHint !== undefined ? `<${valueHint}>` : undefined;
}

function asksOfArgument(argument: Argument): readonly Ask[] {
  const { value, default: first, valueHint = '', variables } = argument;
  const given = value ?? first;
  if (given !== undefined) return asksOfPlaces(given, variables);
  return valueOf(argument) === undefined ? [] : [askOf(`<${valueHint}>`, argument, valueHint)];
}

function rowsOf(list: readonly Named[]): readonly Row[] {
  return list.map(({ name = '', value, default: first = '' }) => rowOf(name, withPlaces(value ?? first)));
}

/** Variables and headers without a value, and the places in those that have one. */
function asksOf(list: readonly Named[]): readonly Ask[] {
  return list.flatMap((each) => {
    const { name = '', value, default: first = '', variables } = each;
    const given = value ?? first;
    return given === '' ? [askOf(name, each)] : asksOfPlaces(given, variables);
  });
}

/** `{name}`, as the registry writes a place, is `<name>` in the form. */
function withPlaces(text: string): string {
  return text.replace(places, (_, name: string) => `<${name}>`);
}

const places = /(?<!\$)\{([A-Za-z][\w.-]*)\}/g;

function asksOfPlaces(text: string, variables: Readonly<Record<string, Value>> = {}): readonly Ask[] {
  return [...text.matchAll(places)].map(([, name = '']) => {
    const about = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return askOf(`<${name}>`, { isRequired: true, isSecret: true, ...about }, name);
  });
}

function askOf(key: string, { description, isRequired, isSecret }: Value, label?: string): Ask {
  return {
    key,
    ...(label !== undefined && { label }),
    ...(description !== undefined && { hint: description }),
    secret: isSecret ?? /key|token|secret|passw|auth/i.test(key),
    required: isRequired ?? false,
  };
}
