import type { SmartView, Target } from '../core/access/view.ts';

/** The tools of a view that can be called now. */
export interface Searchable {
  /** Where each stands in the view's list, by its key in the index. */
  readonly places: ReadonlyMap<string, number>;
  /**
   * Those keys. The same set while nothing changes, and never changed itself: the index remembers what it made of it.
   */
  readonly allowed: ReadonlySet<string>;
}

export interface Availability {
  readonly key: (target: Target) => string;
  readonly available: (server: string) => boolean;
}

/** Made once for a view and the servers that are connected: with thousands of tools it takes longer than the search. */
export function searchable(view: SmartView, { key, available }: Availability): Searchable {
  const { targets } = view.tools;
  const known = kept.get(targets) ?? { servers: [...new Set(targets.map(({ server }) => server))], by: '', made: none };
  const here = new Set(known.servers.filter(available));
  const by = JSON.stringify([...here]);
  if (known.by === by) return known.made;
  const places = new Map<string, number>();
  for (const [index, target] of targets.entries()) if (here.has(target.server)) places.set(key(target), index);
  const made = { places, allowed: new Set(places.keys()) };
  kept.set(targets, { ...known, by, made });
  return made;
}

const none: Searchable = { places: new Map(), allowed: new Set() };

interface Kept {
  readonly servers: readonly string[];
  /** The connected ones of them, as text. */
  readonly by: string;
  readonly made: Searchable;
}

const kept = new WeakMap<readonly Target[], Kept>();
