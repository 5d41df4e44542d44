import { describe, expect, test } from 'vitest';
import { countingParsed } from '../../../test/kit/parsed.ts';
import type { Offer } from '../catalogue.ts';
import { pinId, pinnables } from './pin-item.ts';
import { type Baseline, catalogueWith, heldPins, isWaiting, pinsOf, riskOfPin, withoutHeld } from './pin-states.ts';

interface Tool {
  readonly name: string;
  readonly [member: string]: unknown;
}

function offer(
  tools: readonly Tool[],
  instructions?: string,
  resources: readonly { uri: string; name: string }[] = [],
): Offer {
  return {
    server: 's',
    about: { info: '{}', instructions, capabilities: [], protocolVersion: '2025-11-25' },
    tools: tools.map((tool) => ({ key: tool.name, text: JSON.stringify(tool) })),
    prompts: [],
    resources: resources.map((one) => ({ key: one.uri, text: JSON.stringify(one) })),
    templates: [],
  };
}

function baseline(of: Offer): Baseline {
  const approved = new Map(pinnables(of).map((one) => [pinId(one), { text: one.text, since: 1 }]));
  return { approved, rejected: new Set(), seen: new Map() };
}

const read = {
  name: 'read',
  description: 'Reads.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
};
const states = (before: Offer, now: Offer) =>
  pinsOf(baseline(before), now, 2).map(({ kind, name, state }) => [kind, name, state]);

describe('the state of a thing', () => {
  test('is approved as it was first seen, whatever its titles, icons and spelling', () => {
    const spelt = {
      description: 'Reads.',
      name: 'read',
      title: 'New title',
      icons: [{ src: 'x' }],
      inputSchema: { properties: { path: { type: 'string' } }, type: 'object' },
      annotations: { title: 'Other' },
    };
    expect(states(offer([read]), offer([spelt]))).toEqual([['tool', 'read', 'approved']]);
    expect(states(offer([{ ...read, annotations: { title: 'x' } }]), offer([read]))).toEqual([
      ['tool', 'read', 'approved'],
    ]);
  });

  test.each([
    ['description', { description: 'Reads all.' }],
    ['schema', { inputSchema: { type: 'object' } }],
    ['annotations', { annotations: { readOnlyHint: true } }],
    ['output', { outputSchema: { type: 'object' } }],
    ['page', { _meta: { ui: { resourceUri: 'ui://x' } } }],
  ])('is changed with another %s', (_, change) => {
    expect(states(offer([read]), offer([{ ...read, ...change }]))).toEqual([['tool', 'read', 'changed']]);
  });

  test('is new, gone, or renamed', () => {
    const other = { ...read, name: 'other', description: 'Does something else.' };
    expect(states(offer([read]), offer([read, other]))).toEqual([
      ['tool', 'read', 'approved'],
      ['tool', 'other', 'new'],
    ]);
    expect(states(offer([read, other]), offer([other]))).toEqual([
      ['tool', 'other', 'approved'],
      ['tool', 'read', 'gone'],
    ]);
    const renamed = pinsOf(baseline(offer([read])), offer([{ ...read, name: 'read_file' }]), 2);
    expect(renamed).toMatchObject([{ name: 'read_file', state: 'renamed', before: { name: 'read' } }]);
  });

  test('of instructions counts as well', () => {
    expect(states(offer([], 'Be kind.'), offer([], 'Be quick.'))).toEqual([
      ['instructions', 'instructions', 'changed'],
    ]);
    expect(states(offer([]), offer([], 'Be quick.'))).toEqual([['instructions', 'instructions', 'new']]);
  });

  test('says since when', () => {
    const now = offer([{ ...read, description: 'x' }]);
    const seen = new Map([['tool\nread', { text: now.tools[0]?.text, since: 7 }]]);
    expect(pinsOf({ ...baseline(offer([read])), seen }, now, 9)).toMatchObject([{ since: 7 }]);
    const again = offer([{ ...read, description: 'y' }]);
    expect(pinsOf({ ...baseline(offer([read])), seen }, again, 9)).toMatchObject([{ since: 9 }]);
  });
});

