import { describe, expect, test } from 'vitest';
import { setLimits } from '../../../test/kit/limits.ts';
import { entry, group, key, type Parts, server, settings, user } from '../../../test/kit/snapshots.ts';
import type { Item, Offer } from '../catalogue.ts';
import { coreLimits } from '../limits.ts';
import type { PolicyAction } from '../policies/policy-set.ts';
import type { CallLimits } from '../settings/governance.ts';
import type { Settings } from '../settings/settings.ts';
import { type CallQuestion, countsOf, isGoverned, judge, mayHear, policyPrincipal } from './decision.ts';
import { anonymous, appPrincipal, issuedPrincipal, type Principal, principalOf } from './principal.ts';

interface Governed extends Parts {
  readonly policies?: readonly string[];
  readonly defaultLimits?: CallLimits;
}

function governed({ policies, defaultLimits, ...parts }: Governed): Settings {
  const plain = settings(parts);
  const texts = policies?.map((text, i) => ({ id: `p${i}`, text, enabled: true, isFile: false }));
  const more = { ...(texts && { policies: texts }), ...(defaultLimits && { defaultLimits }) };
  return { ...plain, system: { ...plain.system, ...more } };
}

function offers(tools: readonly Item[] = []): CallQuestion['catalogue'] {
  const about = { info: '{}', instructions: undefined, capabilities: [], protocolVersion: '2025-11-25' };
  const offer: Offer = { server: 'db', about, tools, prompts: [], resources: [], templates: [] };
  return { offers: new Map([['db', offer]]) };
}

const target = { server: 'db', key: 'query' };
const ann = principalOf(user('ann'));
const everywhere = { kind: 'all' } as const;
const one: CallLimits = { callsPerMinute: 1 };

function question(of: Settings, more: Partial<CallQuestion> = {}): CallQuestion {
  const fixed = { catalogue: offers(), principal: ann, scope: everywhere, action: 'call', target, args: {} } as const;
  return { settings: of, ...fixed, client: undefined, address: undefined, now: Date.now(), ...more };
}

const when = (condition: string): string => `forbid(principal, action, resource) when { ${condition} };`;
const forbidsAll = 'forbid(principal, action, resource);';
const fits = (text: string, more: Partial<CallQuestion> = {}, parts: Parts = { users: [user('ann')] }): boolean =>
  judge(question(governed({ ...parts, policies: [text] }), more))?.policy.kind === 'refuse';

describe('whether anything but access decides', () => {
  const actions: PolicyAction[] = ['call', 'readResource', 'getPrompt'];

  test('is false without policies and limits, and nothing is made', () => {
    const plain = governed({
      servers: [server('db')],
      groups: [group('g', [])],
      users: [user('ann')],
      keys: [key('k')],
    });
    for (const action of actions) {
      expect(isGoverned(plain, action, target)).toBe(false);
      expect(judge(question(plain, { action }))).toBeUndefined();
    }
  });

  test.each<[string, Governed]>([
    ['all callers', { defaultLimits: one }],
    ['a server', { servers: [server('other', { limits: one })] }],
    ['a group', { groups: [group('g', [], { limits: one })] }],
    ['a user', { users: [user('bob', { limits: one })] }],
    ['a key', { keys: [key('k', { limits: one })] }],
  ])('limits of %s count calls, and nothing else', (_, parts) => {
    const limited = governed({ ...parts, policies: ['forbid(principal, action, resource in Server::"x");'] });
    expect(actions.map((action) => isGoverned(limited, action, target))).toEqual([true, false, false]);
    // The second answer is one that was kept.
    expect(isGoverned(limited, 'call', target)).toBe(true);
    expect(judge(question(limited, { action: 'readResource' }))).toBeUndefined();
  });

  test('limits without a policy that concerns the call leave its verdict to them', () => {
    const limited = governed({ users: [user('ann', { limits: one })], policies: [when('resource in Server::"x"')] });
    expect(judge(question(limited))?.counted).toHaveLength(1);
    const without = judge(question(governed({ users: [user('ann', { limits: one })] })));
    expect(without?.policy).toEqual({ kind: 'none', ignored: [] });
    // Limits of others do not make a count of this caller.
    expect(judge(question(governed({ users: [user('ann'), user('bob', { limits: one })] })))).toBeUndefined();
  });

  test.each<[PolicyAction, string]>([
    ['call', 'Tool'],
    ['readResource', 'Resource'],
    ['getPrompt', 'Prompt'],
  ])('a policy for %s concerns a %s alone', (action, type) => {
    const policy = governed({ policies: [`forbid(principal, action, resource == ${type}::"db/query");`] });
    for (const asked of actions) {
      expect(isGoverned(policy, asked, target)).toBe(asked === action);
      expect(judge(question(policy, { action: asked }))?.policy.kind).toBe(asked === action ? 'refuse' : undefined);
      expect(isGoverned(policy, asked, { server: 'db', key: 'other' })).toBe(false);
    }
  });

  test('a policy that concerns the call gives a verdict without limits', () => {
    const verdict = judge(question(governed({ policies: [when('context.client == "x"')] })));
    expect(verdict).toEqual({ policy: { kind: 'none', ignored: ['p0'] }, counted: [] });
  });
});

