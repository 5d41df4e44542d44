import { describe, expect, test } from 'vitest';
import type { Item } from '../catalogue.ts';
import { members } from '../json/text.ts';
import type { ToolOverride } from '../settings/server.ts';
import {
  argumentRules,
  exposedText,
  isReadOnly,
  mergedOverride,
  overriddenText,
  overrideProblems,
  renamed,
  unfitValues,
  unknownArguments,
  withRules,
} from './tool-override.ts';

const search: Item = {
  key: 'search',
  text: '{"name":"search","big":12345678901234567890,"description":"Own words","annotations":{"readOnlyHint":true,"x":1},"inputSchema":{"type":"object","properties":{"q":{"type":"string"},"tenant":{"type":"string"},"limit":{"type":"integer","minimum":1.0},"any":true},"required":["q","tenant","limit"]}}',
};
const hidden = { hidden: true } as const;
const shown = { hidden: false } as const;
const parsed = (override: ToolOverride): unknown => JSON.parse(overriddenText(search, override));
const call = (override: ToolOverride, given: Record<string, unknown>, text = JSON.stringify(given)): string => {
  const rules = argumentRules(search, override);
  return rules ? withRules('search', rules, text, given) : text;
};

describe('what clients see', () => {
  test('is the text of the server where nothing is overridden', () => {
    expect(overriddenText(search, undefined)).toBe(search.text);
  });

  test('has other names and texts, and every other byte as it was', () => {
    const text = overriddenText(search, {
      name: 'find',
      title: 'Find',
      description: 'Better',
      annotations: { destructiveHint: false },
    });
    expect(JSON.parse(text)).toMatchObject({
      name: 'find',
      title: 'Find',
      description: 'Better',
      annotations: { readOnlyHint: true, x: 1, destructiveHint: false },
    });
    expect(text).toContain('"big":12345678901234567890');
    expect(text).toContain('"minimum":1.0');
  });

  test('has no hidden argument, says what is fixed, and asks for none that the hub puts in', () => {
    const text = overriddenText(search, {
      arguments: [
        ['tenant', { ...hidden, value: '"acme"' }],
        ['limit', { ...shown, default: '10', description: 'How many' }],
        ['any', { ...shown, value: '{"a":1}' }],
      ],
    });
    expect(JSON.parse(text).inputSchema).toEqual({
      type: 'object',
      properties: {
        q: { type: 'string' },
        limit: { type: 'integer', minimum: 1, default: 10, description: 'How many' },
        any: { const: { a: 1 } },
      },
      required: ['q'],
    });
    expect(text).not.toContain('tenant');
  });

  test('has no "required" when nothing is asked for any more', () => {
    const all = ['q', 'tenant', 'limit'].map((name) => [name, { ...hidden, value: '1' }] as const);
    expect(parsed({ arguments: all })).toMatchObject({ inputSchema: { properties: { any: true } } });
    expect(overriddenText(search, { arguments: all })).not.toContain('required');
  });

  test('is a tool without a schema as it was, whatever is said of arguments', () => {
    const plain = { key: 'a', text: '{"name":"a"}' };
    expect(JSON.parse(overriddenText(plain, { arguments: [['x', { ...hidden, value: '1' }]] }))).toEqual({ name: 'a' });
  });
});

