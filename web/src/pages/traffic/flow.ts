/** Calls that are alike: where they came from, by what, and where they went. */
export interface FlowRow {
  /** One value for each column; undefined stands for many that are not told apart. */
  readonly at: readonly (string | undefined)[];
  readonly calls: number;
  readonly failed: number;
}

/** A value of a column with its calls. */
export interface FlowNode {
  readonly column: number;
  /** Undefined: those that are not shown alone. */
  readonly value: string | undefined;
  /** How many values it stands for; more than one only without a value. */
  readonly values: number;
  readonly calls: number;
  readonly failed: number;
}

/** Calls that go from a node to one of the next column. */
export interface FlowLink {
  readonly from: FlowNode;
  readonly to: FlowNode;
  readonly calls: number;
  readonly failed: number;
}

export interface Flow {
  /** Those with most calls first, what is not shown alone last. */
  readonly columns: readonly (readonly FlowNode[])[];
  readonly links: readonly FlowLink[];
}

/** The rows as a flow: of each column `most` values alone, all others together. */
export function flowOf(rows: readonly FlowRow[], columns: number, most: number): Flow {
  const nodes = Array.from({ length: columns }, (_, column) => nodesOf(rows, column, most));
  const links = new Map<string, { from: FlowNode; to: FlowNode; calls: number; failed: number }>();
  for (const { at, calls, failed } of rows) {
    const path = nodes.map((found, column) => found.of(at[column]));
    for (const [column, from] of path.entries()) {
      const to = path[column + 1];
      if (!from || !to) continue;
      const key = JSON.stringify([column, from.value ?? null, to.value ?? null]);
      const link = links.get(key) ?? { from, to, calls: 0, failed: 0 };
      link.calls += calls;
      link.failed += failed;
      links.set(key, link);
    }
  }
  return { columns: nodes.map(({ all }) => all), links: [...links.values()] };
}

function nodesOf(rows: readonly FlowRow[], column: number, most: number) {
  const sums = new Map<string | undefined, { calls: number; failed: number }>();
  for (const { at, calls, failed } of rows) {
    const sum = sums.get(at[column]) ?? { calls: 0, failed: 0 };
    sums.set(at[column], { calls: sum.calls + calls, failed: sum.failed + failed });
  }
  const unnamed = sums.get(undefined);
  sums.delete(undefined);
  const sorted = [...sums].sort(([a, x], [b, y]) => y.calls - x.calls || ((a ?? '') < (b ?? '') ? -1 : 1));
  // One alone takes no more room under its own name.
  const kept = sorted.length <= most + (unnamed ? 0 : 1) ? sorted.length : most;
  const shown = sorted.slice(0, kept).map(([value, sum]): FlowNode => ({ column, value, values: 1, ...sum }));
  const rest = [...sorted.slice(kept).map(([, sum]) => sum), ...(unnamed ? [unnamed] : [])];
  const others: FlowNode | undefined =
    rest.length === 0
      ? undefined
      : {
          column,
          value: undefined,
          values: rest.length,
          calls: rest.reduce((sum, { calls }) => sum + calls, 0),
          failed: rest.reduce((sum, { failed }) => sum + failed, 0),
        };
  const byValue = new Map(shown.map((node) => [node.value, node]));
  return {
    all: others ? [...shown, others] : shown,
    of: (value: string | undefined) => byValue.get(value) ?? others,
  };
}

/** A node where it is drawn: a bar, in the middle of the room that its name takes. */
export interface PlacedNode {
  readonly node: FlowNode;
  readonly x: number;
  /** Of the bar. */
  readonly y: number;
  readonly height: number;
  /** Of the lower part of the bar, for failures. */
  readonly failedHeight: number;
  /** Of the room around it. */
  readonly top: number;
  readonly room: number;
}

/** A band between two bars, its lower part for failures. */
export interface PlacedLink {
  readonly link: FlowLink;
  readonly good: string;
  /** Undefined where nothing failed. */
  readonly failed: string | undefined;
}

export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly barWidth: number;
  /** The least room for a node, for its name. */
  readonly room: number;
  readonly gap: number;
}