describe('what a policy is asked', () => {
  test('context: arguments, scope, client, address and time', () => {
    const asked = {
      args: { sql: 'DROP TABLE t' },
      scope: { kind: 'named', name: 'dev' },
      client: 'agent',
      address: '10.1.2.3',
      now: Date.parse('2026-11-25T10:00:00Z'),
    } as const;
    expect(fits(when('context.arguments.sql like "DROP*"'), asked)).toBe(true);
    expect(fits(when('context.scope == "dev"'), asked)).toBe(true);
    expect(fits(when('context.client == "agent"'), asked)).toBe(true);
    expect(fits(when('context.address.isInRange(ip("10.0.0.0/8"))'), asked)).toBe(true);
    expect(fits(when('context.time == datetime("2026-11-25T10:00:00Z")'), asked)).toBe(true);
    expect(fits(when('context.time == datetime("2026-11-25T10:00:01Z")'), asked)).toBe(false);
  });

  test('unclear arguments are refused where a policy reads them', () => {
    const unclear = () => 'they have two readings.';
    expect(fits(when('context.arguments.x == 1'), { unclear })).toBe(true);
    expect(fits(when('context.scope == "x"'), { unclear })).toBe(false);
  });

  const annotated = (annotations: object | undefined) => {
    const text = JSON.stringify({ name: 'query', ...(annotations && { annotations }) });
    return { catalogue: offers([{ key: 'query', text }]) };
  };

  test.each([
    [undefined, [false, true, true]],
    [{}, [false, true, true]],
    [{ readOnlyHint: true }, [true, false, true]],
    [{ readOnlyHint: true, destructiveHint: true }, [true, true, true]],
    [{ readOnlyHint: false, destructiveHint: false }, [false, false, true]],
    [{ openWorldHint: false }, [false, true, false]],
    [{ openWorldHint: true, readOnlyHint: 'yes', destructiveHint: 'no' }, [false, true, true]],
  ])('a tool that says %j is that to policies', (annotations, [readOnly, destructive, openWorld]) => {
    const asked = annotated(annotations);
    // Asked twice: the second answer is one that was kept.
    for (let round = 0; round < 2; round++) {
      expect(fits(when('resource.readOnly'), asked)).toBe(readOnly);
      expect(fits(when('resource.destructive'), asked)).toBe(destructive);
      expect(fits(when('resource.openWorld'), asked)).toBe(openWorld);
    }
  });

  test('what is not there, and what is no tool, counts as what says nothing', () => {
    const harmless = annotated({ readOnlyHint: true, openWorldHint: false });
    const silent = when('!resource.readOnly && resource.destructive && resource.openWorld');
    expect(fits(silent, harmless)).toBe(false);
    expect(fits(silent, { ...harmless, target: { server: 'db', key: 'other' } })).toBe(true);
    expect(fits(silent, { ...harmless, target: { server: 'gone', key: 'query' } })).toBe(true);
    expect(fits(silent, { ...harmless, action: 'readResource' })).toBe(true);
    expect(fits(silent, { ...harmless, action: 'getPrompt' })).toBe(true);
  });

  test('annotations are those of the tool that is called, of the list that is offered now', () => {
    const tools = [
      { key: 'query', text: '{"annotations":{"readOnlyHint":true}}' },
      { key: 'drop', text: '{"annotations":{}}' },
    ];
    const catalogue = offers(tools);
    const asked = (name: string) => fits(when('resource.readOnly'), { catalogue, target: { server: 'db', key: name } });
    expect([asked('query'), asked('drop'), asked('query')]).toEqual([true, false, true]);
    expect(fits(when('resource.readOnly'), { catalogue: offers([{ key: 'query', text: '{}' }]) })).toBe(false);
  });
});

