import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, test } from 'vitest';

// The texts of the dashboard that not every page needs are loaded with the pages that do (`web/src/app/router.tsx`).

const root = resolve(import.meta.dirname, '../../web/src');
const english = resolve(root, 'i18n/languages/en');

/** The part that each text is in, by the first word of its key. */
const partOf = new Map(
  readdirSync(english).flatMap((file) =>
    [...readFileSync(resolve(english, file), 'utf8').matchAll(/^export const (\w+)/gm)].map(([, word = '']) => [
      word,
      file.replace('.ts', ''),
    ]),
  ),
);

interface Module {
  readonly imports: readonly string[];
  readonly later: readonly string[];
  /** Parts of the texts whose keys stand in it. */
  readonly parts: readonly string[];
}

const known = new Map<string, Module>();

function moduleAt(path: string): Module {
  const before = known.get(path);
  if (before) return before;
  const source = readFileSync(path, 'utf8');
  const paths = (pattern: RegExp) =>
    [...source.matchAll(pattern)]
      .map(([, to = '']) => resolve(dirname(path), to))
      .filter((to) => /\.tsx?$/.test(to) && existsSync(to));
  const found: Module = {
    imports: paths(/^(?:import|export) (?!type )[^;'"]*?'(\.[^']+)'/gm),
    later: paths(/\bimport\('(\.[^']+)'/g),
    parts: [...source.matchAll(/['`]([a-z]\w*)\./g)].flatMap(([, word = '']) => partOf.get(word) ?? []),
  };
  known.set(path, found);
  return found;
}

/** A module with all that it imports, and with `all` what it loads later. */
function reached(path: string, all: boolean, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const { imports, later } = moduleAt(path);
  for (const next of all ? [...imports, ...later] : imports) reached(next, all, seen);
  return seen;
}

const partsOf = (paths: ReadonlySet<string>) => new Set([...paths].flatMap((path) => moduleAt(path).parts));

/** Those that are there from the start. */
const first: ReadonlySet<string> = new Set(
  [...readFileSync(`${english}.ts`, 'utf8').matchAll(/^import \* as (\w+) from/gm)].map(([, part = '']) => part),
);
const start = reached(resolve(root, 'main.tsx'), false);

test('what is there from the start uses texts that are', () => {
  expect([...partsOf(start)].filter((part) => !first.has(part))).toEqual([]);
  expect(partsOf(start).size).toBeGreaterThan(2);
});

/** The parts that are asked for beside a module that is loaded later: after its path, in the same statement. */
function askedFor(path: string): Map<string, Set<string>> {
  const source = readFileSync(path, 'utf8');
  return new Map(
    [...source.matchAll(/\bimport\('(\.[^']+\.tsx)'\)([^;]*);/g)].map(([, to = '', rest = '']) => [
      resolve(dirname(path), to),
      new Set([...rest.matchAll(/'(\w+)'/g)].map(([, word = '']) => word)),
    ]),
  );
}

const pages = [...start].flatMap((path) => [...askedFor(path)].map(([page, asked]) => ({ page, asked })));

test.each(pages)('$page uses texts that are loaded with it', ({ page, asked }) => {
  const used = partsOf(new Set([...reached(page, true)].filter((path) => !start.has(path))));
  const missing = [...used].filter((part) => !first.has(part) && !asked.has(part));
  expect(missing, 'name these in router.tsx, as the others do').toEqual([]);
});

test('all pages are looked at', () => {
  const folder = resolve(root, 'pages');
  const reachedPages = new Set([...start, ...pages.flatMap(({ page }) => [...reached(page, true)])]);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.tsx'));
  expect(files.map((file) => resolve(folder, file)).filter((file) => !reachedPages.has(file))).toEqual([]);
});
