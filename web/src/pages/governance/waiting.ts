import type { Pin } from '../../api/types.ts';

const order = ['high', 'low', 'none'];

/** The grave ones first, then by server and name. */
export function waiting(pins: readonly Pin[]): readonly Pin[] {
  return pins
    .filter(({ state }) => state !== 'approved')
    .toSorted(
      (a, b) =>
        order.indexOf(a.risk) - order.indexOf(b.risk) ||
        a.server.localeCompare(b.server) ||
        a.name.localeCompare(b.name),
    );
}
