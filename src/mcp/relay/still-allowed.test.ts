import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { governed, type Governed } from '../../../test/kit/why.ts';
import { server, user } from '../../../test/kit/snapshots.ts';
import { anonymous, principalOf } from '../../core/access/principal.ts';
import type { Target, View } from '../../core/access/view.ts';
import { emptyCatalogue } from '../../core/catalogue.ts';
import { HubError } from '../../core/errors.ts';
import { ownServer } from '../../core/own-items.ts';
import type { GuardSettings, SecretsInCalls } from '../../core/settings/governance.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { clientMessage, type ClientRequest } from '../request.ts';
import type { Governance } from './admission.ts';
import { admittedNow, refusedAtOnce, refusedNow, type WaitingCall, withdrawnNow, yesTo } from './still-allowed.ts';

// Whether a call that has waited may go on.

const ann = user('ann');
const target: Target = { server: 'db', key: 'query' };
const view = {} as View;
const guard: GuardSettings = {
  name: 'pii',
  url: 'http://guard.test',
  on: ['call'],
  servers: undefined,
  timeoutMs: 1_000,
  onFailure: 'refuse',
  secret: undefined,
};

interface Set extends Governed {
  readonly secretsInCalls?: SecretsInCalls;
}

function settingsOf({ secretsInCalls, ...more }: Set): Settings {
  return governed({ users: [ann], servers: [server('db', secretsInCalls && { secretsInCalls })] }, more);
}

function requestOf(method = 'tools/call'): ClientRequest {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name: 'db-query', arguments: { sql: 'x' } } });
  const { id = '1', ...rest } = clientMessage(JSON.parse(text) as ClientRequest['message'], text);
  const fixed = { clientHeaders: undefined, pageSize: 0, session: undefined, reply: {} as ClientRequest['reply'] };
  const from = { principal: principalOf(ann), scope: { kind: 'all' }, address: undefined } as const;
  return { ...rest, ...fixed, ...from, id, method, stateless: false, view };
}

/** A call that was made while `before` was set, and goes on where `now` is. */
function waited(before: Set, now: Set, more: Partial<WaitingCall> = {}) {
  const decidedBy = settingsOf(before);
  const after = before === now ? decidedBy : settingsOf(now);
  const request = requestOf();
  const call: WaitingCall = {
    request,
    target,
    find: () => ({ target, edits: {} }),
    approvedBy: undefined,
    decidedBy,
    ...more,
  };
  const governance: Governance = {
    settings: () => after,
    catalogue: () => emptyCatalogue,
    counts: { take: () => ({ kind: 'taken', release: () => undefined }), look: () => undefined },
    approvals: { approved: async () => '', giveBack: async () => undefined, passRound: async () => undefined },
    audit: { counted: () => undefined },
    guards: { ask: async () => ({ kind: 'failed', why: 'is none', code: 'no_decision' }), noted: () => undefined },
  };
  return { call, after, options: { governance, views: { get: () => view } } };
}

function refusal(before: Set, now: Set, more: Partial<WaitingCall> = {}): HubError | undefined {
  const { call, options } = waited(before, now, more);
  return refusedAtOnce(call, options);
}

const forbid = 'forbid(principal, action, resource);';
const ask = `@approve("admin") ${forbid}`;
const changed =
  'query of server "db", or what is looked at in its calls, changed while the call waited. Make the call again.';

