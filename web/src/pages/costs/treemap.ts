/** A rectangle, in the unit of the one it is part of. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Divides a rectangle among values that are sorted, the largest first: areas are as the values, and about square
 * ("Squarified Treemaps", Bruls, Huizing and van Wijk, 2000). Values are greater than 0.
 */
export function squarified(values: readonly number[], whole: Box): readonly Box[] {
  const sum = values.reduce((all, value) => all + value, 0);
  const scale = (whole.width * whole.height) / sum;
  const boxes: Box[] = [];
  let rest = whole;
  let from = 0;
  while (from < values.length) {
    const side = Math.min(rest.width, rest.height);
    let to = from + 1;
    let area = (values[from] ?? 0) * scale;
    // The row grows as long as the longest of its rectangles becomes no longer.
    for (; to < values.length; to++) {
      const next = area + (values[to] ?? 0) * scale;
      const largest = (values[from] ?? 0) * scale;
      if (
        worst(side, next, largest, (values[to] ?? 0) * scale) >
        worst(side, area, largest, (values[to - 1] ?? 0) * scale)
      )
        break;
      area = next;
    }
    boxes.push(
      ...inRow(
        values.slice(from, to).map((value) => value * scale),
        area,
        rest,
      ),
    );
    const depth = side === 0 ? 0 : area / side;
    rest =
      rest.width >= rest.height
        ? { ...rest, x: rest.x + depth, width: Math.max(0, rest.width - depth) }
        : { ...rest, y: rest.y + depth, height: Math.max(0, rest.height - depth) };
    from = to;
  }
  return boxes;
}

/** How far from a square the worst rectangle of a row is, by its largest and smallest area. */
function worst(side: number, area: number, largest: number, smallest: number): number {
  const square = side * side;
  return Math.max((square * largest) / (area * area), (area * area) / (square * smallest));
}

function inRow(areas: readonly number[], area: number, { x, y, width, height }: Box): readonly Box[] {
  const side = Math.min(width, height);
  const depth = side === 0 ? 0 : area / side;
  let at = 0;
  return areas.map((each) => {
    const length = depth === 0 ? 0 : each / depth;
    const box =
      width >= height ? { x, y: y + at, width: depth, height: length } : { x: x + at, y, width: length, height: depth };
    at += length;
    return box;
  });
}

export interface Sized {
  readonly name: string;
  readonly size: number;
}

/** The largest of them, and what all others have together. */
export function largest<T extends Sized>(
  all: readonly T[],
  most: number,
): { readonly shown: readonly T[]; readonly others: readonly T[] } {
  const sorted = all.filter(({ size }) => size > 0).toSorted((a, b) => b.size - a.size);
  // One alone is no larger as itself.
  const kept = sorted.length <= most + 1 ? sorted.length : most;
  return { shown: sorted.slice(0, kept), others: sorted.slice(kept) };
}
