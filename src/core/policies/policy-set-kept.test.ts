import { afterEach, describe, expect, test, vi } from 'vitest';
import { ann, context, query } from '../../../test/kit/policy-call.ts';
import { coreLimits } from '../limits.ts';
import { withCedar } from './cedar.ts';
import { type PolicyContext, type PolicyPrincipal, type PolicyResource, policySet } from './policy-set.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

interface Asked {
  readonly args?: Record<string, unknown>;
  readonly principal?: PolicyPrincipal;
  readonly resource?: PolicyResource;
  readonly context?: Partial<PolicyContext>;
}

/** Policies under the names p0, p1 …, and what they say of a call. */
function setOf(...texts: string[]) {
  const set = policySet(texts.map((text, i) => ({ id: `p${i}`, text, enabled: true })));
  return ({ args = {}, principal = ann, resource = query, context: more }: Asked = {}) =>
    set?.judge({ principal, action: 'call', resource, context: { ...context, ...more, arguments: args } });
}

/** What the engine is asked and given from now on. */
function engine() {
  return withCedar((cedar) => ({
    asked: vi.spyOn(cedar, 'statefulIsAuthorized'),
    prepared: vi.spyOn(cedar, 'preparsePolicySet'),
  }));
}

const refused = expect.objectContaining({ kind: 'refuse' });
const passes = { kind: 'none', ignored: [] };
const when = (condition: string): string => `forbid(principal, action, resource) when { ${condition} };`;

describe('the same question is asked once', () => {
  const drops = when('context.arguments.sql like "*DROP*"');
  const sql = (text: string, more: Asked = {}): Asked => ({ ...more, args: { sql: text } });

  test('whatever of a call no policy reads', () => {
    const call = setOf(drops);
    const first = call(sql('DROP'));
    expect(first).toEqual(refused);
    const { asked } = engine();
    const others = { scope: 'x', mode: 'tools' as const, client: undefined, address: undefined, time: 0 };
    expect(call(sql('DROP', { context: others }))).toBe(first);
    expect(call({ args: { sql: 'DROP', other: 1 } })).toBe(first);
    expect(call(sql('DROP', { principal: { ...ann } }))).toBe(first);
    expect(asked).not.toHaveBeenCalled();
    expect(call(sql('SELECT'))).toEqual(passes);
    expect(asked).not.toHaveBeenCalled();
    expect(call(sql('DROP it'))).toEqual(refused);
    expect(asked).toHaveBeenCalledTimes(1);
    expect(call(sql('DROP'))).toBe(first);
  });

  test('of each set of annotations apart, also where nothing is promised', () => {
    const call = setOf(when('!resource.readOnly && !resource.destructive && !resource.openWorld'));
    for (const readOnly of [false, true])
      for (const destructive of [false, true])
        for (const openWorld of [false, true])
          expect(call({ resource: { ...query, readOnly, destructive, openWorld } })).toEqual(
            readOnly || destructive || openWorld ? passes : refused,
          );
  });

  test('of nothing, where no policy reads the context', () => {
    const call = setOf(when('resource.destructive'));
    expect(call({ args: { x: 1e300 } })).toBe(call({ context: { client: 'x' } }));
  });

  test('but for each caller, and for what is said of the tool', () => {
    const call = setOf(when('principal.name == "ann" && resource.readOnly && resource.destructive'));
    const tool = (readOnly: boolean, destructive: boolean, openWorld = true): Asked => ({
      resource: { ...query, readOnly, destructive, openWorld },
    });
    expect(call(tool(false, false))).toEqual(passes);
    expect(call(tool(true, false))).toEqual(passes);
    expect(call(tool(false, true))).toEqual(passes);
    expect(call(tool(true, true))).toEqual(refused);
    expect(call({ ...tool(true, true), principal: { ...ann, id: 'bob', name: 'bob' } })).toEqual(passes);
    const opens = setOf(when('resource.openWorld'));
    expect(opens(tool(true, true))).toEqual(refused);
    expect(opens(tool(true, true, false))).toEqual(passes);
  });

  test('but not for another moment', () => {
    const call = setOf(when('context.time > datetime("2026-11-25T10:00:00Z")'));
    expect(call()).toEqual(passes);
    expect(call({ context: { time: context.time + 1 } })).toEqual(refused);
    expect(call()).toEqual(passes);
    const { asked } = engine();
    call();
    expect(asked).toHaveBeenCalledTimes(1);
  });

  test('unless it is long', () => {
    const call = setOf(drops);
    const text = 'DROP'.padEnd(coreLimits.policyQuestionChars - JSON.stringify({ arguments: { sql: '' } }).length, 'x');
    expect(call(sql(text))).toBe(call(sql(text)));
    expect(call(sql(`${text}x`))).toEqual(refused);
    expect(call(sql(`${text}x`))).not.toBe(call(sql(`${text}x`)));
  });

  test('and only of policies that may fit', () => {
    const likes = (word: string) => when(`context.arguments.${word} like "*DROP*"`);
    const call = setOf(likes('a'), likes('b'), likes('c'));
    const { asked, prepared } = engine();
    const calls = (a: string, b: string, c: string) => call({ args: { a, b, c } });
    expect(calls('', '', '')).toEqual(passes);
    expect(asked).not.toHaveBeenCalled();
    const first = calls('DROP', 'DROP', '');
    expect(first).toMatchObject({ policy: 'p0' });
    expect(calls('', 'DROP', 'DROP')).toMatchObject({ policy: 'p1' });
    expect(calls('', '', 'DROP')).toMatchObject({ policy: 'p2' });
    expect(calls('DROP', 'DROP', '')).toBe(first);
    expect(calls('DROP', 'DROP', 'other')).toBe(first);
    expect(asked).toHaveBeenCalledTimes(3);
    expect(prepared).toHaveBeenCalledTimes(3);
    expect(calls('DROP it', 'DROP', '')).toMatchObject({ policy: 'p0' });
    expect(prepared).toHaveBeenCalledTimes(3);
  });

  test('with policies that the engine has read once', () => {
    const text = when('context.client == "with policies that the engine has read once"');
    const { prepared } = engine();
    for (const client of ['a', 'b']) expect(setOf(text)({ context: { client } })).toEqual(passes);
    expect(prepared).toHaveBeenCalledTimes(1);
  });
});

