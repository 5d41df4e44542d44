import type { ActivityGroup, ServerSummary } from '../../api/types.ts';
import { needsPerson } from './condition.ts';

/** How the list of servers can be ordered. */
export const orders = ['problems', 'name', 'calls', 'failed', 'slow'] as const;
export type Order = (typeof orders)[number];

type Figures = Pick<ActivityGroup, 'calls' | 'failed' | 'p95'>;

export function failedShare({ failed, calls }: Pick<Figures, 'failed' | 'calls'>): number {
  return calls === 0 ? 0 : failed / calls;
}

/** So many calls of a server fail that it is worth a look: a tenth of them, and more than a slip or two. */
export function isFailing(figures: Figures | undefined): boolean {
  return figures !== undefined && figures.failed >= 3 && failedShare(figures) >= 0.1;
}

/**
 * Those that were just added first, whatever the order; with `problems` then those that need a person, and those whose
 * calls fail. What is alike stays as the settings have it.
 */
export function inOrder(
  servers: readonly ServerSummary[],
  order: Order,
  {
    fresh,
    figures,
  }: { readonly fresh: ReadonlySet<string>; readonly figures?: ReadonlyMap<string, Figures> | undefined },
): ServerSummary[] {
  const of = (server: ServerSummary): Figures => figures?.get(server.name) ?? { calls: 0, failed: 0, p95: 0 };
  const value = (server: ServerSummary): number => {
    switch (order) {
      case 'problems':
        return needsPerson(server) ? 2 : isFailing(of(server)) ? 1 : 0;
      case 'calls':
        return of(server).calls;
      case 'failed':
        return failedShare(of(server));
      case 'slow':
        return of(server).p95;
      case 'name':
        return 0;
    }
  };
  return servers.toSorted(
    (a, b) =>
      Number(fresh.has(b.name)) - Number(fresh.has(a.name)) ||
      value(b) - value(a) ||
      (order === 'name' ? a.name.localeCompare(b.name) : 0),
  );
}
