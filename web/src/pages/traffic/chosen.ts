import { getRouteApi } from '@tanstack/react-router';
import { type Span, spans } from '../../api/records.ts';

const route = getRouteApi('/shell/activity/traffic');
const names = Object.keys(spans) as Span[];

/** What the picture is of: all calls, or those of one client, endpoint or server. */
export interface Chosen {
  readonly since: Span;
  readonly client?: string | undefined;
  readonly scope?: string | undefined;
  readonly server?: string | undefined;
}

/** As the address has it; an empty text is what the records have no value for. */
export function useChosen(): Chosen {
  const { since, client, scope, server, without = '' } = route.useSearch();
  const lacks = without.split(',');
  return {
    since: names.find((name) => name === since) ?? '24h',
    client: lacks.includes('client') ? '' : client,
    scope: lacks.includes('scope') ? '' : scope,
    server,
  };
}

/** The address of a picture, and the filter of the calls in it. */
export function asSearch({ since, client, scope, server }: Chosen) {
  const lacks = [...(client === '' ? ['client'] : []), ...(scope === '' ? ['scope'] : [])].join(',');
  return { since, ...asFilter({ client, scope, server }), without: lacks || undefined };
}

function asFilter({ client, scope, server }: Omit<Chosen, 'since'>) {
  return { client: client || undefined, scope: scope || undefined, server };
}

/** What the columns are of. Of a server that was chosen the tools are told apart. */
export function columnsOf({ server }: Chosen): readonly ('client' | 'scope' | 'server' | 'tool')[] {
  return ['client', 'scope', server === undefined ? 'server' : 'tool'];
}
