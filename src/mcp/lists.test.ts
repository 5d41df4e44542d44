import fc from 'fast-check';
import { expect, test } from 'vitest';
import { catalogue, entry, group, item, offer, server, settings } from '../../test/kit/snapshots.ts';
import { ownTexts } from '../core/access/item-texts.ts';
import type { Scope } from '../core/access/scope.ts';
import { type View, view } from '../core/access/view.ts';
import type { Item } from '../core/catalogue.ts';
import type { LargeText } from '../core/json/large-text.ts';
import { answerList } from './lists.ts';
import type { Hints } from './hints.ts';
import type { ClientRequest } from './request.ts';

interface Asked {
  readonly pageSize?: number;
  readonly stateless?: boolean;
  readonly cursor?: string;
}

/** The answer to `tools/list`, as text. */
function answered(shown: Pick<View, 'lists'>, { pageSize = 0, stateless = false, cursor }: Asked = {}): string {
  let said = '';
  const reply = {
    answer: (text: string) => void (said = text),
    answerBytes: (head: string, body: LargeText, tail: string) => void (said = head + body.toString() + tail),
  };
  const message = cursor === undefined ? {} : { params: { cursor } };
  const request = { id: '1', view: shown, reply, pageSize, stateless, message } as unknown as ClientRequest;
  answerList(request, 'tools', 'tools', { of: () => '"ttlMs":0,"cacheScope":"private"' } as unknown as Hints);
  return said;
}

test.each([0, 1, 2, 500])('a list of %d items is these items, whether it is sent as a text or as bytes', (count) => {
  const texts = Array.from({ length: count }, (_, i) => `{"name":"t${i}","description":"ü → 😀 ${'x'.repeat(i)}"}`);
  const lists = { tools: { texts: ownTexts(texts), targets: [] } } as unknown as View['lists'];
  expect(answered({ lists })).toBe(`{"jsonrpc":"2.0","id":1,"result":{"tools":[${texts.join(',')}]}}`);
});

// What servers offer changes, settings with it, and callers with different lists ask in turn. What is short and what
// is long on either side of what has pieces of its own.
const description = fc.constantFrom('', '→ ', 'ü😀 ').map((text) => ({ description: `said ${text.repeat(9_000)}` }));
const tool = fc.tuple(fc.constantFrom('t', 'u', 'v', 'w', 'x', 'y'), description);
const offered = fc
  .uniqueArray(tool, { maxLength: 6, selector: ([name]) => name })
  .map((tools): Item[] => tools.map(([name, more]) => item(name, 'name', more)));
const override = fc.constantFrom(undefined, { name: 'renamed' }, { description: 'other words' });
const step = fc.record({
  server: fc.constantFrom('a', 'b', 'c'),
  tools: fc.option(offered),
  scope: fc.constantFrom<Scope>(
    { kind: 'all' },
    { kind: 'named', name: 'a' },
    { kind: 'named', name: 'g' },
    { kind: 'named', name: 'h' },
  ),
  override,
  pageSize: fc.constantFrom(0, 1, 4),
});

test('a list is what its view has, in pages too, whatever was listed before', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const offers = new Map<string, readonly Item[]>();
      const before: [shown: View, answer: string][] = [];
      for (const { server: name, tools, scope, override: words, pageSize } of steps) {
        if (tools) offers.set(name, tools);
        else offers.delete(name);
        const world = settings({
          servers: ['a', 'b', 'c'].map((one) => server(one)),
          groups: [
            group('g', [entry('c'), entry('a', { tools: ['t', 'u'] })]),
            group('h', [entry('a', { ...(words && { overrides: new Map([['u', words]]) }) }), entry('b')]),
          ],
        });
        const now = catalogue(...[...offers].map(([one, items]) => offer(one, [], { tools: items })));
        const shown = view(world, now, { kind: 'anonymous' }, scope);
        const items = [...shown.lists.tools.texts].join(',');
        const whole = `{"jsonrpc":"2.0","id":1,"result":{"tools":[${items}]`;
        expect(answered(shown)).toBe(`${whole}}}`);
        expect(answered(shown, { stateless: true })).toBe(
          `${whole},"resultType":"complete","ttlMs":0,"cacheScope":"private"}}`,
        );
        expect(inPages(shown, pageSize)).toBe(`[${items}]`);
        before.push([shown, `${whole}}}`]);
      }
      // Lists that were made before are what they were.
      for (const [shown, answer] of before) expect(answered(shown)).toBe(answer);
    }),
    { numRuns: 30 },
  );
});

/** The tools of all pages, one after the other. */
function inPages(shown: View, pageSize: number): string {
  const pages: string[] = [];
  let cursor: string | undefined;
  do {
    const text = answered(shown, { pageSize, ...(cursor !== undefined && { cursor }) });
    pages.push(/"tools":\[(.*)\](?:,"nextCursor":"[\w-]+")?\}\}$/.exec(text)?.[1] ?? 'no list');
    cursor = /,"nextCursor":"([\w-]+)"\}\}$/.exec(text)?.[1];
  } while (cursor !== undefined);
  return `[${pages.join(',')}]`;
}
