import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { ToolDocument } from './document.ts';
import { loadLocalEmbedder, type LocalEmbedder } from './embedder-local.ts';
import { createSearchEngine, type SearchEngine, type SearchRequest } from './search-engine.ts';
import { codePoints } from '../../test/kit/code-points.ts';

let embedder: LocalEmbedder;
beforeAll(async () => {
  embedder = await loadLocalEmbedder();
});

const vocabulary = [
  'get',
  'list',
  'file',
  'files',
  'user',
  'message',
  'weather',
  'delete',
  'github',
  'zebra',
  '天气预报',
  'حذف',
  'v2',
  '🚀',
  'the',
];
const text = fc
  .array(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...vocabulary) }, fc.string({ unit: codePoints, maxLength: 8 })),
    { maxLength: 8 },
  )
  .map((words) => words.join(' '));

const document = fc.record({
  key: fc.integer({ min: 0, max: 14 }).map((number) => `tool ${number}`),
  server: fc.constantFrom('a', 'b', 'github'),
  name: text,
  description: text,
  parameterNames: text,
  parameterTexts: text,
});

const documents = fc.array(document, { maxLength: 15 });

const step = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), documents }),
  fc.record({ kind: fc.constant('sync' as const), documents }),
  fc.record({
    kind: fc.constant('remove' as const),
    keys: fc.array(
      document.map(({ key }) => key),
      { maxLength: 8 },
    ),
  }),
);

const request: fc.Arbitrary<SearchRequest> = fc.record({
  query: text,
  context: fc.oneof(fc.constant(''), text),
  limit: fc.integer({ min: 1, max: 20 }),
  threshold: fc.constantFrom(0, 0.6, 0.85, 1),
  explain: fc.boolean(),
});

function engineOf(tools: Iterable<ToolDocument>, semantic: boolean): SearchEngine {
  const engine = createSearchEngine(semantic ? embedder : undefined);
  engine.put(tools);
  return engine;
}

test('after any changes the index answers exactly like one built from nothing', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.array(request, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (steps, requests, semantic) => {
        const engine = engineOf([], semantic);
        let model = new Map<string, ToolDocument>();
        for (const step of steps) {
          const before = new Map(model);
          if (step.kind === 'sync') model = new Map();
          if (step.kind === 'remove') {
            for (const key of step.keys) model.delete(key);
            expect(engine.remove(step.keys)).toBe(before.size - model.size);
            continue;
          }
          for (const tool of step.documents) model.set(tool.key, tool);
          const changes = engine[step.kind](step.documents);
          expect(before.size + changes.added - changes.removed).toBe(model.size);
        }
        expect(engine.size).toBe(model.size);
        const anew = engineOf(Array.from(model.values()).toReversed(), semantic);
        for (const request of requests) expect(engine.search(request)).toEqual(anew.search(request));
      },
    ),
    { numRuns: 60 },
  );
});

test('what is hidden might as well not exist: neither scores nor order nor count nor threshold tell of it', () => {
  fc.assert(
    fc.property(documents, documents, request, fc.boolean(), (shown, hidden, request, semantic) => {
      const visible = new Map(shown.map((tool) => [tool.key, tool]));
      const secret = hidden.map((tool) => ({ ...tool, key: `secret ${tool.key}` }));
      const engine = engineOf([...secret, ...shown], semantic);
      const expected = engineOf(visible.values(), semantic).search(request);
      const allowed = new Set(visible.keys());
      expect(engine.search({ ...request, allowed })).toEqual(expected);
      expect(engine.search({ ...request, allowed: (key) => allowed.has(key) })).toEqual(expected);
      expect(
        engine.search({
          ...request,
          allowed: new Set([...allowed, 'tool of nobody', ...Array(40).keys()].map(String)),
        }),
      ).toEqual(expected);
    }),
    { numRuns: 100 },
  );
});

test('scores are in 0..1, fall, and reach the threshold; no key comes twice', () => {
  fc.assert(
    fc.property(documents, request, (tools, request) => {
      const { results, dropped, threshold } = engineOf(tools, true).search(request);
      expect(results.length + dropped.length).toBeLessThanOrEqual(request.limit);
      for (const [i, { score }] of [...results, ...dropped].entries()) {
        expect(score).toBeGreaterThan(0);
        expect(score).toBeLessThanOrEqual(1);
        expect(score).toBeLessThanOrEqual(results[i - 1]?.score ?? 1);
      }
      expect(results.every(({ score }) => score >= threshold)).toBe(true);
      expect(new Set(results.map(({ key }) => key)).size).toBe(results.length);
    }),
    { numRuns: 100 },
  );
});

test('a document that did not change is not indexed again', () => {
  fc.assert(
    fc.property(documents, (tools) => {
      const engine = engineOf(tools, false);
      const last = Array.from(new Map(tools.map((tool) => [tool.key, tool])).values());
      expect(engine.sync(last)).toEqual({ added: 0, replaced: 0, removed: 0, unchanged: last.length });
    }),
    { numRuns: 30 },
  );
});
