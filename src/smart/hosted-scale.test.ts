import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toolDocument } from './document.ts';
import { above, backgroundOf } from './hosted-scale.ts';
import { createSearchEngine } from './search-engine.ts';

test('is within 0..1 whatever the cosines are, and greater for a better one', () => {
  const cosine = fc.integer({ min: -1024, max: 1024 }).map((value) => value / 1024);
  fc.assert(
    fc.property(cosine, fc.array(cosine), cosine, (best, cosines, prior) => {
      const background = backgroundOf(cosines, prior);
      const value = above(background, best);
      expect(value >= 0 && value <= 1).toBe(true);
      expect(above(background, best + 0.1)).toBeGreaterThanOrEqual(value);
      expect(background).toBeGreaterThanOrEqual(Math.min(prior, ...cosines) - 1e-9);
      expect(background).toBeLessThanOrEqual(Math.max(prior, ...cosines) + 1e-9);
    }),
  );
});

const engine = createSearchEngine();
engine.put(
  Array.from({ length: 60 }, (_, i) =>
    toolDocument(`k${i}`, { name: 'shop' }, { name: `tool_${i}`, description: `Thing ${i}` }),
  ),
);

/** A query that shares no word with any tool: all there is to go by is the service. */
function search(background: number, spread: number, best: number, limit = 10, allowed?: ReadonlySet<string>) {
  const similarities = new Map(Array.from({ length: 60 }, (_, i) => [`k${i}`, background + (i % 7) * spread]));
  similarities.set('k20', best);
  const query = 'withdraw money somewhere abroad';
  return engine.search({ query, limit, similarities, background, ...(allowed && { allowed }) });
}

describe.each([
  ['spreads its cosines widely', 0.15, 0.015, 0.55, 0.27],
  ['presses them into the upper quarter', 0.7, 0.005, 0.86, 0.74],
])('with a model that %s', (_how, background, spread, good, poor) => {
  test('a tool far above all others is meant, one hardly above them is of low confidence', () => {
    const found = search(background, spread, good);
    expect(found.results[0]?.key).toBe('k20');
    expect(found.confident).toBe(true);
    const nothing = search(background, spread, poor);
    expect(nothing.confident).toBe(false);
    expect(found.results[0]?.score).toBeGreaterThan(3 * (nothing.results[0]?.score ?? 1));
    for (const { score } of [...found.results, ...nothing.results]) expect(score >= 0 && score <= 1).toBe(true);
  });

  test('tools that may not be found have no part in the score', () => {
    const allowed = new Set(['k20', 'k21', 'k22', 'k23', 'k24']);
    const alone = createSearchEngine();
    alone.put(
      [20, 21, 22, 23, 24].map((i) =>
        toolDocument(`k${i}`, { name: 'shop' }, { name: `tool_${i}`, description: `Thing ${i}` }),
      ),
    );
    const similarities = new Map(
      [20, 21, 22, 23, 24].map((i) => [`k${i}`, i === 20 ? good : background + (i % 7) * spread]),
    );
    const there = alone.search({
      query: 'withdraw money somewhere abroad',
      limit: 10,
      similarities,
      background,
      allowed,
    });
    expect(search(background, spread, good, 10, allowed).results).toEqual(there.results);
  });
});
