import { describe, expect, test } from 'vitest';
import { key, type Parts, server, user } from '../../../test/kit/snapshots.ts';
import { governed, type Governed } from '../../../test/kit/why.ts';
import type { Counted } from '../../core/access/decision.ts';
import { anonymous, principalId, principalOf } from '../../core/access/principal.ts';
import type { Target, View } from '../../core/access/view.ts';
import { emptyCatalogue } from '../../core/catalogue.ts';
import { HubError } from '../../core/errors.ts';
import { metaKeys } from '../../core/protocol/stateless.ts';
import type { CallLimits, GuardSettings } from '../../core/settings/governance.ts';
import type { CallCounts, Refused, Taken } from '../../governance/call-counts.ts';
import { clientMessage, type ClientRequest } from '../request.ts';
import { admit, type Governance, limitError } from './admission.ts';

const ann = principalOf(user('ann'));
const target = { server: 'db', key: 'query' };
const forbid = 'forbid(principal, action, resource)';
const when = (condition: string): string => `${forbid} when { ${condition} };`;

interface Asked
  extends Governed, Partial<Pick<ClientRequest, 'method' | 'principal' | 'scope' | 'address' | 'stateless'>> {
  readonly parts?: Parts;
  /** JSON text. */
  readonly params?: string | undefined;
  readonly take?: CallCounts['take'];
}

function governance({ parts = { users: [user('ann')] }, policies, limits, guards, take }: Asked): Governance {
  const of = governed(parts, { policies, limits, guards });
  return {
    settings: () => of,
    catalogue: () => emptyCatalogue,
    counts: { take: take ?? (() => ({ kind: 'taken', release: () => undefined })), look: () => undefined },
    approvals: { approved: async () => '', giveBack: async () => undefined, passRound: async () => undefined },
    audit: { counted: () => undefined },
    guards: { ask: async () => ({ kind: 'failed', why: 'is none', code: 'no_decision' }), noted: () => undefined },
  };
}

function requestOf(asked: Asked): ClientRequest {
  const { method = 'tools/call', principal = ann, scope = { kind: 'all' }, address, stateless = false } = asked;
  const params = 'params' in asked ? asked.params : '{"name":"db-query","arguments":{"sql":"SELECT 1"}}';
  const text = `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`;
  const message = clientMessage(JSON.parse(text) as ClientRequest['message'], text);
  const fixed = { clientHeaders: undefined, pageSize: 0, session: undefined, reply: {} as ClientRequest['reply'] };
  const { id = '1', ...rest } = message;
  return { ...rest, id, method, principal, scope, address, stateless, view: {} as View, ...fixed };
}

const admitted = (asked: Asked = {}, of: Target = target) => admit(requestOf(asked), of, governance(asked));