describe('the arguments that the server gets', () => {
  test('have what is fixed and hidden, and the default of what was not given', () => {
    const rules = [
      ['tenant', { ...hidden, value: '"acme"' }],
      ['limit', { ...shown, default: '10' }],
    ] as const;
    expect(JSON.parse(call({ arguments: rules }, { q: 'x' }))).toEqual({ q: 'x', tenant: 'acme', limit: 10 });
    expect(JSON.parse(call({ arguments: rules }, { q: 'x', limit: 3 }))).toEqual({ q: 'x', tenant: 'acme', limit: 3 });
    expect(call({ arguments: rules }, { q: 1 }, '{"q":1.0}')).toContain('"q":1.0');
  });

  test('a hidden default is always put in', () => {
    const rules = [['limit', { ...hidden, default: '5' }]] as const;
    expect(JSON.parse(call({ arguments: rules }, {}))).toEqual({ limit: 5 });
    expect(() => call({ arguments: rules }, { limit: 6 })).toThrow('no argument "limit"');
  });

  test.each([
    ['a hidden one', hidden, { tenant: 'acme' }],
    ['a hidden one that is null', hidden, { tenant: null }],
    ['another value of a fixed one', shown, { tenant: 'other' }],
  ])('%s is refused, at its path', (_, how, given) => {
    const rules = [['tenant', { ...how, value: '"acme"' }]] as const;
    const problems = [expect.objectContaining({ path: 'tenant' })];
    expect(() => call({ arguments: rules }, given)).toThrow(
      expect.objectContaining({ message: expect.stringContaining('Cannot call search'), problems }),
    );
  });

  test('the fixed value itself may be sent, in any order of its members', () => {
    const rules = [['any', { ...shown, value: '{"a":1,"b":[true]}' }]] as const;
    expect(JSON.parse(call({ arguments: rules }, { any: { b: [true], a: 1 } }))).toEqual({ any: { a: 1, b: [true] } });
    expect(() => call({ arguments: rules }, { any: { a: 1 } })).toThrow('is always');
    expect(() => call({ arguments: rules }, { any: { a: 1, b: [false] } })).toThrow('is always');
    expect(() => call({ arguments: rules }, { any: { a: 1, c: [true] } })).toThrow('is always');
  });

  test('nothing is called where a required argument is hidden and has no value', () => {
    expect(() => call({ arguments: [['tenant', hidden]] }, { q: 'x' })).toThrow('give it no value');
    expect(call({ arguments: [['any', hidden]] }, { q: 'x' })).toBe('{"q":"x"}');
  });

  test('are left alone where only words are overridden', () => {
    expect(argumentRules(search, { arguments: [['q', { ...shown, description: 'words' }]] })).toBeUndefined();
    expect(argumentRules(search, { name: 'a' })).toBeUndefined();
  });
});

describe('the override of a group', () => {
  const own = {
    enabled: true,
    description: 'server words',
    override: {
      name: 'find',
      annotations: { readOnlyHint: true },
      arguments: [
        ['tenant', { ...hidden, value: '"acme"' }],
        ['limit', { ...shown, default: '10' }],
        ['kind', hidden],
      ],
    },
  } as const;

  test('comes before that of the server, but does not open what that one hides or fixes', () => {
    const group: ToolOverride = {
      name: 'look',
      annotations: { openWorldHint: false },
      arguments: [
        ['tenant', { ...shown, value: '"other"' }],
        ['kind', { ...shown, default: '1' }],
        ['limit', { ...shown, default: '3' }],
      ],
    };
    const both = mergedOverride(own, group);
    expect(both).toEqual({
      name: 'look',
      description: 'server words',
      annotations: { readOnlyHint: true, openWorldHint: false },
      arguments: [
        ['tenant', { ...hidden, value: '"acme"' }],
        ['kind', hidden],
        ['limit', { ...shown, default: '3' }],
      ],
    });
    expect(mergedOverride(own, group)).toBe(both);
    expect(mergedOverride({ ...own, override: undefined }, group)).not.toBe(both);
  });

  test('alone is itself, and without any there is none', () => {
    const group: ToolOverride = { name: 'look' };
    expect(mergedOverride(undefined, group)).toBe(group);
    expect(mergedOverride({ enabled: true, description: undefined }, undefined)).toBeUndefined();
    const described = { enabled: true, description: 'words' };
    expect(mergedOverride(described, undefined)).toEqual({ description: 'words' });
    expect(mergedOverride(described, undefined)).toBe(mergedOverride(described, undefined));
  });
});

describe('names', () => {
  const items = ['a', 'b', 'c'].map((key) => ({ key, text: '{}' }));
  const names = (given: Record<string, string>): [string, string][] => [
    ...renamed(items, (key) => (given[key] === undefined ? undefined : { name: given[key] })),
  ];

  test('that another tool has are not given', () => {
    expect(names({ a: 'x', b: 'x', c: 'a' })).toEqual([['a', 'x']]);
    expect(names({ a: 'a' })).toEqual([]);
    expect(names({})).toEqual([]);
  });
});

test('what cannot be is named, and what may be a mistake', () => {
  const items = [search, { key: 'find', text: '{}' }];
  expect(overrideProblems(items, 'search', { name: 'find', arguments: [['q', hidden]] })).toEqual([
    expect.objectContaining({ path: 'name' }),
    expect.objectContaining({ path: 'arguments.q.hidden' }),
  ]);
  expect(overrideProblems(items, 'search', { name: 'search', arguments: [['any', hidden]] })).toEqual([]);
  expect(overrideProblems(items, 'gone', { name: 'new', arguments: [['q', hidden]] })).toEqual([]);
  expect(
    unknownArguments(search, {
      arguments: [
        ['q', hidden],
        ['typo', hidden],
      ],
    }),
  ).toEqual(['typo']);
});