describe('what is kept is bounded', () => {
  const most = coreLimits.policySlices;
  const everything = 'forbid(principal, action, resource);';
  const tool = (n: number): Asked => ({ resource: { ...query, key: `tool ${n}` } });
  const caller = (n: number): Asked => ({ principal: { ...ann, id: `user ${n}` } });

  test.each([
    ['tools', everything, tool],
    ['tools of other servers', everything, (n: number) => ({ resource: { ...query, server: `server ${n}` } })],
    ['callers', everything, caller],
    ['callers whom a policy names', 'forbid(principal in Group::"dev", action, resource);', caller],
  ])('%s', (_, text, asked: (n: number) => Asked) => {
    const call = setOf(text);
    const first = call(asked(0));
    expect(first).toEqual(refused);
    for (let n = 1; n < most; n++) call(asked(n));
    expect(call(asked(0))).toBe(first);
    call(asked(most));
    const again = call(asked(0));
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
    // Only then.
    const last = call(asked(most));
    call(asked(1));
    expect(call(asked(0))).toBe(again);
    expect(call(asked(most))).toBe(last);
  });

  test('sets of policies that the engine has ready', () => {
    const ask = (n: number): unknown => setOf(when(`context.client == "${n}"`))();
    expect(() => withCedar(() => expect.fail('The next engine has none.'))).toThrow();
    const { prepared } = engine();
    for (let n = 0; n < most; n++) ask(n);
    ask(0);
    expect(prepared).toHaveBeenCalledTimes(most);
    ask(most);
    ask(0);
    ask(most);
    expect(prepared).toHaveBeenCalledTimes(most + 2);
  });
});