/** What refuses the call; undefined where it may go on. */
function refusal(asked: Asked): HubError | undefined {
  try {
    admitted(asked);
    return undefined;
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
}

describe('a call', () => {
  test('that nothing but access decides about is not looked into', () => {
    expect(admitted()).toBeUndefined();
    expect(admitted({ policies: [when('resource in Server::"other"')] })).toBeUndefined();
    // A policy that concerns it and does not fit leaves nothing to do.
    expect(admitted({ policies: [when('context.arguments.sql like "DROP*"')] })).toBeUndefined();
    // Limits of others.
    const parts = { users: [user('ann'), user('bob', { limits: { callsPerDay: 1 } })] };
    expect(admitted({ parts })).toBeUndefined();
  });

  test.each([
    ['tools/call', 'call'],
    ['resources/read', 'readResource'],
    ['prompts/get', 'getPrompt'],
  ])('%s is the action %s', (method, action) => {
    const policies = [`forbid(principal, action == Action::"${action}", resource);`];
    expect(refusal({ method, policies })?.code).toBe('policy');
    const others = ['tools/call', 'resources/read', 'prompts/get', 'tools/list'].filter((one) => one !== method);
    for (const other of others) expect(refusal({ method: other, policies })).toBeUndefined();
  });

  test('of what is not used by it is decided about by no policy', () => {
    for (const method of ['tasks/get', 'tools/list'])
      expect(admitted({ method, policies: [`${forbid};`], limits: { callsPerDay: 1 } })).toBeUndefined();
  });

  test('is refused with the words of the policy, or with its name', () => {
    const plain = refusal({ policies: [`${forbid};`] });
    expect(plain?.message).toBe('The policy "p0" forbids query of server "db" here.');
    expect(plain?.data).toEqual({ policy: 'p0' });
    const told = refusal({ policies: [`@message("Use the replica.") ${forbid};`] });
    expect([told?.message, told?.data]).toEqual(['Use the replica.', { policy: 'p0' }]);
  });

  test('is judged by its arguments, scope, client, address and time', () => {
    const fits = (condition: string, asked: Asked = {}) =>
      refusal({ policies: [when(condition)], ...asked }) !== undefined;
    expect(fits('context.arguments.sql like "SELECT*"')).toBe(true);
    expect(fits('context.arguments == {}', { params: undefined })).toBe(true);
    expect(fits('context.arguments == {}', { params: '{"name":"x"}' })).toBe(true);
    expect(fits('context.arguments == {}', { params: '[]' })).toBe(true);
    expect(fits('context.scope == "dev"', { scope: { kind: 'named', name: 'dev' } })).toBe(true);
    expect(fits('context.address == ip("10.0.0.1")', { address: '10.0.0.1' })).toBe(true);
    expect(fits('principal == User::"ann"')).toBe(true);
    const hour = (hours: number) => `datetime("${new Date(Date.now() + hours * 3_600_000).toISOString()}")`;
    expect(fits(`context.time > ${hour(-1)} && context.time < ${hour(1)}`)).toBe(true);
    const client = JSON.stringify({ _meta: { [metaKeys.clientInfo]: { name: 'agent' } }, arguments: {} });
    expect(fits('context.client == "agent"', { stateless: true, params: client })).toBe(true);
  });
});

describe('what helps to use something', () => {
  const ref = (of: unknown) => ({ method: 'completion/complete', params: JSON.stringify({ ref: of }) });
  const prompt = ref({ type: 'ref/prompt', name: 'p' });
  const resource = ref({ type: 'ref/resource', uri: 'file:///{x}' });
  const skill = { method: 'skills/get', params: '{"name":"s"}' };
  const folder = { method: 'resources/directory/read', params: '{"uri":"file:///a"}' };

  test.each<[string, Partial<Asked>, 'getPrompt' | 'readResource']>([
    ['completing an argument of a prompt', prompt, 'getPrompt'],
    ['completing a template', resource, 'readResource'],
    ['what a skill is made of', skill, 'readResource'],
    ['what a folder has', folder, 'readResource'],
  ])('%s is refused where its use is', (_, asked, action) => {
    for (const one of ['call', 'getPrompt', 'readResource']) {
      const policies = [`forbid(principal, action == Action::"${one}", resource);`];
      expect([one, refusal({ ...asked, policies })?.code]).toEqual([one, one === action ? 'policy' : undefined]);
    }
  });

  test('is neither asked about nor counted', () => {
    const policies = [`@approve("ops") ${forbid};`];
    for (const asked of [prompt, resource, skill, folder])
      expect(admitted({ ...asked, policies, limits: { callsPerDay: 1 } })).toBeUndefined();
  });

  test('is nothing where it says not what it is about', () => {
    const policies = [`${forbid};`];
    for (const of of [undefined, null, 'ref/prompt']) expect(refusal({ ...ref(of), policies })).toBeUndefined();
    for (const params of [undefined, '[]']) expect(refusal({ ...prompt, params, policies })).toBeUndefined();
    expect(refusal({ ...prompt, method: 'prompts/list', policies })).toBeUndefined();
  });
});

describe('guards', () => {
  const guard = (name: string, more: Partial<GuardSettings> = {}): GuardSettings => ({
    name,
    url: 'http://guard.test',
    on: ['call'],
    servers: undefined,
    timeoutMs: 1_000,
    onFailure: 'refuse',
    secret: undefined,
    ...more,
  });

  test('that look at calls of the server see it, whatever policies and limits say', async () => {
    const guards = [guard('a'), guard('b', { servers: ['other'] }), guard('c', { on: ['result'] }), guard('d')];
    const names = (asked: Asked) => admitted({ guards, ...asked })?.guards.map(({ name }) => name);
    expect(names({})).toEqual(['a', 'd']);
    expect(names({ limits: { callsPerDay: 1 } })).toEqual(['a', 'd']);
    expect(admitted({ guards: [guard('c', { on: ['result'] })] })).toBeUndefined();
    const take = () => {
      throw new Error('counted');
    };
    const admission = admitted({ guards, take });
    expect([admission?.question, admission?.isCounted]).toEqual([undefined, false]);
    expect((await admission?.count())?.()).toBeUndefined();
  });
});

describe('arguments with two readings', () => {
  const policies = [when('if context.arguments has sql then context.arguments.sql like "DROP*" else false')];
  test.each([
    ['{"arguments":{"sql":"SELECT","sql":"DROP TABLE t"}}', '"sql" twice'],
    ['{"arguments":{"sql":"DROP TABLE t","sql":"SELECT"}}', '"sql" twice'],
    ['{"arguments":{"s\\u0071l":"DROP","sql":"SELECT"}}', '"sql" twice'],
    ['{"arguments":{"a":[{"b":1,"b":2}]}}', '"b" twice'],
    ['{"arguments":{"sql":"DROP"},"arguments":{"sql":"SELECT"}}', '"arguments" twice'],
    ['{"argument\\u0073":{"sql":"DROP"},"arguments":{"sql":"SELECT"}}', '"arguments" twice'],
    ['{"arguments":{"sql":"SELECT"},"\\u0061rguments":{"sql":"SELECT"}}', '"arguments" twice'],
    ['{"\\u0061rguments":{"sql":"DROP"},"a\\u0072guments":{"sql":"SELECT"}}', '"arguments" twice'],
    ['{"arguments":"DROP"}', 'are no object'],
    ['{"arguments":["DROP"]}', 'are no object'],
    ['{"arguments":null}', 'are no object'],
  ])('%s is refused', (params, why) => {
    expect(refusal({ policies, params })?.message).toContain(why);
    // Not where no policy reads them.
    expect(refusal({ policies: [when('context.scope == "x"')], params })).toBeUndefined();
  });

  test('a name that is long is cut where it is told', () => {
    const name = 'n'.repeat(5_000);
    const message = refusal({ policies, params: `{"arguments":{"${name}":1,"${name}":2}}` })?.message ?? '';
    expect(message).toContain(`${'n'.repeat(100)}" twice`);
    expect(message.length).toBeLessThan(300);
  });

  test.each([
    '{"arguments":{"text":"\\"arguments\\" \\u00e9","arguments":{"arguments":1}}}',
    '{"name":"arguments","arguments":{"sql":"SELECT"}}',
    '{"name":"\\u00e9","arguments":{"a":{"sql":1},"sql":"x"}}',
    '{"name":"\\u0061\\u0062"}',
  ])('%s has one', (params) => {
    expect(refusal({ policies, params })).toBeUndefined();
  });
});

describe('what a person is asked', () => {
  const policies = [`@approve("ops") @message("Sure?") ${forbid};`];

  test('who, what, and by whom', () => {
    const params = '{"name":"db-query", "arguments": {"n" : 9007199254740993} }';
    expect(admitted({ policies, params, address: '10.0.0.1' })?.question).toEqual({
      who: 'ops',
      action: 'call',
      policy: 'p0',
      message: 'Sure?',
      server: 'db',
      tool: 'query',
      principal: principalId(ann),
      caller: 'ann',
      callerKind: 'user',
      client: undefined,
      address: '10.0.0.1',
      arguments: '{"n" : 9007199254740993}',
    });
    expect(admitted({ policies, params: undefined })?.question?.arguments).toBe('{}');
    const params2 = JSON.stringify({ _meta: { [metaKeys.clientInfo]: { name: 'agent' } } });
    expect(admitted({ policies, params: params2, stateless: true })?.question).toMatchObject({
      client: 'agent',
      arguments: '{}',
    });
    const parts = { keys: [key('k1', { name: 'robot' })] };
    expect(admitted({ policies, parts, principal: { kind: 'key', id: 'k1' } })?.question).toMatchObject({
      principal: 'k:k1',
      caller: 'robot',
      callerKind: 'key',
    });
  });

  test('which arguments its caller does not see', () => {
    const rule = (hidden: boolean) => ({ value: '1', hidden });
    const rules: Target['rules'] = {
      rules: [
        ['token', rule(true)],
        ['limit', rule(false)],
      ],
      missing: [],
    };
    expect(admitted({ policies }, { ...target, rules })?.question?.hidden).toEqual(['token']);
    expect(admitted({ policies })?.question).not.toHaveProperty('hidden');
  });

  test('callers without a credential are told apart by their network', () => {
    const principal = (asked: Asked) => admitted({ policies, ...asked })?.question?.principal;
    expect(principal({ principal: anonymous, address: '10.0.0.1' })).toBe('- 10.0.0.1');
    expect(principal({ principal: anonymous, address: '2001:db8:1:2:3::4' })).toBe('- 2001:db8:1:2');
    expect(principal({ principal: anonymous })).toBe('-');
  });

  test('a call that waits for a yes and has no limits is counted by nothing', async () => {
    const take = () => {
      throw new Error('counted');
    };
    expect((await admitted({ policies, take })?.count())?.()).toBeUndefined();
  });
});

describe('limits', () => {
  const limits: CallLimits = { callsPerMinute: 5 };
  const past: Refused = {
    kind: 'refused',
    what: 'user "ann"',
    limit: 'callsPerMinute',
    allowed: 5,
    isShared: false,
    retryAfterMs: 1_000.2,
  };

  test.each(['at once', 'later'])('a call is counted where it goes on, and not before: %s', async (how) => {
    const counted: (readonly Counted[])[] = [];
    let released = 0;
    const take = (of: readonly Counted[]): Taken | Promise<Taken> => {
      counted.push(of);
      const taken = { kind: 'taken', release: () => void (released += 1) } as const;
      return how === 'later' ? Promise.resolve(taken) : taken;
    };
    const admission = admitted({ limits, take });
    expect([admission?.question, admission?.isCounted]).toEqual([undefined, true]);
    expect(counted).toEqual([]);
    const release = await admission?.count();
    expect(counted).toEqual([[{ id: 'default user ann', what: 'user "ann"', limits, caller: undefined }]]);
    expect(released).toBe(0);
    release?.();
    expect(released).toBe(1);
    if (how === 'at once') expect(typeof admission?.count()).toBe('function');
  });

  test('what is no call at the same time as others takes none of their places', () => {
    const both: CallLimits = { ...limits, concurrentCalls: 2 };
    const counted: (readonly Counted[])[] = [];
    const take = (of: readonly Counted[]): Taken => {
      counted.push(of);
      return { kind: 'taken', release: () => undefined };
    };
    const admission = admitted({ limits: both, take });
    void admission?.count();
    void admission?.count(undefined, false);
    const one = { id: 'default user ann', what: 'user "ann"', caller: undefined };
    expect(counted).toEqual([
      [{ ...one, limits: both }],
      [{ ...one, limits: { ...both, concurrentCalls: undefined } }],
    ]);
  });

  test('past one the call is refused', async () => {
    expect(() => admitted({ limits, take: () => past })?.count()).toThrow('User "ann" may make 5 calls a minute.');
    await expect(admitted({ limits, take: async () => past })?.count()).rejects.toThrow(HubError);
    const parts = { users: [user('ann')], servers: [server('db', { limits })] };
    expect(admitted({ parts })).toBeDefined();
  });

  test.each([
    ['callsPerMinute', false, 'User "ann" may make 5 calls a minute. Try again in 2 s.'],
    ['concurrentCalls', false, 'User "ann" may make 5 calls at the same time. Try again in 2 s.'],
    [
      'callsPerDay',
      true,
      'User "ann" may make 5 calls a day (UTC), and others want their part of it. Try again in 2 s.',
    ],
  ] as const)('the message of %s', (limit, isShared, message) => {
    const error = limitError({ ...past, limit, isShared });
    expect([error.code, error.message, error.retryAfterMs]).toEqual(['limit_exceeded', message, 1_001]);
  });
});
