import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { silent } from '../../../test/kit/embedded-template.ts';
import { saying } from '../../core/sentences.ts';
import { answerErrors, fail, failBare } from './reply.ts';

async function answered(answer: typeof fail, code: 'no_database' | 'database_down') {
  const app = new Hono().get('/', () => {
    throw saying('not_ready', code);
  });
  app.onError(answerErrors(silent, answer));
  const response = await app.request('/');
  return [response.status, ((await response.json()) as { error?: string }).error, response.headers.has('Retry-After')];
}

test('that there is no database is told by name, and no other try is offered', async () => {
  expect(await answered(fail, 'no_database')).toEqual([503, 'no_database', false]);
  expect(await answered(fail, 'database_down')).toEqual([503, undefined, true]);
});

test('the name of a sentence is no code of the error where routes answer with that', async () => {
  expect(await answered(failBare, 'no_database')).toEqual([503, 'not_ready', false]);
});
