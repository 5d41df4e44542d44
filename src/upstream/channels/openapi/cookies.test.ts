import { expect, test } from 'vitest';
import { answerJson, documentOf, openApi, restApi } from '../../../../test/kit/openapi.ts';
import { setLimits } from '../../../../test/kit/limits.ts';
import { upstreamLimits } from '../../limits.ts';
import { createCookieJar } from './cookies.ts';

const at = (url: string) => new URL(url);

test('a cookie goes back to its origin, below its path, until it ends', () => {
  let now = 1_000_000;
  const jar = createCookieJar(() => now);
  jar.keep(at('https://a.example/v1/login'), [
    'sid=one; HttpOnly; Secure; SameSite=Lax',
    'root=two; Path=/; Domain=example',
    'deep=three; Path=/v1/orders/; Max-Age=60',
    'late=four; Path=/; Expires=Thu, 01 Jan 1970 00:20:00 GMT',
    'gone=five; Max-Age=0',
    'no pair; Path=/',
    'bad\u0001name=six',
    'line=se\u0007ven',
  ]);
  expect(jar.pairsFor(at('https://a.example/v1/orders/7'))).toEqual(['deep=three', 'sid=one', 'root=two', 'late=four']);
  expect(jar.pairsFor(at('https://a.example/v1'))).toEqual(['sid=one', 'root=two', 'late=four']);
  expect(jar.pairsFor(at('https://a.example/v10'))).toEqual(['root=two', 'late=four']);
  for (const other of ['http://a.example/v1', 'https://b.example/v1', 'https://a.example:444/v1', 'https://example/'])
    expect(jar.pairsFor(at(other))).toEqual([]);
  now += 60_000;
  expect(jar.pairsFor(at('https://a.example/v1/orders/7'))).toEqual(['sid=one', 'root=two', 'late=four']);
  now = 1_200_000;
  jar.keep(at('https://a.example/v1/logout'), ['sid=; Max-Age=-1', 'root=new; path=/']);
  expect(jar.pairsFor(at('https://a.example/v1/orders/7'))).toEqual(['root=new']);
  jar.keep(at('http://a.example/'), ['sid=over http; Secure']);
  expect(jar.pairsFor(at('http://a.example/'))).toEqual([]);
});

test('so many are kept and no longer ones', () => {
  setLimits(upstreamLimits, { openapiCookies: 2, openapiCookieChars: 20 });
  const jar = createCookieJar();
  jar.keep(at('https://a.example/'), ['a=1', 'b=2', 'a=3', `c=${'x'.repeat(20)}`, 'd=4']);
  expect(jar.pairsFor(at('https://a.example/'))).toEqual(['a=3', 'd=4']);
});

test.each([
  [true, true, 'sid=1'],
  [true, false, undefined],
  [false, true, undefined],
])('cookieSession %s, of one session %s: the next call has %s', async (cookieSession, isOfSession, expected) => {
  const rest = await restApi();
  const elsewhere = await restApi();
  const get = (operationId: string) => ({ get: { operationId } });
  const schema = documentOf(rest.origin, {
    '/login': get('login'),
    '/who': { get: { operationId: 'who', parameters: [{ in: 'cookie', name: 'sid' }] } },
    '/away': get('away'),
  });
  rest.on('/login', (_, res) => {
    res.setHeader('set-cookie', ['sid=1; Path=/', 'other=2; Path=/']);
    res.writeHead(302, { location: '/landed' }).end();
  });
  rest.on('/away', (_, res) => void res.writeHead(302, { location: `${elsewhere.origin}/there` }).end());
  elsewhere.on('/there', (_, res) => {
    res.setHeader('set-cookie', 'sid=theirs; Path=/');
    answerJson(res, {});
  });
  const api = openApi({ schema, cookieSession }, { isOfSession });
  await api.call('login');
  const both = expected === undefined ? undefined : 'sid=1; other=2';
  expect(rest.received.at(-1)).toMatchObject({ path: '/landed' });
  expect(rest.received.at(-1)?.headers['cookie']).toBe(both);
  await api.call('away');
  expect(elsewhere.received.at(-1)?.headers['cookie']).toBeUndefined();
  expect((await api.sent('who', {})).headers['cookie']).toBe(both);
  // An argument of the call goes first.
  expect((await api.sent('who', { sid: 'own' })).headers['cookie']).toBe(both ? 'sid=own; other=2' : 'sid=own');
});
