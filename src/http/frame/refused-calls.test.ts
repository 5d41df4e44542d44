import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { HubError } from '../../core/errors.ts';
import type { ApiEnv, Caller } from './caller.ts';
import { recordRefusedCalls } from './refused-calls.ts';
import { fail } from './reply.ts';

test('a refused call is answered once its record is kept, and not before', async () => {
  const events: string[] = [];
  const waiting: (() => void)[] = [];
  const refused = (): void => void events.push('recorded');
  const app = new Hono<ApiEnv>();
  app.use(async (c, next) => {
    c.set('caller', { principal: { kind: 'anonymous' }, address: '127.0.0.1', audited: { via: 'api' } } as Caller);
    await next();
  });
  app.get('/', recordRefusedCalls({ refused, afterKeeping: (done) => void waiting.push(done) }), (c) => {
    c.set('asked', { server: 'a', tool: 't', scope: { kind: 'all' } });
    throw new HubError('not_found', 'There is no such tool.');
  });
  app.onError((error, c) => fail(c, error as HubError));
  const answer = Promise.resolve(app.request('/'));
  const answered = answer.then(() => events.push('answered'));
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(events).toEqual(['recorded']);
  for (const done of waiting) done();
  await answered;
  expect([(await answer).status, events]).toEqual([404, ['recorded', 'answered']]);
});