describe('what was renamed', () => {
  test('is found wherever it stands in the list, and however it is spelt', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ ...read, name, description: `Does ${name}.` }));
    if (!a || !b || !c) throw new Error('three');
    const [one, two, three] = [a, b, c].map((tool) => ({ ...tool, name: `${tool.name}2` }));
    const now = offer(
      [three, { inputSchema: a.inputSchema, description: a.description, name: 'a2' }, two].flatMap(
        (tool) => tool ?? [],
      ),
    );
    const found = pinsOf(baseline(offer([a, b, c])), now, 2);
    expect(found.map(({ name, state, before }) => [name, state, before?.name])).toEqual([
      ['c2', 'renamed', 'c'],
      ['a2', 'renamed', 'a'],
      ['b2', 'renamed', 'b'],
    ]);
    // Some in the same order, and one that is new between them.
    const mixed = pinsOf(
      baseline(offer([a, b, c])),
      offer([one, { ...read, name: 'new' }, three].flatMap((tool) => tool ?? [])),
      2,
    );
    expect(mixed.map(({ name, state, before }) => [name, state, before?.name])).toEqual([
      ['a2', 'renamed', 'a'],
      ['new', 'new', undefined],
      ['c2', 'renamed', 'c'],
      ['b', 'gone', 'b'],
    ]);
  });

  test('has one new name, where several things do the same', () => {
    const [a, b] = [
      { ...read, name: 'a' },
      { ...read, name: 'b', description: 'Does b.' },
    ];
    const named = (tool: Tool, name: string) => ({ ...tool, name });
    const found = (before: readonly Tool[], now: readonly Tool[]) =>
      pinsOf(baseline(offer(before)), offer(now), 2).map(({ name, state, before: from }) => [name, state, from?.name]);
    // The first has the name that stands in its place, and is no longer looked for.
    expect(found([a, b], [named(a, 'a2'), named(a, 'a3')])).toEqual([
      ['a2', 'renamed', 'a'],
      ['a3', 'new', undefined],
      ['b', 'gone', 'b'],
    ]);
    // What stands in its place is of the first, and not of another that did the same.
    expect(found([a, named(a, 'twin')], [named(a, 'a2'), named(b, 'other')])).toEqual([
      ['a2', 'renamed', 'a'],
      ['other', 'new', undefined],
      ['twin', 'gone', 'twin'],
    ]);
  });
});

describe('all that is said of a thing', () => {
  const now = offer([{ ...read, description: 'x' }]);

  const withRisk = (...given: Parameters<typeof pinsOf>) =>
    pinsOf(...given).map((pin) => ({ ...pin, ...riskOfPin(pin) }));
  const harmless = { risk: 'none', reasons: [], said: [] };
  const id = 'tool\nread';

  test('that is approved, gone, changed, rejected or new', () => {
    expect(withRisk(baseline(offer([read])), offer([read]), 2)).toEqual([
      { id, kind: 'tool', name: 'read', state: 'approved', ...harmless, since: 1 },
    ]);
    const text = JSON.stringify(read);
    expect(withRisk(baseline(offer([read])), offer([]), 2)).toEqual([
      {
        id,
        kind: 'tool',
        name: 'read',
        state: 'gone',
        ...harmless,
        before: { name: 'read', text },
        since: 2,
      },
    ]);
    const changed = {
      id,
      kind: 'tool',
      name: 'read',
      risk: 'low',
      reasons: ['The description has changed.'],
      said: [{ code: 'pin_description', values: {} }],
      before: { name: 'read', text },
      now: now.tools[0]?.text,
      since: 2,
    };
    expect(withRisk(baseline(offer([read])), now, 2)).toEqual([{ ...changed, state: 'changed' }]);
    const rejected = new Set(['tool\nread']);
    expect(withRisk({ ...baseline(offer([read])), rejected }, now, 2)).toEqual([{ ...changed, state: 'rejected' }]);
    const said = [{ code: 'pin_new', values: {} }];
    const risk = { risk: 'low', reasons: ['It is new, and does not say that it only reads.'], said };
    const fresh = { id, kind: 'tool', name: 'read', ...risk, before: undefined, now: text, since: 2 };
    expect(withRisk(baseline(offer([])), offer([read]), 2)).toEqual([{ ...fresh, state: 'new' }]);
    expect(withRisk({ ...baseline(offer([])), rejected }, offer([read]), 2)).toEqual([{ ...fresh, state: 'rejected' }]);
  });

  test('that has a line break in its name', () => {
    const [gone] = pinsOf(baseline(offer([{ ...read, name: 'a\nb' }])), offer([]), 2);
    expect(gone).toMatchObject({ kind: 'tool', name: 'a\nb', state: 'gone' });
  });

  test('of two that are alike the approved one is no rename of the one that is gone', () => {
    expect(states(offer([read, { ...read, name: 'copy' }]), offer([{ ...read, name: 'copy' }]))).toEqual([
      ['tool', 'copy', 'approved'],
      ['tool', 'read', 'gone'],
    ]);
    // One that is gone has one new name.
    const twice = [
      { ...read, name: 'a' },
      { ...read, name: 'b' },
    ];
    expect(states(offer([read]), offer(twice))).toEqual([
      ['tool', 'a', 'renamed'],
      ['tool', 'b', 'new'],
    ]);
  });

  test('waits for an admin in every state but two', () => {
    const all = ['approved', 'changed', 'new', 'gone', 'renamed', 'rejected'] as const;
    expect(all.filter((state) => isWaiting({ state }))).toEqual(['changed', 'new', 'gone', 'renamed']);
  });
});