describe('a call that has waited', () => {
  test('goes on where nothing that decides about it has changed', async () => {
    for (const set of [{}, { policies: [] }, { guards: [guard] }, { limits: { callsPerDay: 1 } }]) {
      expect(refusal(set, set)).toBeUndefined();
      expect(refusal(set, { ...set })).toBeUndefined();
    }
    const { call, options } = waited({}, {});
    expect(await refusedNow(call, options)).toBeUndefined();
  });

  test('is held against the policies of now', async () => {
    expect(refusal({}, { policies: [forbid] })).toMatchObject({ code: 'policy', data: { policy: 'p0' } });
    const { call, options } = waited({}, { policies: [forbid] });
    expect(await refusedNow(call, options)).toMatchObject({ code: 'policy' });
  });

  test('leads where it led: another tool of that name is not called, nor one with other rules', () => {
    const found = (of: Target) => refusal({}, {}, { find: () => ({ target: of, edits: {} }) });
    expect(found({ ...target })).toBeUndefined();
    expect(found({ server: 'other', key: 'query' })?.code).toBe('not_found');
    expect(found({ server: 'db', key: 'other' })?.code).toBe('not_found');
    const rules = { rules: [], missing: [] };
    expect(found({ ...target, rules })).toMatchObject({ code: 'conflict', message: changed });
    const find = () => {
      throw new HubError('not_found', 'Unknown tool: db-query');
    };
    expect(refusal({}, {}, { find })?.message).toBe('Unknown tool: db-query');
    const broken = () => {
      throw new TypeError('broken');
    };
    expect(() => refusal({}, {}, { find: broken })).toThrow('broken');
  });

  test('wants the yes that a policy asks for now, and no other will do', () => {
    const yes = yesTo({ policy: 'p0', who: 'admin' });
    expect(refusal({}, { policies: [ask] }, { approvedBy: yes })).toBeUndefined();
    for (const approvedBy of [undefined, yesTo({ policy: 'p0', who: 'ops' }), yesTo({ policy: 'p1', who: 'admin' })])
      expect(refusal({}, { policies: [ask] }, { approvedBy })).toMatchObject({
        code: 'approval',
        data: { policy: 'p0' },
        message:
          'query of server "db" changed while the call waited, and the policy "p0" now asks before it. Make the call again.',
      });
  });

  test('is seen by the guards of now: one that it was not shown to refuses it', () => {
    expect(refusal({}, { guards: [guard] })).toMatchObject({ code: 'conflict', message: changed });
    expect(refusal({ guards: [guard] }, { guards: [{ ...guard, url: 'http://other.test' }] })?.code).toBe('conflict');
    expect(refusal({ guards: [guard] }, { guards: [guard, { ...guard, name: 'more' }] })?.code).toBe('conflict');
    expect(refusal({ guards: [guard, { ...guard, name: 'more' }] }, { guards: [guard] })).toBeUndefined();
    expect(refusal({}, { guards: [{ ...guard, on: ['result'] }] })).toBeUndefined();
    expect(refusal({}, { guards: [{ ...guard, servers: ['other'] }] })).toBeUndefined();
  });

  test('is looked through for secrets, or refused where it was not', () => {
    const secrets = (mode: 'allow' | 'mask' | 'refuse') => ({ secretsInCalls: { arguments: mode } });
    for (const mode of ['mask', 'refuse'] as const) {
      expect(refusal({}, secrets(mode))).toMatchObject({ code: 'conflict', message: changed });
      expect(refusal(secrets('allow'), secrets(mode))?.code).toBe('conflict');
      // It was looked through.
      expect(refusal(secrets('mask'), secrets(mode))).toBeUndefined();
      expect(refusal(secrets(mode), {})).toBeUndefined();
      expect(refusal({}, secrets(mode), { request: requestOf('resources/read') })).toBeUndefined();
    }
  });

  test('has the limits and guards of now once a person has said yes', async () => {
    const first = waited({}, {});
    expect(await admittedNow(first.call, first.options)).toEqual({ admission: undefined, decidedBy: first.after });
    const { call, after, options } = waited({}, { guards: [guard], limits: { callsPerDay: 1 } });
    const { admission, decidedBy } = await admittedNow(call, options);
    expect([admission?.guards, admission?.isCounted, decidedBy === after]).toEqual([[guard], true, true]);
    const forbidden = waited({}, { policies: [forbid] });
    await expect(admittedNow(forbidden.call, forbidden.options)).rejects.toMatchObject({ code: 'policy' });
  });

  describe('by policies that look at the time', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-25T16:59:00Z') }));
    afterEach(() => void vi.useRealTimers());

    test('is refused after hours, where nothing else has changed', () => {
      const set = {
        policies: ['forbid(principal, action, resource) when { context.time > datetime("2026-11-25T17:00:00Z") };'],
      };
      const { call, options } = waited(set, set);
      expect(refusedAtOnce(call, options)).toBeUndefined();
      vi.setSystemTime(Date.parse('2026-11-25T17:01:00Z'));
      expect(refusedAtOnce(call, options)).toMatchObject({ code: 'policy' });
    });
  });
});

describe('the sender of a call that has waited', () => {
  test.each(['unauthenticated', 'forbidden', 'not_found', 'not_ready'] as const)('is refused with %s', async (code) => {
    const senderNow = () => {
      throw new HubError(code, 'No.');
    };
    const { call, options } = waited({}, {}, { request: { ...requestOf(), senderNow } });
    expect(await refusedNow(call, options)).toMatchObject({ code, message: 'No.' });
    const broken = () => {
      throw new TypeError('broken');
    };
    const other = waited({}, {}, { request: { ...requestOf(), senderNow: broken } });
    await expect(refusedNow(other.call, other.options)).rejects.toThrow('broken');
  });
});

describe('a call that is on its way', () => {
  const withdrawn = (servers: readonly string[], more: Partial<ClientRequest> = {}, of = target) =>
    withdrawnNow(
      { request: { ...requestOf(), ...more }, target: of },
      {
        views: { get: () => ({ servers }) as unknown as View },
        connections: {
          withoutCredentials: (name: string) => (name === 'db' ? undefined : new HubError('forbidden', 'Gone.')),
        } as unknown as Parameters<typeof withdrawnNow>[1]['connections'],
      },
    );

  test('ends where its server is out of reach, or its credentials are gone', async () => {
    expect(await withdrawn(['db'])).toBeUndefined();
    expect((await withdrawn(['other']))?.code).toBe('not_found');
    // What the hub itself has is at no server.
    expect(await withdrawn([], {}, { server: ownServer, key: 'prompt' })).toBeUndefined();
    expect((await withdrawn(['other'], {}, { server: 'other', key: 'x' }))?.message).toBe('Gone.');
  });

  test('ends where its sender is refused, and not for what says nothing of who may come in', async () => {
    const failing = (error: Error) => ({
      principal: anonymous,
      senderNow: () => {
        throw error;
      },
    });
    for (const code of ['unauthenticated', 'forbidden', 'not_found'] as const)
      expect((await withdrawn(['db'], failing(new HubError(code, 'No.'))))?.code).toBe(code);
    expect(await withdrawn(['db'], failing(new HubError('not_ready', 'away')))).toBeUndefined();
    expect(await withdrawn(['db'], failing(new TypeError('away')))).toBeUndefined();
  });
});
