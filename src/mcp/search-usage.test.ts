import { expect, test } from 'vitest';
import type { Principal } from '../core/access/principal.ts';
import { mcpLimits } from './limits.ts';
import type { ClientRequest } from './request.ts';
import { createSearchUsage } from './search-usage.ts';

type Asker = Pick<ClientRequest, 'principal' | 'address' | 'session' | 'sessionId'>;
const request = (asker: Partial<Asker>) =>
  ({ principal: { kind: 'anonymous' }, address: '::1', session: undefined, ...asker }) as ClientRequest;
const user = (username: string): Principal => ({ kind: 'user', username });
const target = (key: string) => ({ server: 'farm', key });
const found = (...keys: string[]) => keys.map((key) => ({ target: target(key), score: 0.5 }));

function usage() {
  let time = 0;
  const searches = createSearchUsage(() => time);
  const note = (asker: Partial<Asker>, query: string, ...keys: string[]) =>
    searches.note(request(asker), { query, results: found(...keys) });
  const rank = (asker: Partial<Asker>, key: string) => {
    const link = searches.find(request(asker), target(key));
    return link && `${link.query} ${link.searchRank}`;
  };
  return { note, rank, searches, later: (ms: number) => (time += ms) };
}

test('the latest search that found the tool is the one that led to it', () => {
  const { note, rank, searches } = usage();
  const ann = { principal: user('ann') };
  note(ann, 'first', 'a', 'b');
  const second = note(ann, 'second', 'c', 'b');
  expect([rank(ann, 'a'), rank(ann, 'b'), rank(ann, 'd')]).toEqual(['first 1', 'second 2', undefined]);
  expect(searches.find(request(ann), target('c'))?.searchId).toBe(second);
});

test('belongs to no other: not to another user, address, or session', () => {
  const { note, rank } = usage();
  note({ principal: user('ann'), sessionId: 'one' }, 'hers', 'a');
  note({ address: '192.0.2.1' }, 'a stranger’s', 'a');
  for (const asker of [
    { principal: user('ann') },
    { principal: user('ann'), sessionId: 'two' },
    { principal: user('bob'), sessionId: 'one' },
    { address: '192.0.2.2' },
    { address: '192.0.2.1', sessionId: 'one' },
  ])
    expect(rank(asker, 'a'), `of ${JSON.stringify(asker)}`).toBeUndefined();
  expect(rank({ principal: user('ann'), sessionId: 'one', address: '192.0.2.9' }, 'a')).toBe('hers 1');
  expect(rank({ address: '192.0.2.1' }, 'a')).toBe('a stranger’s 1');
});

test('is forgotten after a while, and when there are many', () => {
  const { note, rank, later } = usage();
  const ann = { principal: user('ann') };
  note(ann, 'old', 'a');
  later(mcpLimits.searchLinkMs + 1);
  expect(rank(ann, 'a')).toBeUndefined();
  for (let n = 0; n <= mcpLimits.searchesPerAsker; n++) note(ann, `${n}`, `tool ${n}`);
  expect([rank(ann, 'tool 0'), rank(ann, 'tool 1')]).toEqual([undefined, '1 1']);
  for (let n = 0; n < mcpLimits.searchAskers; n++) note({ principal: user(`user ${n}`) }, 'x', 'y');
  expect([rank(ann, 'tool 1'), rank({ principal: user('user 0') }, 'y')]).toEqual([undefined, 'x 1']);
});

test('when there are too many, the caller that was silent longest is forgotten', () => {
  const { note, rank, later } = usage();
  const asker = (n: number) => ({ principal: user(`user ${n}`) });
  for (let n = 0; n < mcpLimits.searchAskers; n++) note(asker(n), 'x', 'y');
  later(1);
  note(asker(0), 'again', 'z');
  note(asker(mcpLimits.searchAskers), 'x', 'y');
  expect([rank(asker(0), 'y'), rank(asker(1), 'y'), rank(asker(2), 'y')]).toEqual(['x 1', undefined, 'x 1']);
});