test('annotations that the settings change count at once, and those of other settings no more', () => {
  const catalogue = offers([{ key: 'query', text: '{"name":"query"}' }]);
  const says = (readOnlyHint: boolean): Parts => {
    const override = { annotations: { readOnlyHint } };
    return {
      servers: [server('db', { tools: new Map([['query', { enabled: true, description: undefined, override }]]) })],
    };
  };
  const readOnly = (parts: Parts) => fits(when('resource.readOnly'), { catalogue }, parts);
  expect([says(true), says(false), {}, says(true)].map(readOnly)).toEqual([true, false, false, true]);
});

describe('who a caller is to policies', () => {
  const dev = group('dev', [entry('db')]);
  const parts: Parts = {
    groups: [dev, group('ops', [])],
    users: [user('ann', { groups: ['dev'] }), user('root', { role: 'admin' })],
    keys: [
      key('k1', { name: 'robot', allowedGroups: ['dev'], accessType: 'groups' }),
      key('k2', { kind: 'user', owner: 'ann' }),
    ],
  };
  const asAnn = { type: 'User', id: 'ann', groups: ['dev'], role: 'user', name: 'ann' };

  test.each<[string, Principal, object]>([
    ['a user', ann, asAnn],
    ['an admin', principalOf(user('root')), { type: 'User', id: 'root', groups: [], role: 'admin', name: 'root' }],
    ['a key of a user', { kind: 'key', id: 'k2' }, asAnn],
    ['a client that a user let in', appPrincipal('consent', user('ann'), undefined), asAnn],
    ['a key', { kind: 'key', id: 'k1' }, { type: 'Key', id: 'k1', groups: ['dev'], role: 'key', name: 'robot' }],
    ['a key that is gone', { kind: 'key', id: 'k9' }, { type: 'Key', id: 'k9', groups: [], role: 'key', name: 'k9' }],
    [
      'the holder of a token of an issuer',
      issuedPrincipal('https://i', 'sub', 'Zoe', []),
      { type: 'User', id: 'https://i#sub', groups: [], role: 'user', name: 'Zoe' },
    ],
    [
      'a caller without a credential',
      anonymous,
      { type: 'Anonymous', id: 'anonymous', groups: [], role: 'anonymous', name: 'anonymous' },
    ],
    // Who is gone is not taken for another kind of caller that policies let pass; access refuses the call before.
    [
      'a user who is gone',
      principalOf(user('gone')),
      { type: 'Anonymous', id: 'anonymous', groups: [], role: 'anonymous', name: 'anonymous' },
    ],
  ])('%s', (_, principal, expected) => {
    const snapshot = settings(parts);
    expect(policyPrincipal(snapshot, principal)).toEqual(expected);
    // One object for one caller: verdicts are kept by it.
    expect(policyPrincipal(snapshot, principal)).toBe(policyPrincipal(snapshot, principal));
    expect(policyPrincipal(settings({ ...parts, users: [] }), ann)).toMatchObject({ type: 'Anonymous' });
  });

  test('of more callers than are remembered each is made again', () => {
    setLimits(coreLimits, { views: 1 });
    const snapshot = settings(parts);
    const root = principalOf(user('root'));
    expect(policyPrincipal(snapshot, ann)).toBe(policyPrincipal(snapshot, ann));
    expect(policyPrincipal(snapshot, root)).toMatchObject({ id: 'root' });
    expect(policyPrincipal(snapshot, root)).not.toBe(policyPrincipal(snapshot, root));
    expect(policyPrincipal(snapshot, ann)).toEqual(asAnn);
  });
});

