import { expect, test } from 'vitest';
import { logLines } from '../../../../test/kit/channel-log.ts';
import type { Ask } from '../exchange.ts';
import { readList } from './read-list.ts';

/** A server whose list has these pages. */
function pages(...results: Record<string, unknown>[]): Ask {
  let page = 0;
  return async () => {
    const next = page + 1 < results.length ? { nextCursor: String(page + 1) } : {};
    const result = { tools: [{ name: `t${page}` }], ...results[page++], ...next };
    return { message: { result }, text: JSON.stringify({ result }) };
  };
}

const hint = async (...results: Record<string, unknown>[]) =>
  (await readList(pages(...results), 'tools', logLines(), 1_000)).hint;

test('what caches may do with a list is what all its pages allow', async () => {
  expect(await hint({ ttlMs: 5_000, cacheScope: 'public' })).toEqual({ ttlMs: 5_000, scope: 'public' });
  const two = [
    { ttlMs: 5_000, cacheScope: 'public' },
    { ttlMs: 2_000, cacheScope: 'private' },
  ];
  expect(await hint(...two)).toEqual({ ttlMs: 2_000, scope: 'private' });
});

test('a server that says nothing of caches is not spoken for, and nonsense is the narrowest', async () => {
  expect(await hint({})).toBeUndefined();
  for (const nonsense of [
    { ttlMs: -1 },
    { ttlMs: 'long' },
    { ttlMs: 1.5 },
    { ttlMs: 1e300 },
    { cacheScope: 'everybody' },
  ])
    expect(await hint({ cacheScope: 'shared', ...nonsense })).toEqual({ ttlMs: 0, scope: 'private' });
});

test('an item that is laid out for people is kept without its layout, and otherwise as it was written', async () => {
  const item = String.raw`{ "name" : "a  \"b\\",${'\r\n'}  "inputSchema": {${'\n\t'}"max": 1.50,  "x": [ 9007199254740993, { } ] } }`;
  const result = `{"tools":[${item},{"name":"on one  line",  "x":1.0}]}`;
  const ask: Ask = async () => ({ message: { result: JSON.parse(result) as unknown }, text: `{"result":${result}}` });
  const { items } = await readList(ask, 'tools', logLines(), 1_000);
  expect(items.map(({ text }) => text)).toEqual([
    String.raw`{"name":"a  \"b\\","inputSchema":{"max":1.50,"x":[9007199254740993,{}]}}`,
    '{"name":"on one  line",  "x":1.0}',
  ]);
});
