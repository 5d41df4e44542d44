import { describe, expect, test } from 'vitest';
import { setLimits } from '../../test/kit/limits.ts';
import { catalogue, offer, server, settings, user } from '../../test/kit/snapshots.ts';
import { type Principal, principalOf } from '../core/access/principal.ts';
import { createViews } from '../core/access/view.ts';
import { coreLimits } from '../core/limits.ts';
import { mcpLimits } from './limits.ts';
import { type ClientRequest, clientRequest } from './request.ts';
import { createTasks, isTaskRequest } from './tasks.ts';

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

describe('while a policy forbids the call that made it, a task is refused', () => {
  const reading =
    'forbid(principal, action, resource) when { context.arguments has x && context.arguments.x like "bad*" };';
  const reaches = { servers: ['s'] };
  const plain = settings({ servers: [server('s')], users: [user('k', reaches), user('other', reaches)] });
  const policies = [{ id: 'p', text: reading, enabled: true, isFile: false }];
  const all = { ...plain, system: { ...plain.system, policies } };
  const offered = catalogue(offer('s', ['t']));
  const scope = { kind: 'all' } as const;
  const none = { clientHeaders: undefined, address: undefined };

  function tasksOf() {
    const views = createViews(() => ({ settings: all, catalogue: offered }));
    const tasks = createTasks({ views, life: () => 1, settings: () => all, catalogue: () => offered });
    const request = (principal: Principal, method: string, params: object): ClientRequest => {
      const ignored = () => undefined;
      const reply = { notify: ignored, answer: ignored, answerBytes: ignored, answerLarge: ignored, gone: undefined };
      const how = { stateless: false, view: views.get(principal, scope), pageSize: 0, reply, session: undefined };
      const message = { jsonrpc: '2.0', id: 1, method, params } as const;
      return clientRequest({ message, id: '1', params: JSON.stringify(params) }, { principal, scope, ...none }, how);
    };
    return {
      make: (principal: Principal, taskId: string, x: string): void => {
        const times = { ms: 1, queueMs: 0, serverMs: 1 };
        const made = request(principal, 'tools/call', { name: 's-t', arguments: { x } });
        const answer = JSON.stringify({ task: { taskId } });
        tasks.learn({
          request: made,
          target: { server: 's', key: 't' },
          ...times,
          outcome: 'ok',
          error: undefined,
          answer,
        });
      },
      wants: (principal: Principal, taskId: string): string => {
        try {
          return tasks.addressed(request(principal, 'tasks/result', { taskId })).target.key;
        } catch (error) {
          return String(error);
        }
      },
    };
  }

  const [mine, others] = [principalOf(user('k')), principalOf(user('other'))];

  test('however long its arguments are, as far as policies read them', () => {
    const { make, wants } = tasksOf();
    const long = 'a'.repeat(coreLimits.policyArgumentChars - 20);
    make(mine, 'good', long);
    make(mine, 'bad', `bad${long.slice(3)}`);
    make(mine, 'longer', `${long}${'a'.repeat(20)}`);
    expect(wants(mine, 'good')).toBe('good');
    expect(wants(mine, 'bad')).toMatch(/policy "p" forbids/);
    expect(wants(mine, 'longer')).toMatch(/arguments are not kept/);
  });

  test('where others needed the room for its arguments too, those of its own caller first', () => {
    setLimits(mcpLimits, { taskArgumentCharsPerPrincipal: 1_000, taskArgumentChars: 1_700 });
    const { make, wants } = tasksOf();
    for (const id of ['a', 'b', 'c']) make(mine, id, 'x'.repeat(450));
    make(others, 'd', 'x'.repeat(450));
    expect(['a', 'b', 'c'].map((id) => wants(mine, id).slice(0, 40))).toEqual([
      expect.not.stringMatching(/^a$/),
      'b',
      'c',
    ]);
    make(others, 'e', 'x'.repeat(450));
    expect(wants(mine, 'b')).toMatch(/arguments are not kept/);
    expect([wants(mine, 'c'), wants(others, 'd'), wants(others, 'e')]).toEqual(['c', 'd', 'e']);
  });
});
