import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { logLines } from '../../test/kit/channel-log.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { server, settings } from '../../test/kit/snapshots.ts';
import type { Catalogue } from '../core/catalogue.ts';
import { Embeddings } from './embeddings.ts';
import { smartLimits } from './limits.ts';
import { toolKey } from './routing.ts';
import { createToolSearch } from './tool-search.ts';
import { createVectorStore } from './vectors/kept.ts';

const about = { info: '{}', instructions: undefined, capabilities: [], protocolVersion: '2025-11-25' };
const count = 2_000;
const tools = Array.from({ length: count }, (_, n) => {
  const name = `count_${n}`;
  return { key: name, text: JSON.stringify({ name, description: `Will count the sheep of meadow ${n}. `.repeat(20) }) };
});
const offer = { server: 'farm', about, tools, prompts: [], resources: [], templates: [] };
const catalogue: Catalogue = { version: 1, offers: new Map([['farm', offer]]) };
const farm = settings({ servers: [server('farm')] });

test('a search that came before the table of word vectors waits for its tools in the index with the table too', async () => {
  setLimits(smartLimits, { searchStartMs: 0, indexSliceMs: 0.001, indexWaitMs: 60_000 });
  const store = createVectorStore({ current: () => undefined, state: () => ({ state: 'off' }) as const });
  const embeddings = new Embeddings({ store, log: logLines() });
  atEnd(() => embeddings.close());
  const search = createToolSearch({
    settings: () => farm,
    catalogue: () => catalogue,
    config: () => ({ enabled: false, azure: {}, openai: {} }),
    embeddings,
    log: logLines(),
  });
  atEnd(() => search.close());
  search.start(new Promise(() => undefined));
  const allowed = new Set(tools.map(({ key }) => toolKey('farm', key)));
  const answer = await search.search({
    query: 'count the sheep of meadow 1999',
    context: undefined,
    limit: 3,
    allowed,
  });
  expect(answer.searched).toBe(count);
  expect(answer.results[0]?.key).toBe(toolKey('farm', 'count_1999'));
});
