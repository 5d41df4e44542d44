import type { ConnectScope } from '../../api/queries.ts';
import type { Credential } from './seen.ts';

const reaches = ['all', 'smart', 'code', 'group', 'server'] as const;
const credentials: readonly Credential[] = ['key', 'have', 'signIn', 'none'];

/** What has been chosen so far. It is in the address, so that a reload and the way back keep it. */
export interface Choices {
  readonly client?: string | undefined;
  readonly reach?: (typeof reaches)[number] | undefined;
  /** The id of a group, or the name of a server. */
  readonly name?: string | undefined;
  readonly credential?: Credential | undefined;
  /** The id of the key that was made, which opens nothing. */
  readonly key?: string | undefined;
  /** See `seen.ts`. */
  readonly since?: string | undefined;
}

export type Part = { readonly [K in keyof Choices]: Choices[K] };

/** What stands in the address, as far as it makes sense. */
export function choicesIn(search: Readonly<Record<string, string | undefined>>): Choices {
  const { client, name, key, since } = search;
  const reach = reaches.find((each) => each === search['reach']);
  const isNamed = name !== undefined || reach === 'all' || reach === 'smart' || reach === 'code';
  const credential = credentials.find((each) => each === search['credential']);
  return { client, name, key, since, ...(isNamed && { reach }), credential };
}

export function scopeOf({ reach, name }: Choices): ConnectScope {
  if (reach === 'smart') return { smart: true, ...(name !== undefined && { group: name }) };
  if (reach === 'code') return { code: true, ...(name !== undefined && { group: name }) };
  if (name === undefined) return {};
  return reach === 'server' ? { server: name } : reach === 'group' ? { group: name } : {};
}