const holder = (subject: string, name = 'Zoe', groups: string[] = []) =>
  issuedPrincipal('https://i', subject, name, groups);
/** Hashes of `https://i`, `s` and 201 times `s`. */
const [ofIssuer, ofSubject, ofLong] = [
  'ZF7iqTdhOLKNB5wwFM5UVdR6Ig3byJD5Hov-VTU8TT8',
  'BDpxh3TFcr2KJa2-sb_NXAJWrhHOz5-cP5JdDlK-r4k',
  'dLXBCorKnsIJrISTf-_JbYeoRpE4s_RZnzsMxXack5Q',
];

describe('what a call is counted by', () => {
  const limits = (callsPerDay: number): CallLimits => ({ callsPerDay });
  const counted = (of: Governed, more: Partial<CallQuestion> = {}) => countsOf(question(governed(of), more));

  test('a user and the server, which its callers share', () => {
    const parts: Governed = {
      users: [user('ann', { limits: limits(1) })],
      servers: [server('db', { limits: limits(2) }), server('other', { limits: limits(3) })],
      defaultLimits: limits(9),
    };
    expect(counted(parts)).toEqual([
      { id: 'user ann', what: 'user "ann"', limits: limits(1), caller: undefined },
      { id: 'server db', what: 'server "db"', limits: limits(2), caller: 'user ann' },
    ]);
  });

  test("a key of a user counts as its owner, and against the key's own limits", () => {
    const parts: Governed = {
      users: [user('ann', { limits: limits(1) })],
      keys: [key('k2', { name: 'mine', kind: 'user', owner: 'ann', limits: limits(2) })],
      servers: [server('db', { limits: limits(3) })],
    };
    expect(counted(parts, { principal: { kind: 'key', id: 'k2' } })).toEqual([
      { id: 'user ann', what: 'user "ann"', limits: limits(1), caller: undefined },
      { id: 'key k2', what: 'access key "mine"', limits: limits(2), caller: undefined },
      { id: 'server db', what: 'server "db"', limits: limits(3), caller: 'user ann' },
    ]);
  });

  test('a key that a user made takes its owner out of no limit that counts for all', () => {
    const parts: Governed = {
      users: [user('ann')],
      keys: [key('k2', { name: 'mine', kind: 'user', owner: 'ann', limits: limits(2) })],
      defaultLimits: limits(5),
    };
    expect(counted(parts, { principal: { kind: 'key', id: 'k2' } })).toEqual([
      { id: 'key k2', what: 'access key "mine"', limits: limits(2), caller: undefined },
      { id: 'default user ann', what: 'user "ann"', limits: limits(5), caller: undefined },
    ]);
  });

  test('limits of a key of the system stand in the place of those of all callers', () => {
    const parts: Governed = { keys: [key('k1', { name: 'robot', limits: limits(2) })], defaultLimits: limits(5) };
    expect(counted(parts, { principal: { kind: 'key', id: 'k1' } })).toEqual([
      { id: 'key k1', what: 'access key "robot"', limits: limits(2), caller: undefined },
    ]);
  });

  test("a group's limit is each caller's on its own endpoints, and on no other", () => {
    const parts: Governed = {
      users: [user('ann')],
      groups: [group('dev', [entry('db')], { limits: limits(4) })],
    };
    const expected = [{ id: 'group id-dev\nuser ann', what: 'group "dev"', limits: limits(4), caller: undefined }];
    expect(counted(parts, { scope: { kind: 'named', name: 'dev' } })).toEqual(expected);
    expect(counted(parts, { scope: { kind: 'smart', group: 'id-dev' } })).toEqual(expected);
    expect(counted(parts)).toEqual([]);
    expect(counted({ ...parts, groups: [group('dev', [])] }, { scope: { kind: 'named', name: 'dev' } })).toEqual([]);
  });

  test.each<[string, Partial<CallQuestion>, string, string]>([
    ['a user', {}, 'user ann', 'user "ann"'],
    ['a key', { principal: { kind: 'key', id: 'k1' } }, 'k:k1', 'access key "robot"'],
    ['a key that is gone', { principal: { kind: 'key', id: 'k9' } }, 'k:k9', 'this caller'],
    ['an address', { principal: anonymous, address: '10.0.0.1' }, 'address 10.0.0.1', 'this caller'],
    ['a network', { principal: anonymous, address: '2001:db8::1' }, 'address 2001:db8:0:0', 'this caller'],
    ['no address', { principal: anonymous }, 'address -', 'this caller'],
    [
      'the holder of a token',
      { principal: holder('s'), address: '10.0.0.1' },
      `issued ${ofIssuer} ${ofSubject}`,
      'this caller',
    ],
    ['it by other claims', { principal: holder('s', 'Ann', ['g']) }, `issued ${ofIssuer} ${ofSubject}`, 'this caller'],
    ['one with a long subject', { principal: holder('s'.repeat(201)) }, `issued ${ofIssuer} ${ofLong}`, 'this caller'],
  ])('%s without limits of its own has those of all callers', (_, more, id, what) => {
    const parts: Governed = {
      users: [user('ann')],
      keys: [key('k0', { name: 'first', limits: limits(8) }), key('k1', { name: 'robot' })],
      defaultLimits: limits(5),
    };
    expect(counted(parts, more)).toEqual([{ id: `default ${id}`, what, limits: limits(5), caller: undefined }]);
    expect(counted({ users: [user('ann')] }, more)).toEqual([]);
    const shared = { ...parts, servers: [server('db', { limits: limits(6) })] };
    expect(counted(shared, more)[1]).toMatchObject({ id: 'server db', caller: id });
  });

  test('the verdict has it', () => {
    const parts = { users: [user('ann', { limits: limits(1) })], policies: [forbidsAll] };
    expect(judge(question(governed(parts)))).toEqual({
      policy: { kind: 'refuse', policy: 'p0', message: undefined },
      counted: [{ id: 'user ann', what: 'user "ann"', limits: limits(1), caller: undefined }],
    });
    expect(judge(question(governed(parts), { action: 'getPrompt' }))?.counted).toEqual([]);
  });
});

