import { expect, test } from 'vitest';

import { setLimits } from '../../../../test/kit/limits.ts';
import { documentOf } from '../../../../test/kit/openapi.ts';
import { coreLimits } from '../../../core/limits.ts';
import { upstreamLimits } from '../../limits.ts';
import { openOperations, readOperations } from './operations.ts';
import { openPacking, readPages } from './pages.ts';

const get = (name: string) => ({ get: { operationId: name } });
const supplied = { headers: new Set<string>(), query: new Set<string>(), cookies: new Set<string>() };
const reading = {
  documentUrl: undefined,
  supplied,
  servers: { baseUrl: undefined, variables: {} },
  media: { preferred: undefined, byTool: {} },
};

test('of the operations that were called, the one that was not called for longest is given up', async () => {
  setLimits(coreLimits, { schemas: 2 });
  const document = documentOf('http://127.0.0.1:1', { '/a': get('a'), '/b': get('b'), '/c': get('c') });
  const operation = openOperations(await readOperations(document, reading));
  const [a, b] = [operation('a'), operation('b')];
  expect(operation('a')).toBe(a);
  operation('c');
  expect(operation('a')).toBe(a);
  expect(operation('b')).not.toBe(b);
  expect(operation('b')).toEqual(b);
});

test('a list as long as a document can make it has no more pages than are read of a list', () => {
  const packing = openPacking();
  const text = JSON.stringify('x'.repeat(30_000));
  const places = Array.from({ length: 3_000 }, () => packing.add(text));
  const pages = readPages(packing.packed());
  expect(pages.count).toBeLessThan(upstreamLimits.listPages);
  const last = places.at(-1);
  expect(last && pages.text(last)).toBe(text);
});
