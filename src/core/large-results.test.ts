import { describe, expect, test } from 'vitest';
import { cutResult, endOf, hasResultLimit, itemsOf, limitsResults, resultLimit } from './large-results.ts';
import type { Settings } from './settings/settings.ts';

const most = 400;
const numbers = Array.from({ length: 50 }, (_, i) => ({ n: i, text: 'x'.repeat(20) }));

describe('items', () => {
  test.each([
    ['elements of an array', JSON.stringify(numbers), 50, `[{"n":0,"text":"${'x'.repeat(20)}"}]`],
    [
      'elements of the largest array of an object',
      JSON.stringify({ at: 1.5, small: [1], rows: numbers }),
      50,
      `{"at":1.5,"small":[1],"rows":[{"n":0,"text":"${'x'.repeat(20)}"}]}`,
    ],
    ['lines', 'one\ntwo\nthree', 3, 'one'],
    ['rows of a table', '| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |', 2, '| a | b |\n|---|:-:|\n| 1 | 2 |'],
  ])('are %s', (_, text, count, first) => {
    const all = itemsOf(text, most);
    expect(all.items).toHaveLength(count);
    expect(all.write(all.items)).toBe(text);
    expect(all.write(all.items.slice(0, 1))).toBe(first);
  });

  test('keep every digit', () => {
    const text = '[12345678901234567890, 1.0,\n {"a":1e2}]';
    expect(itemsOf(text, most).items).toEqual(['12345678901234567890', '1.0', '{"a":1e2}']);
  });

  test.each(['x'.repeat(5_000), JSON.stringify({ a: 'y'.repeat(5_000) }), JSON.stringify(['z'.repeat(5_000), 1])])(
    'are pieces where nothing whole fits',
    (text) => {
      const all = itemsOf(text, most);
      expect(all.items.length).toBeGreaterThan(10);
      expect(all.items.every((item) => item.length <= most)).toBe(true);
      expect(all.write(all.items)).toBe(text);
    },
  );

  test('no piece ends in the middle of a character', () => {
    for (const piece of itemsOf('😀'.repeat(1_000), 7).items) expect(piece).toMatch(/^(?:😀)+$/u);
  });

  test('are given as long as they fit, and one at least', () => {
    expect(endOf(['aaa', 'bbb', 'ccc'], 0, 2)).toBe(2);
    expect(endOf(['aaa', 'bbb', 'ccc'], 1, 100)).toBe(3);
    expect(endOf(['a'.repeat(1_000), 'b'], 0, 1)).toBe(1);
    expect(endOf([], 0, 1)).toBe(0);
  });
});

describe('a result that is too long', () => {
  const options = { tokens: 100, handle: 'h', fits: () => true };
  const result = (more: object = {}, text = JSON.stringify(numbers)): string =>
    JSON.stringify({
      content: [
        { type: 'text', text: 'head' },
        { type: 'text', text },
      ],
      ...more,
    });
  const parsed = (text: string | undefined) => JSON.parse(text ?? 'null') as Cut;
  interface Cut {
    content: { text: string }[];
    structuredContent?: { rows: unknown[] };
    _meta: Record<string, { handle: string; total: number; next: number }>;
  }

  test('has its first items, and says how to get the others', () => {
    const cut = cutResult(result(), options);
    const { content, _meta } = parsed(cut?.text);
    const more = _meta['toolhub/more'];
    expect(more).toEqual({ handle: 'h', total: 50, next: cut?.next });
    expect(JSON.parse(content[1]?.text ?? '')).toEqual(numbers.slice(0, more?.next));
    expect(content[0]?.text).toBe('head');
    expect(content[2]?.text).toContain(`from ${more?.next}`);
    expect(cut?.text.length).toBeLessThan(100 * 4 + 400);
  });

  test('stays whole where it is short enough, and where no text in it can be cut', () => {
    expect(cutResult(result({}, '[]'), options)).toBeUndefined();
    const image = { type: 'image', data: 'a'.repeat(5_000) };
    expect(cutResult(JSON.stringify({ content: [image] }), options)).toBeUndefined();
    expect(cutResult(JSON.stringify({ structuredContent: numbers }), options)).toBeUndefined();
  });

  test('keeps what is structured equal to the text, or whole where the schema wants more', () => {
    const rows = { rows: numbers };
    const given = result({ structuredContent: rows }, JSON.stringify(rows));
    const cut = cutResult(given, options);
    expect(parsed(cut?.text).structuredContent?.rows).toEqual(numbers.slice(0, cut?.next));
    const whole = cutResult(given, { ...options, fits: () => false });
    expect(parsed(whole?.text).structuredContent).toEqual(rows);
    const other = cutResult(result({ structuredContent: { other: 'x' } }), options);
    expect(parsed(other?.text).structuredContent).toEqual({ other: 'x' });
  });

  test('is valid JSON for every kind of structured content, and never longer than before', () => {
    const object = { text: 'a'.repeat(20_000) };
    for (const structuredContent of [object, numbers, 'x'.repeat(9_000), { rows: numbers, more: numbers }]) {
      for (const text of [JSON.stringify(object), JSON.stringify(object, null, 2), 'Found:\n- a\n- b', 'x']) {
        const given = result({ structuredContent }, text);
        const cut = cutResult(given, options);
        if (!cut) continue;
        expect(parsed(cut.text)).toHaveProperty('_meta');
        expect(cut.text.length).toBeLessThan(given.length);
      }
    }
  });

  test('keeps the rest of its _meta', () => {
    expect(parsed(cutResult(result({ _meta: { a: 1 } }), options)?.text)._meta).toMatchObject({ a: 1 });
  });
});

test('the tool decides, then the group, the server, the hub; 0 is no limit', () => {
  const tools = new Map([
    ['own', { enabled: true, description: undefined, maxResultTokens: 1 }],
    ['off', { enabled: true, description: undefined, maxResultTokens: 0 }],
  ]);
  const a = { name: 'a', tools, maxResultTokens: 3 };
  const b = { name: 'b', tools: new Map() };
  const settings = {
    servers: new Map(Object.entries({ a, b })),
    groups: [],
    system: { maxResultTokens: 4 },
  } as unknown as Settings;
  const limit = (server: string, key: string, group?: number) =>
    resultLimit(settings, group === undefined ? undefined : { maxResultTokens: group }, { server, key });
  expect([
    limit('a', 'own', 2),
    limit('a', 'x', 2),
    limit('a', 'x'),
    limit('b', 'x'),
    limit('a', 'off', 2),
    limit('c', 'x'),
  ]).toEqual([1, 2, 3, 4, undefined, undefined]);
  const none = { ...settings, system: {} } as unknown as Settings;
  expect([limitsResults(settings), limitsResults(none)]).toEqual([true, true]);
  expect(hasResultLimit(none, undefined, [])).toBe(false);
  expect(limitsResults({ ...none, servers: new Map([['b', b]]) } as unknown as Settings)).toBe(false);
});
