import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadLocalEmbedder, type LocalEmbedder } from './embedder-local.ts';
import { toolTerms } from './words/tool-terms.ts';

let embedder: LocalEmbedder;
let folder: string;
beforeAll(async () => {
  embedder = await loadLocalEmbedder();
  folder = await mkdtemp(join(tmpdir(), 'words-'));
});
afterAll(() => rm(folder, { recursive: true }));

function likeness(a: string, b: string): number {
  const [left, right] = [embedder.query(a), embedder.query(b)];
  return left && right ? left.reduce((sum, value, i) => sum + value * (right[i] ?? 0), 0) : Number.NaN;
}

test.each([
  ['rain tomorrow', 'weather forecast', 'bank account'],
  ['remove a folder', 'delete directory', 'play music'],
  ['picture', 'image', 'invoice'],
  ['chat with a colleague', 'send message', 'compile source code'],
])('"%s" is nearer to "%s" than to "%s"', (text, near, far) => {
  expect(likeness(text, near)).toBeGreaterThan(likeness(text, far) + 0.1);
});

test('vectors of queries have length 1 and are the same in every load', async () => {
  const again = await loadLocalEmbedder();
  for (const text of ['delete a file', 'Delete a FILE!', '删除 file']) {
    const vector = embedder.query(text);
    expect(vector).toHaveLength(embedder.dimensions);
    expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 5);
    expect(again.query(text)).toEqual(vector);
  }
});

test('a text of which no word is known has no vector, rather than a misleading one', () => {
  for (const text of ['', '?!', 'xqzvwk jjkqzx', '🚀']) expect(embedder.query(text)).toBeUndefined();
  const nothing = {
    key: '',
    server: 'xqzvwk',
    name: 'jjkqzx',
    description: '',
    parameterNames: '',
    parameterTexts: '',
  };
  expect(embedder.tool(toolTerms(nothing))).toBeUndefined();
});

test('a file that is not a whole table is refused', async () => {
  const whole = await readFile(new URL('../../models/words.bin', import.meta.url));
  const damaged = {
    empty: Buffer.alloc(0),
    short: whole.subarray(0, whole.length - 1),
    long: Buffer.concat([whole, Buffer.alloc(1)]),
    text: Buffer.from('version https://git-lfs.github.com/spec/v1\n'),
    other: Buffer.concat([Buffer.from([16, 0, 0, 0]), Buffer.from('{"format":"csv"}')]),
  };
  for (const [name, content] of Object.entries(damaged)) {
    const path = join(folder, name);
    await writeFile(path, content);
    await expect(loadLocalEmbedder(path)).rejects.toThrow(
      /words.bin|table of word vectors|empty|short|long|text|other/,
    );
  }
  await expect(loadLocalEmbedder(join(folder, 'missing'))).rejects.toMatchObject({ code: 'misconfigured' });
});

test('the table stays within what the package may carry', async () => {
  const { length } = await readFile(new URL('../../models/words.bin', import.meta.url));
  expect(length).toBeLessThan(10_000_000);
});
