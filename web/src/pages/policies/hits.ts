import type { Simulation } from '../../api/types.ts';

/** What a policy would have done with the calls of one tool by one caller. */
export interface Hit {
  readonly tool: string;
  /** Undefined: without a credential. */
  readonly caller: string | undefined;
  readonly refused: number;
  readonly asked: number;
  /** Of the newest of them. */
  readonly last: string;
}

/** Who is hit, by tool and caller, the most calls first. */
export function hitsOf({ refused, asked }: Pick<Simulation, 'refused' | 'asked'>): readonly Hit[] {
  const found = new Map<string, Hit>();
  const add = (calls: Simulation['refused'], kind: 'refused' | 'asked') => {
    for (const { tool, caller, timestamp } of calls) {
      const key = JSON.stringify([tool, caller]);
      const hit = found.get(key) ?? { tool, caller, refused: 0, asked: 0, last: timestamp };
      const last = timestamp > hit.last ? timestamp : hit.last;
      found.set(key, { ...hit, [kind]: hit[kind] + 1, last });
    }
  };
  add(refused, 'refused');
  add(asked, 'asked');
  return [...found.values()].toSorted(
    (a, b) => b.refused + b.asked - a.refused - a.asked || a.tool.localeCompare(b.tool),
  );
}