const textsOf = (...given: Parameters<typeof unfitValues>) => unfitValues(...given).map(({ text }) => text);

test('values that the schema does not allow are told, each at its place, and nothing else of the schema', () => {
  const properties = {
    q: { type: 'string' },
    limit: { $ref: '#/$defs/few' },
    filter: { type: 'object', properties: { by: { enum: ['day', 'week'] } } },
    'x.y': { type: 'boolean' },
  };
  const schema = { type: 'object', $defs: { few: { type: 'integer', maximum: 5 } }, properties, required: ['q'] };
  const item = { key: 'find', text: JSON.stringify({ inputSchema: { ...schema, additionalProperties: false } }) };
  const told = textsOf(item, {
    arguments: [
      ['limit', { hidden: true, value: '"many"' }],
      ['filter', { hidden: false, default: '{"by":"year"}' }],
      ['x.y', { hidden: false, value: '1' }],
    ],
  });
  expect(told).toEqual([
    expect.stringMatching(/^The tool does not take the value of "limit": .*integer.*\.$/),
    expect.stringMatching(/^The tool does not take the value of "filter\.by": .*\.$/),
    expect.stringContaining('"["x.y"]"'),
  ]);
  const fine = [
    ['limit', { hidden: false, default: '5' }],
    ['q', { hidden: true, value: '"words"' }],
  ] as const;
  expect(textsOf(item, { arguments: fine })).toEqual([]);
  expect(textsOf({ key: 'any', text: '{"inputSchema":true}' }, { arguments: fine })).toEqual([]);
  expect(textsOf({ key: 'any', text: '{}' }, { arguments: fine })).toEqual([]);
});

test('the settings of a server say whether a tool only reads', () => {
  const says = (readOnlyHint: boolean) => ({
    enabled: true,
    description: undefined,
    override: { annotations: { readOnlyHint } },
  });
  expect(isReadOnly(search, undefined)).toBe(true);
  expect(isReadOnly(search, says(false))).toBe(false);
  expect(isReadOnly({ key: 'b', text: '{}' }, says(true))).toBe(true);
  expect(isReadOnly({ key: 'b', text: '{}' }, undefined)).toBe(false);
});

test('what a group says of an argument without a value of its own leaves the default of the server', () => {
  const rule = (more: object) => ({ hidden: false, ...more });
  const server = {
    enabled: true,
    description: undefined,
    override: { arguments: [['q', rule({ default: '5' })] as const] },
  };
  const both = (more: object) => mergedOverride(server, { arguments: [['q', rule(more)]] })?.arguments;
  expect(both({ description: 'How many' })).toEqual([['q', rule({ description: 'How many', default: '5' })]]);
  expect(both({ hidden: true })).toEqual([['q', rule({ hidden: true, default: '5' })]]);
  expect(both({ default: '6' })).toEqual([['q', rule({ default: '6' })]]);
  expect(both({ value: '7' })).toEqual([['q', rule({ value: '7' })]]);
});

test.each([
  ['first', '{"name":"t","inputSchema":{"properties":{"name":{"const":"t"}}}}'],
  ['among white space', ' { "title" : "name" , "name" : "a\\"t" , "x" : 18446744073709551615 }'],
  ['escaped', '{"x":["name"],"n\\u0061me":"t","title":"t"}'],
  ['twice', '{"name":"t","title":"t","name":"u"}'],
  ['not a text', '{"title":"t","name":{"name":"t"}}'],
  ['missing', '{"title":"t"}'],
])('a tool whose name stands %s is shown under each name that it has', (_, text) => {
  const item = { key: 't', text };
  for (const name of ['s-t', 'a"b\\', 's-t', 'ü']) {
    const made = exposedText(item, name, undefined);
    expect(JSON.parse(made)).toEqual({ ...(JSON.parse(text) as object), name });
    expect(
      members(made)
        .filter(({ key }) => key === 'name')
        .map(({ start, end }) => made.slice(start, end)),
    ).toEqual(Array.from({ length: text.endsWith('"u"}') ? 2 : 1 }, () => JSON.stringify(name)));
    if (text.includes('18446744073709551615')) expect(made).toContain('18446744073709551615');
  }
});
