import { rowOf } from '../../ui/key-values.tsx';
import { type Draft, emptyDraft, type NewServer } from './config.ts';

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

interface Named {
  readonly name?: string;
  readonly value?: string;
  readonly default?: string;
  readonly isRequired?: boolean;
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
}

export interface RegistryAnswer {
  readonly servers: readonly RegistryServer[];
  readonly nextCursor?: string;
}

/**
 * The form filled in for it; undefined when this hub knows no way to start it. A remote address is taken before a
 * program: nothing has to be installed.
 */
export function newServerOf(server: RegistryServer, programs: boolean): NewServer | undefined {
  const draft = remoteDraft(server) ?? (programs ? packageDraft(server) : undefined);
  if (!draft) return undefined;
  const name = (server.name.split('/').at(-1) ?? server.name).replace(/[^\w.-]+/g, '-').slice(0, 40);
  return { name, draft: { ...draft, description: server.description ?? '' } };
}

function remoteDraft({ remotes = [] }: RegistryServer): Draft | undefined {
  const remote = remotes.find(({ type, url }) => url !== undefined && (type === 'streamable-http' || type === 'sse'));
  if (!remote) return undefined;
  return {
    ...emptyDraft,
    type: remote.type === 'sse' ? 'sse' : 'streamable-http',
    url: remote.url ?? '',
    headers: (remote.headers ?? []).map(({ name = '', value = '' }) => rowOf(name, value)),
  };
}

const runners: Readonly<Record<string, { command: string; before: readonly string[]; join: string }>> = {
  npm: { command: 'npx', before: ['-y'], join: '@' },
  pypi: { command: 'uvx', before: [], join: '==' },
  oci: { command: 'docker', before: ['run', '-i', '--rm'], join: ':' },
  nuget: { command: 'dnx', before: [], join: '@' },
};

function packageDraft({ packages = [] }: RegistryServer): Draft | undefined {
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
    const args = [
      ...runner.before,
      ...forwarded,
      ...wordsOf(found.runtimeArguments),
      pinned,
      ...wordsOf(found.packageArguments),
    ];
    return {
      ...emptyDraft,
      type: 'stdio',
      command: runtimeHint ?? runner.command,
      args: args.join('\n'),
      env: variables.map(({ name = '', value, default: first = '' }) => rowOf(name, value ?? first)),
    };
  }
  return undefined;
}

function wordsOf(list: readonly Argument[] = []): readonly string[] {
  return list.flatMap(({ type, name, value, default: first, valueHint, isRequired }) => {
    const given = value ?? first ?? (isRequired === true && valueHint !== undefined ? `<${valueHint}>` : undefined);
    if (type === 'named' && name !== undefined) return given === undefined ? [] : [name, given];
    return given === undefined ? [] : [given];
  });
}
