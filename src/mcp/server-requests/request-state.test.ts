import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { anonymous, type Principal } from '../../core/access/principal.ts';
import type { Scope } from '../../core/access/scope.ts';
import { createSealer } from '../../core/seal.ts';
import type { ClientRequest } from '../request.ts';
import { createRequestStates } from './request-state.ts';

const target = { server: 's', key: 't' };
const user = (username: string): Principal => ({ kind: 'user', username });
const request = (principal: Principal = anonymous, scope: Scope = { kind: 'all' }, method = 'tools/call') =>
  ({ principal, scope, method }) as ClientRequest;

let time = 1_000;
const sealer = createSealer(randomBytes(32), 'state');
const states = createRequestStates(sealer, () => time);

test.each([
  { kind: 'server', state: 'any "text" of the server\n' },
  { kind: 'server', state: 'x', pass: { approvals: ['a', 'b'], use: 'first' } },
  { kind: 'parked', id: 'one', use: 'first' },
] as const)('what is sealed is there again: %j', (content) => {
  const token = states.seal(request(), target, content, 100);
  expect(states.open(token, request(), target)).toEqual(content);
});

test('a state is good for one caller, endpoint, method, server and target, and for so long', () => {
  const token = states.seal(request(user('ann')), target, { kind: 'server', state: 'x' }, 100);
  const open =
    (own: ClientRequest, at = target, given: unknown = token) =>
    () =>
      states.open(given, own, at);
  expect(open(request(user('ann')))()).toEqual({ kind: 'server', state: 'x' });
  const wrong = [
    open(request()),
    open(request(user('bob'))),
    open(request({ kind: 'key', id: 'ann' })),
    open(request(user('ann'), { kind: 'smart', group: undefined })),
    open(request(user('ann'), { kind: 'all' }, 'prompts/get')),
    open(request(user('ann')), { server: 's', key: 'u' }),
    open(request(user('ann')), { server: 'r', key: 't' }),
    open(request(user('ann')), target, `${token}A`),
    open(request(user('ann')), target, ''),
    open(request(user('ann')), target, null),
    open(request(user('ann')), target, createSealer(randomBytes(32), 'state').seal('[]')),
    open(request(user('ann')), target, sealer.seal('[]')),
  ];
  for (const attempt of wrong) expect(attempt).toThrow('params.requestState is not valid');
  time += 100;
  expect(open(request(user('ann')))).toThrow('params.requestState is not valid');
});

test.each([
  ['a round without its number', ['s', null, null, null, { use: 'u', untilSecond: 1, arguments: 'a' }]],
  ['a pass without its approvals', ['s', null, 'u', 7, null]],
  ['a kind that this version does not have', ['x', 'one', 'first']],
  ['too few parts', ['s']],
  ['a use that is no text', ['p', 'one', 7]],
])('what this hub has sealed is looked at again when it is opened: %s', (_, inner) => {
  const read = JSON.parse(sealer.open(states.seal(request(), target, { kind: 'server', state: 'x' }, 100)) ?? '');
  const [bound, until] = read as [string, number];
  const open = (content: unknown[]) => states.open(sealer.seal(JSON.stringify(content)), request(), target);
  expect(open([bound, until, 's', 'x', null, null, null])).toEqual({ kind: 'server', state: 'x' });
  expect(() => open([bound, until, ...inner])).toThrow('params.requestState is not valid');
});
