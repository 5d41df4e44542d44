import { editsBetween } from '../core/edits-between.ts';
import { cliLimits } from './limits.ts';

/** Those of `names` that may have been meant, the nearest first: nearly the same, or one within the other. */
export function nearNames(wanted: string, names: readonly string[]): string[] {
  // The work grows with the product of both lengths.
  const text = wanted.toLowerCase().slice(0, 100);
  const most = Math.max(1, Math.floor(text.length / 4));
  const scored = names.flatMap((name) => {
    const other = name.toLowerCase().slice(0, 100);
    const isWithin = text.length > 2 && (other.includes(text) || text.includes(other));
    const edits = Math.abs(other.length - text.length) > most ? Infinity : editsBetween(text, other);
    return edits <= most || isWithin ? [{ name, rank: edits <= most ? edits : most + 1 }] : [];
  });
  return scored
    .sort((a, b) => a.rank - b.rank)
    .slice(0, cliLimits.nearNames)
    .map(({ name }) => name);
}