/** The least that can be seen. */
const leastBar = 3;
const leastBand = 1;
const leastFailed = 0.5;

/** Where everything is drawn. The widths of all bands are in one measure, but for what would not be seen. */
export function placed({ columns, links }: Flow, frame: Frame): { nodes: PlacedNode[]; links: PlacedLink[] } {
  const scale = scaleOf(columns, frame);
  const last = Math.max(1, columns.length - 1);
  const nodes = columns.flatMap((column, index) =>
    placedColumn(column, { ...frame, scale, x: ((frame.width - frame.barWidth) * index) / last }),
  );
  const places = new Map(nodes.map((place) => [place.node, place]));
  const order = new Map(columns.flatMap((column) => column.map((node, at) => [node, at] as const)));
  const byPlace = (a: FlowNode, b: FlowNode) => (order.get(a) ?? 0) - (order.get(b) ?? 0);
  const used = { out: new Map<FlowNode, number>(), in: new Map<FlowNode, number>() };
  const sorted = [...links].sort((a, b) => byPlace(a.from, b.from) || byPlace(a.to, b.to));
  return {
    nodes,
    links: sorted.flatMap((link) => {
      const [from, to] = [places.get(link.from), places.get(link.to)];
      if (!from || !to) return [];
      const size = Math.max(leastBand, link.calls * scale);
      const failedSize = link.failed === 0 ? 0 : Math.min(size, Math.max(leastFailed, link.failed * scale));
      const x0 = from.x + frame.barWidth;
      const y0 = from.y + (used.out.get(link.from) ?? 0);
      const y1 = to.y + (used.in.get(link.to) ?? 0);
      used.out.set(link.from, (used.out.get(link.from) ?? 0) + size);
      used.in.set(link.to, (used.in.get(link.to) ?? 0) + size);
      const goodSize = size - failedSize;
      return {
        link,
        good: band(x0, y0, to.x, y1, goodSize),
        failed: failedSize === 0 ? undefined : band(x0, y0 + goodSize, to.x, y1 + goodSize, failedSize),
      };
    }),
  };
}

/** Pixels for one call: as many as fit in every column, with room for all names. */
function scaleOf(columns: Flow['columns'], { height, room, gap }: Frame): number {
  const needed = (column: readonly FlowNode[], scale: number): number =>
    column.reduce((sum, { calls }) => sum + Math.max(room, calls * scale) + gap, 0);
  const fits = (scale: number): boolean => columns.every((column) => needed(column, scale) <= height);
  const most = Math.max(1, ...columns.map((column) => column.reduce((sum, { calls }) => sum + calls, 0)));
  let [low, high] = [0, height / most];
  for (let step = 0; step < 30; step++) {
    const middle = (low + high) / 2;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function placedColumn(
  column: readonly FlowNode[],
  { height, room, gap, scale, x }: Frame & { scale: number; x: number },
): PlacedNode[] {
  const rooms = column.map(({ calls }) => Math.max(room, calls * scale));
  const sum = rooms.reduce((all, each) => all + each + gap, 0);
  // What is left over goes between them, so that the columns are of one height.
  const between = gap + Math.max(0, height - sum) / Math.max(1, column.length);
  let top = between / 2;
  return column.map((node, at) => {
    const own = rooms[at] ?? room;
    const bar = Math.max(leastBar, node.calls * scale);
    const failedHeight = node.failed === 0 ? 0 : Math.min(bar, Math.max(leastFailed, node.failed * scale));
    const place = { node, x, y: top + (own - bar) / 2, height: bar, failedHeight, top, room: own };
    top += own + between;
    return place;
  });
}

function band(x0: number, y0: number, x1: number, y1: number, size: number): string {
  const middle = (x0 + x1) / 2;
  const to = (x: number, y: number) => `${round(x)} ${round(y)}`;
  return [
    `M${to(x0, y0)}`,
    `C${to(middle, y0)} ${to(middle, y1)} ${to(x1, y1)}`,
    `V${round(y1 + size)}`,
    `C${to(middle, y1 + size)} ${to(middle, y0 + size)} ${to(x0, y0 + size)}`,
    'Z',
  ].join('');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
