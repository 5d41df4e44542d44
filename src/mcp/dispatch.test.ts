import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { logLines } from '../../test/kit/channel-log.ts';
import { clientParts, connectionsBy } from '../../test/kit/client-parts.ts';
import { anonymous } from '../core/access/principal.ts';
import type { SmartView, View } from '../core/access/view.ts';
import { createSealer } from '../core/seal.ts';
import { createServerRequests } from './server-requests/server-requests.ts';
import type { DispatchOptions } from './dispatch.ts';
import { invoke } from './invoke.ts';

const smart = {
  progressive: true,
  tools: { targets: [{ server: 'a', key: 't' }], texts: ['{"name":"a-t","inputSchema":{"type":"object"}}'] },
  indexOf: (name: string) => (name === 'a-t' ? 0 : undefined),
  isPinned: () => false,
} as unknown as SmartView;

test.each([
  ['a call of a tool that is not there', undefined, { name: 'no-such-tool' }],
  ['a search', smart, { name: 'search_tools', arguments: { query: 'x' } }],
  ['a description', smart, { name: 'describe_tool', arguments: { toolName: 'a-t' } }],
  ['a call of a tool that a search does not find', smart, { name: 'call_tool', arguments: { toolName: 'b-t' } }],
  ['a call of another tool than those of a search', smart, { name: 'no-such-tool' }],
])('%s is answered once its record is kept, and not before', async (_, smartView, params) => {
  const events: string[] = [];
  const waiting: (() => void)[] = [];
  const afterKeeping = (done: () => void): void => void waiting.push(done);
  const record = (): void => void events.push('recorded');
  const view = {
    kind: 'all',
    servers: [],
    tool: () => undefined,
    meantByPages: () => [],
    smart: smartView,
  } as unknown as View;
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
    records: { finished: () => undefined, refused: record, used: record, afterKeeping },
    version: '1',
    log: logLines(),
  };
  const asked = {
    principal: anonymous,
    scope: { kind: 'all' },
    view,
    clientHeaders: undefined,
    address: undefined,
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
});
