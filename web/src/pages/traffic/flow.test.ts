import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FlowRow, flowOf, placed } from './flow.ts';

const row = (path: string, calls: number, failed = 0): FlowRow => ({ at: path.split(' '), calls, failed });
const rows = [
  row('cursor dev git', 60, 6),
  row('cursor all mail', 20),
  row('claude dev git', 15),
  row('claude dev chat', 5, 5),
];
const frame = { width: 600, height: 400, barWidth: 10, room: 30, gap: 4 };

describe('a flow', () => {
  test('has the sums of each value, most calls first, and what goes from one to the next', () => {
    const { columns, links } = flowOf(rows, 3, 10);
    expect(columns.map((column) => column.map(({ value, calls, failed }) => [value, calls, failed]))).toEqual([
      [
        ['cursor', 80, 6],
        ['claude', 20, 5],
      ],
      [
        ['dev', 80, 11],
        ['all', 20, 0],
      ],
      [
        ['git', 75, 6],
        ['mail', 20, 0],
        ['chat', 5, 5],
      ],
    ]);
    expect(links.map(({ from, to, calls, failed }) => [from.value, to.value, calls, failed])).toContainEqual([
      'dev',
      'git',
      75,
      6,
    ]);
    expect(links).toHaveLength(6);
  });

  test('has one node for all that are not shown alone, and for what was not told apart', () => {
    const many = [
      ...rows,
      row('x dev a', 3),
      row('y dev b', 2),
      { at: [undefined, undefined, undefined], calls: 1, failed: 1 },
    ];
    const [clients = [], , servers = []] = flowOf(many, 3, 2).columns;
    expect(clients.map(({ value, values, calls }) => [value, values, calls])).toEqual([
      ['cursor', 1, 80],
      ['claude', 1, 20],
      [undefined, 3, 6],
    ]);
    expect(servers.at(-1)).toMatchObject({ value: undefined, values: 4, calls: 11, failed: 6 });
    // One alone is itself.
    expect(flowOf(rows, 3, 2).columns[2]?.map(({ value }) => value)).toEqual(['git', 'mail', 'chat']);
  });

  test('values that are named like members of objects are values', () => {
    const { columns } = flowOf([row('__proto__ constructor toString', 1)], 3, 5);
    expect(columns.flat().map(({ value }) => value)).toEqual(['__proto__', 'constructor', 'toString']);
  });
});

describe('what is drawn', () => {
  test('is inside the frame, with room for each name, and no two in one place', () => {
    const some = fc.array(
      fc.record({
        at: fc.tuple(fc.nat(20).map(String), fc.nat(5).map(String), fc.nat(30).map(String)),
        calls: fc.integer({ min: 1, max: 1_000_000 }),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      { minLength: 1, maxLength: 60 },
    );
    fc.assert(
      fc.property(some, (found) => {
        const flow = flowOf(
          found.map(({ at, calls, share }) => ({ at, calls, failed: Math.floor(calls * share) })),
          3,
          10,
        );
        const { nodes, links } = placed(flow, { ...frame, height: 11 * 36 });
        for (const { top, room, y, height, failedHeight } of nodes) {
          expect(room).toBeGreaterThanOrEqual(30);
          expect(top).toBeGreaterThanOrEqual(0);
          expect(top + room).toBeLessThanOrEqual(11 * 36 + 1e-6);
          expect(y).toBeGreaterThanOrEqual(top);
          expect(failedHeight).toBeLessThanOrEqual(height);
        }
        for (const column of [0, 1, 2]) {
          const tops = nodes.filter(({ node }) => node.column === column);
          for (const [at, place] of tops.entries())
            if (at > 0) expect(place.top).toBeGreaterThan((tops[at - 1]?.top ?? 0) + 29);
        }
        expect(links).toHaveLength(flow.links.length);
        expect(JSON.stringify(links)).not.toContain('NaN');
      }),
      { numRuns: 50 },
    );
  });

  test('is in one measure: bars are as high as their calls, and their lower part as their failures', () => {
    const { nodes } = placed(flowOf(rows, 3, 10), frame);
    const of = (value: string) => nodes.find(({ node }) => node.value === value);
    expect((of('cursor')?.height ?? 0) / (of('git')?.height ?? 1)).toBeCloseTo(80 / 75);
    expect((of('git')?.failedHeight ?? 0) / (of('git')?.height ?? 1)).toBeCloseTo(6 / 75);
    expect(of('chat')?.failedHeight).toBe(of('chat')?.height);
  });
});
