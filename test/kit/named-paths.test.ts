import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folders = ['src', 'web', 'test', 'scripts', 'bench', 'docs', 'decisions', 'models'];

/** What is in the repository, by its path: files and folders. */
const paths = [
  ...readdirSync(root),
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder), { encoding: 'utf8', recursive: true }).map((path) => `${folder}/${path}`),
  ),
].filter((path) => !path.includes('node_modules/'));

const rooms = new Set([...folders, ...readdirSync(join(root, 'src'))]);
/** `CHANGELOG.md` is not among them: it tells of what was there then. */
const documents = paths
  .filter((path) => /^(?:[A-Z]+|docs\/.*|decisions\/.*|bench\/.*|models\/.*)\.md$/.test(path))
  .filter((path) => path !== 'CHANGELOG.md');

/** Files that others write, by the names that their formats give them. */
const ofOthers = new Set(['SKILL.md']);

/**
 * Whether something in the repository is called so: by its whole path, or by the end of it; `*` is any name. An ending
 * may be left out.
 */
function isThere(name: string): boolean {
  if (ofOthers.has(name)) return true;
  const pattern = name
    .replace(/\/$/, '')
    .replaceAll('.', String.raw`\.`)
    .replaceAll('*', '[^/]*');
  const called = new RegExp(`(?:^|/)${pattern}(?:\\.tsx?)?$`);
  return paths.some((path) => called.test(path));
}

/**
 * Words in backticks that are files of sources, or begin with a folder of ours; of the map of the modules every file
 * and folder.
 */
function namesIn(text: string): string[] {
  const [maps, rest] = [text.match(/^```\nsrc\/$[\s\S]*?^```$/gm) ?? [], text.replaceAll(/^```[\s\S]*?^```$/gm, '')];
  const quoted = [...rest.matchAll(/`([\w.*/-]+)`/g)].map(([, word = '']) => word);
  const ours = quoted.filter(
    (word) => /\w\.(?:tsx?|mjs|md|sql)$/.test(word) || (word.includes('/') && rooms.has(word.split('/')[0] ?? '')),
  );
  return [...ours, ...maps.flatMap((map) => map.match(/(?<![\w./-])[\w-]+(?:\/[\w-]+)*(?:\.ts\b|\/(?!\w))/g) ?? [])];
}

test.each(documents)('every file and folder that %s names is there', (document) => {
  const text = readFileSync(join(root, document), 'utf8');
  expect(namesIn(text).filter((name) => !isThere(name))).toEqual([]);
  const links = [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !existsSync(join(root, dirname(document), link)))).toEqual([]);
});

test('every file that a comment names is there', () => {
  const sources = paths.filter((path) => /\.(?:tsx?|mjs)$/.test(path) && existsSync(join(root, path)));
  const missing = sources.flatMap((path) => {
    const comments = readFileSync(join(root, path), 'utf8').match(/\/\*\*[\s\S]*?\*\/|\/\/ .*$/gm) ?? [];
    return comments
      .flatMap(namesIn)
      .filter((name) => !isThere(name))
      .map((name) => `${path}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test('a file that is not there is found missing, and a document that names none is not', () => {
  expect(namesIn('`src/gone.ts` and `http/gone/`, but `tasks/get`').filter((name) => !isThere(name))).toEqual([
    'src/gone.ts',
    'http/gone/',
  ]);
  expect(namesIn('```\nsrc/\n  cli.ts, gone/  x/y\n```').filter((name) => !isThere(name))).toEqual(['gone/']);
});
