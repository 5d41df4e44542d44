import { expect, test } from 'vitest';
import { connectionsBy } from '../../test/kit/client-parts.ts';
import { catalogue, item, offer, server, settings } from '../../test/kit/snapshots.ts';
import { deferred } from '../core/deferred.ts';
import { anonymous } from '../core/access/principal.ts';
import { createViews, type View } from '../core/access/view.ts';
import type { Catalogue } from '../core/catalogue.ts';
import { HubError } from '../core/errors.ts';
import { type ClientRequest, clientRequest } from './request.ts';
import { listingFirst } from './unlisted.ts';

const all = settings({ servers: [server('a'), server('b')] });
const other = offer('b', ['t'], { resources: [item('x://b', 'uri')], templates: [item('x://b/{id}', 'uriTemplate')] });
const scope = { kind: 'all' } as const;
const ignored = () => undefined;
const reply = { notify: ignored, answer: ignored, answerBytes: ignored, answerLarge: ignored, gone: undefined };
const none = { clientHeaders: undefined, address: undefined, session: undefined };

/** What a request waits for while `a` is started again, and what it sees then. */
function waiting(
  method: string,
  params: object,
  restarting: Catalogue = { ...catalogue(other), restarted: new Set('a') },
  senderNow?: ClientRequest['senderNow'],
) {
  let now = restarting;
  const start = deferred<void>();
  const asked: string[] = [];
  const views = createViews(() => ({ settings: all, catalogue: now }));
  const view = views.get(anonymous, scope);
  const message = { jsonrpc: '2.0', id: 1, method, params } as const;
  const how = { stateless: true, view, pageSize: 0, reply, session: undefined };
  const request = clientRequest(
    { message, id: '1', params: JSON.stringify(params) },
    { principal: anonymous, scope, ...none, senderNow },
    how,
  );
  const listed = (name: string): Promise<void> => {
    asked.push(name);
    return start.promise;
  };
  const found = deferred<View>();
  const options = { views, connections: connectionsBy(undefined), listed };
  const waits = listingFirst(request, options, (seen) => found.resolve(seen));
  return {
    asked,
    leaves: () => request.reply.gone?.(),
    seen: waits?.then(() => found.promise),
    started: (): void => {
      const offered = offer('a', ['t'], { prompts: [item('p')], resources: [item('x://a', 'uri')] });
      now = { ...catalogue(offered, other), version: 2 };
      start.resolve();
    },
    fails: () => start.reject(new HubError('upstream_unavailable', 'away')),
  };
}

test.each([
  ['tools/call', { name: 'a-t' }],
  ['prompts/get', { name: 'a-p' }],
  ['resources/read', { uri: 'x://a' }],
  ['resources/subscribe', { uri: 'x://a' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'a-p' } }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'x://a' } }],
])('%s waits for a server that is started again: %j', async (method, params) => {
  const { asked, seen, started } = waiting(method, params);
  expect(asked).toEqual(['a']);
  started();
  const view = await seen;
  expect([view?.tool('a-t'), view?.prompt('a-p'), view?.resource('x://a')].map((one) => one?.server)).toEqual([
    'a',
    'a',
    'a',
  ]);
});

test.each([
  ['tools/call', { name: 'b-t' }],
  ['resources/read', { uri: 'x://b' }],
  ['resources/read', { uri: 'x://b/1' }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'x://b/{id}' } }],
  ['tools/call', {}],
  ['resources/read', {}],
])('%s of a server that runs, or of none, waits for no other: %j', (method, params) => {
  expect(waiting(method, params).seen).toBeUndefined();
});

test('a server whose lists are known is waited for until it is started; should it fail, the request itself finds out', async () => {
  const known = { ...catalogue(offer('a', ['t']), other), restarted: new Set('a') };
  const { asked, seen, fails } = waiting('tools/call', { name: 'a-t' }, known);
  expect(asked).toEqual(['a']);
  fails();
  expect((await seen)?.tool('a-t')?.server).toBe('a');
});

test('a name of a server that does not start is told of it; a URI may be of another, and is looked for there', async () => {
  const call = waiting('tools/call', { name: 'a-t' });
  call.fails();
  await expect(call.seen).rejects.toThrow('Server "a" is not connected.');
  const read = waiting('resources/read', { uri: 'x://b/none/of/its' });
  read.fails();
  expect((await read.seen)?.resource('x://b/none/of/its')?.server).toBe('b');
});

test('a client that leaves while its sender is looked up once more is not answered, and nothing is called', async () => {
  const [looked, sender] = [deferred<void>(), deferred<typeof anonymous>()];
  const senderNow = () => {
    looked.resolve();
    return sender.promise;
  };
  const { seen, started, leaves } = waiting('tools/call', { name: 'a-t' }, undefined, senderNow);
  started();
  await looked.promise;
  leaves();
  sender.resolve(anonymous);
  await expect(seen).rejects.toMatchObject({ code: 'cancelled' });
});
