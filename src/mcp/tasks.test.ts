import { expect, test } from 'vitest';
import type { ClientRequest } from './request.ts';
import { isTaskRequest } from './tasks.ts';

const request = (method: string, stateless: boolean) => ({ method, stateless }) as ClientRequest;

test.each([
  ['of a session', false, 'tasks/result', '2026-07-28', true],
  ['without a session, at a server with sessions', true, 'tasks/result', '2025-11-25', true],
  ['without a session, at a server without', true, 'tasks/result', '2026-07-28', false],
  ['without a session, at a server that was never connected', true, 'tasks/result', undefined, false],
  ['without a session, about its state', true, 'tasks/get', '2026-07-28', true],
  ['about something else', false, 'tasks/list', '2025-11-25', false],
])('a request %s (stateless: %s, %s, its server speaks %s) is one about a task: %s', (...given) => {
  const [, stateless, method, revision, is] = given;
  expect(isTaskRequest(request(method, stateless), { serverOf: () => 'one' }, () => revision)).toBe(is);
});

test('the result of a task that is not the caller’s is no request about a task', () => {
  const none = { serverOf: () => undefined };
  expect(isTaskRequest(request('tasks/result', true), none, () => '2025-11-25')).toBe(false);
});
