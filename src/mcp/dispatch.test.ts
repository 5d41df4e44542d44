import { randomBytes } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { logLines } from '../../test/kit/channel-log.ts';
import { clientParts, connectionsBy } from '../../test/kit/client-parts.ts';
import { catalogue, offer, server, settings } from '../../test/kit/snapshots.ts';
import { anonymous } from '../core/access/principal.ts';
import { view as viewOf } from '../core/access/view.ts';
import { createSealer } from '../core/seal.ts';
import { createServerRequests } from './server-requests/server-requests.ts';
import type { DispatchOptions } from './dispatch.ts';
import { invoke } from './invoke.ts';

const of = settings({ servers: [server('a')] });
const progressive = { ...of, system: { ...of.system, progressiveDisclosure: true } };
const offered = catalogue(offer('a', ['t']));
const all = viewOf(progressive, offered, anonymous, { kind: 'all' });
const smart = viewOf(progressive, offered, anonymous, { kind: 'smart', group: undefined });

test.each([
  ['a call of a tool that is not there', all, { name: 'no-such-tool' }],
  ['a search', smart, { name: 'search_tools', arguments: { query: 'x' } }],
  ['a description', smart, { name: 'describe_tool', arguments: { toolName: 'a-t' } }],
  ['a call of a tool that a search does not find', smart, { name: 'call_tool', arguments: { toolName: 'b-t' } }],
  ['a call of another tool than those of a search', smart, { name: 'no-such-tool' }],
])('%s is answered once its record is kept, and not before', async (_, view, params) => {
  const events: string[] = [];
  const waiting: (() => void)[] = [];
  const afterKeeping = (done: () => void): void => void waiting.push(done);
  const record = (): void => void events.push('recorded');
  const options: DispatchOptions = {
    connections: connectionsBy(undefined),
    smart: {
      search: async () => ({
        results: [],
        dropped: [],
        searched: 0,
        confident: true,
        threshold: 0,
        degraded: undefined,
      }),
      key: ({ server, key }) => `${server} ${key}`,
      available: () => true,
      problems: () => [],
    },
    serverRequests: createServerRequests(createSealer(randomBytes(32), 'test')),
    ...clientParts({ get: () => view }),
    records: { finished: () => undefined, refused: record, refusedRead: record, used: record, afterKeeping },
    version: '1',
    log: logLines(),
  };
  const { signal } = new AbortController();
  const asked = {
    principal: anonymous,
    scope: { kind: 'all' },
    view,
    clientHeaders: undefined,
    address: undefined,
    signal,
  } as const;
  const answered = invoke({ method: 'tools/call', params: JSON.stringify(params), ...asked }, options).then(
    () => events.push('answered'),
    () => events.push('answered'),
  );
  // A search takes some turns, an answer that does not wait takes none.
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(events).toEqual(['recorded']);
  for (const done of waiting) done();
  await answered;
  expect(events).toEqual(['recorded', 'answered']);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