test('a line break in the id of a group is not that before the caller it is counted by', () => {
  const dev = group('dev', [entry('db')], { id: 'g\naddress 1\\', limits: { callsPerDay: 4 } });
  const settings = governed({ users: [user('ann')], groups: [dev] });
  expect(countsOf(question(settings, { scope: { kind: 'named', name: 'dev' } }))).toMatchObject([
    { id: 'group g\\naddress 1\\\\\nuser ann' },
  ]);
});

describe('who may hear of changes of a resource', () => {
  const hears = (
    policies: readonly string[],
    principal: Principal = ann,
    scope: CallQuestion['scope'] = everywhere,
  ) => {
    const now = { settings: governed({ users: [user('ann')], policies }), catalogue: offers() };
    return mayHear(now, { principal, scope }, { server: 'db', key: 'file:///a' });
  };

  test('a caller whom no policy keeps from reading it, or asks first', () => {
    expect(hears([])).toBe(true);
    expect(hears(['forbid(principal, action == Action::"call", resource);'])).toBe(true);
    expect(hears(['forbid(principal, action == Action::"readResource", resource);'])).toBe(false);
    expect(hears(['@approve("admin") forbid(principal, action == Action::"readResource", resource);'])).toBe(false);
    expect(hears(['forbid(principal == User::"ann", action, resource);'])).toBe(false);
    expect(hears(['forbid(principal == User::"ann", action, resource);'], anonymous)).toBe(true);
    expect(hears([when('context.scope == "dev"')])).toBe(true);
    expect(hears([when('context.scope == "dev"')], ann, { kind: 'named', name: 'dev' })).toBe(false);
    // What only a request has is not known.
    expect(hears([when('context has client || context has address')])).toBe(true);
    expect(hears([when('context.arguments == {}')])).toBe(false);
  });
});