describe('the catalogue with what is held taken out', () => {
  const all: Offer = {
    ...offer([read], 'Be kind.', [{ uri: 'file:///a', name: 'a' }]),
    prompts: [{ key: 'p', text: '{"name":"p"}' }],
    templates: [{ key: 'file:///{x}', text: '{"uriTemplate":"file:///{x}"}' }],
  };
  const lists = ({ tools, prompts, resources, templates, about, held }: Offer) => [
    ...[tools, prompts, resources, templates].map((items) => items.map(({ key }) => key)),
    about.instructions,
    held,
  ];

  test.each([
    ['tool', [[], ['p'], ['file:///a'], ['file:///{x}'], 'Be kind.', []]],
    ['prompt', [['read'], [], ['file:///a'], ['file:///{x}'], 'Be kind.', []]],
    ['resource', [['read'], ['p'], [], ['file:///{x}'], 'Be kind.', ['file:///a']]],
    ['resourceTemplate', [['read'], ['p'], ['file:///a'], [], 'Be kind.', ['file:///{x}']]],
    ['instructions', [['read'], ['p'], ['file:///a'], ['file:///{x}'], undefined, []]],
  ])('hides a %s and nothing else', (kind, expected) => {
    const held = pinsOf(baseline(all), all, 2).filter((pin) => pin.kind === kind);
    const left = withoutHeld(all, held);
    expect(lists(left)).toEqual(expected);
    // A list from which nothing is taken is the same list.
    expect(left.tools === all.tools).toBe(kind !== 'tool');
    expect(left.about === all.about).toBe(kind !== 'instructions');
    expect(left.about.info).toBe('{}');
  });

  test('has the other things of the kind', () => {
    const two = { ...all, tools: [...all.tools, { key: 'write', text: '{"name":"write"}' }] };
    const left = withoutHeld(
      two,
      pinsOf(baseline(all), two, 2).filter(({ state }) => state === 'new'),
    );
    expect(left.tools).toEqual(all.tools);
  });

  test('is the same where nothing is held', () => {
    expect(withoutHeld(all, [])).toBe(all);
    const other = { ...all, server: 't' };
    const catalogue = {
      version: 3,
      offers: new Map([
        ['s', all],
        ['t', other],
      ]),
    };
    expect(catalogueWith(catalogue, new Map())).toBe(catalogue);
    const less = withoutHeld(all, pinsOf(baseline(all), all, 2));
    const applied = catalogueWith(catalogue, new Map([['s', less]]));
    expect([applied.version, [...applied.offers.keys()]]).toEqual([3, ['s', 't']]);
    expect([applied.offers.get('s'), applied.offers.get('t')]).toEqual([less, other]);
  });
});

describe('what is held', () => {
  const before = offer([read], 'Be kind.', [{ uri: 'file:///a', name: 'a' }]);
  const now = offer(
    [
      { ...read, description: 'x' },
      { ...read, name: 'new', description: 'n' },
    ],
    'Be quick.',
    [{ uri: 'file:///b', name: 'b' }],
  );

  test('under hold is what is changed, new or renamed; under warn only what was rejected', () => {
    const pins = pinsOf(baseline(before), now, 2);
    expect(heldPins(pins, 'warn')).toEqual([]);
    const held = heldPins(pins, 'hold');
    const shown = withoutHeld(now, held);
    expect(shown.tools).toEqual([]);
    expect(shown.resources).toEqual([]);
    expect(shown.held).toEqual(['file:///b']);
    expect(shown.about.instructions).toBeUndefined();
    for (const mode of ['off', 'warn', 'hold'] as const) {
      const rejected = { ...baseline(before), rejected: new Set(['tool\nread']) };
      expect(heldPins(pinsOf(rejected, before, 2), mode).map(({ name }) => name)).toEqual(['read']);
    }
  });
});

test.each<[string, { description?: string; name?: (i: number) => string }, string]>([
  ['did not change', {}, 'approved'],
  ['all changed', { description: 'Reads all.' }, 'changed'],
  ['were all renamed', { name: (i: number) => `renamed_${i}` }, 'renamed'],
])('ten thousand tools that %s are compared quickly: none is parsed', (_, change, state) => {
  const tools = Array.from({ length: 10_000 }, (_one, i) => ({ ...read, name: `tool_${i}` }));
  const before = baseline(offer(tools));
  const now = offer(tools.map((tool, i) => ({ ...tool, ...change, name: change.name?.(i) ?? tool.name })));
  const { result, parsed } = countingParsed(() => new Set(pinsOf(before, now, 2).map((pin) => pin.state)));
  expect([[...result], parsed]).toEqual([[state], 0]);
});
