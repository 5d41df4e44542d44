import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { quoted, readResults, withLine, withTables } from '../../bench/report.mjs';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const benchmarks = read('BENCHMARKS.md');
const documents = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(new URL('../../docs/', import.meta.url))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Every figure of every recorded run, as it is spelled. */
const recorded = new Set(readResults().flatMap(({ rows }) => rows.flatMap((row) => Object.values(row).map(String))));

/**
 * Figures with a unit of speed or size; counts of sessions and tools are not claims. `µs` and the like may follow a
 * narrow space.
 */
function figuresIn(text: string): string[] {
  return [...text.matchAll(/(\d[\d\u202f ]*(?:\.\d+)?)\s*(?:µs|ms|KB|MB|calls a second|calls\/s|times)/g)].map(
    ([, figure = '']) => figure.replaceAll(/[\u202f ]/g, ''),
  );
}

test('the benchmarks show the runs that were recorded last', () => {
  expect(withTables(benchmarks, readResults())).toBe(benchmarks);
});

test.each(Object.entries(quoted))('%s shows the runs of %j that were recorded last', (path, names) => {
  const runs = readResults().filter(({ scenario }) => names.includes(scenario));
  expect(withTables(read(path), runs)).toBe(read(path));
});

test('the README says what the recorded runs say of a call', () => {
  const readme = read('README.md');
  expect(withLine(readme, readResults())).toBe(readme);
  expect(readme).toMatch(/^Against the smallest relay .* a call costs [\d.]+ × .*BENCHMARKS\.md\)\)\.$/m);
});

test.each(documents)('what %s says of speed is in the last recorded run', (path) => {
  const claims = read(path)
    .split(/\n{2,}|\n(?=[-|])/)
    .filter((paragraph) => paragraph.includes('BENCHMARKS.md'));
  const wrong = claims.flatMap(figuresIn).filter((figure) => !recorded.has(figure));
  expect(wrong).toEqual([]);
});

test('what the benchmarks say in words is in the last recorded run too', () => {
  const words = benchmarks.replaceAll(/<!-- \w+ -->[\s\S]*?<!-- end -->/g, '');
  // What stands before it in a row of a table is what is aimed at.
  const claims = words.split(/\n{2,}|\n(?=[-|])/).flatMap((paragraph) => paragraph.split('**measured**').slice(1));
  expect(claims.flatMap(figuresIn).filter((figure) => !recorded.has(figure))).toEqual([]);
});

test('a figure that was never recorded is found', () => {
  expect(figuresIn('A call costs 123.456 µs; 1 234 calls a second.')).toEqual(['123.456', '1234']);
  expect(recorded.has('123.456')).toBe(false);
  expect(recorded.size).toBeGreaterThan(20);
});
