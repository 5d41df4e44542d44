import type { Offer } from '../catalogue.ts';
import { pinId, pinnables } from './pin-item.ts';
import type { Baseline, Pin } from './pin-states.ts';

/** Changes of a baseline, which make another one. */

/** All that is offered, `since` in milliseconds since the epoch. */
export function firstSeen(offer: Offer, since: number): Baseline {
  const approved = new Map(pinnables(offer).map(({ id, text }) => [id, { text, since }]));
  return { approved, rejected: new Set(), seen: new Map() };
}

/** Of a server whose baseline was lost, or cannot be read: all that it offers is new. */
export function nothingApproved(): Baseline {
  return { approved: new Map(), rejected: new Set(), seen: new Map() };
}

/** Whether what waits was noticed before, with the same text. */
export function isSeen(seen: Baseline['seen'], { id, now }: Pick<Pin, 'id' | 'now'>): boolean {
  const known = seen.get(id);
  return known !== undefined && known.text === now;
}

/** With what is seen now; the same object where nothing of it is new. */
export function withSeen(baseline: Baseline, seen: Baseline['seen'], isStale: boolean): Baseline {
  const before = baseline.seen;
  const news = [...seen].filter(([id, { text }]) => !isSeen(before, { id, now: text }));
  const isWhole = isStale || before.size === 0;
  if (news.length === 0 && (!isWhole || before.size === seen.size)) return baseline;
  return { ...baseline, seen: isWhole ? seen : new Map([...before, ...news]) };
}

/** With a decision about these things of an offer, `since` in milliseconds since the epoch. */
export function decided(
  baseline: Baseline,
  offer: Offer,
  meant: readonly Pin[],
  decision: 'approve' | 'reject',
  since: number,
): Baseline {
  const approved = new Map(baseline.approved);
  const rejected = new Set(baseline.rejected);
  const seen = new Map(baseline.seen);
  const texts = new Map(pinnables(offer).map(({ id, text }) => [id, text]));
  for (const pin of meant) {
    const { id } = pin;
    const text = texts.get(id);
    if (decision === 'reject') {
      if (text === undefined) continue;
      rejected.add(id);
      seen.set(id, { text, since });
      continue;
    }
    seen.delete(id);
    rejected.delete(id);
    if (text === undefined) approved.delete(id);
    else approved.set(id, { text, since });
    if (pin.state === 'renamed' && pin.before) approved.delete(pinId({ kind: pin.kind, name: pin.before.name }));
  }
  return { approved, rejected, seen };
}
