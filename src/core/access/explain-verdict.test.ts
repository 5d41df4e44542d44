import { describe, expect, test } from 'vitest';
import { ann, db, why } from '../../../test/kit/why.ts';
import type { CallLimits, GuardSettings, SecretsMode } from '../settings/governance.ts';
import type { WhyQuestion } from './explain.ts';

describe('policies and approvals', () => {
  const steps = async (policies: readonly string[]) => (await why({ policies })).steps.slice(2, 4);

  test('a refusal is told with the words of its policy', async () => {
    expect((await steps(['@message("Ask Kim.") forbid(principal, action, resource);']))[0]).toEqual({
      step: 'policy',
      result: 'refuse',
      reason: 'Ask Kim.',
      ref: 'p0',
    });
  });

  test.each([
    ['caller', 'the caller'],
    ['admin', 'an admin'],
    ['ops', 'a member of group "ops"'],
  ])('who is asked: %s', async (who, said) => {
    const text = `@approve("${who}") forbid(principal, action, resource);`;
    expect(await steps([text])).toEqual([
      { step: 'policy', result: 'ask', reason: 'The policy "p0" asks first.', ref: 'p0' },
      { step: 'approval', result: 'ask', reason: `The call waits for the yes of ${said}.`, ref: 'p0' },
    ]);
    expect((await why({ policies: [text] })).allowed).toBe(false);
    expect((await steps([`@message("Sure?") ${text}`]))[0]).toMatchObject({ reason: 'Sure?' });
  });

  test('policies that do not fit, and those that ask for what was not given', async () => {
    const fine = { step: 'policy', result: 'allow', reason: 'No policy fits.' };
    expect((await steps(['forbid(principal, action, resource in Server::"x");']))[0]).toEqual(fine);
    const asks = 'forbid(principal, action, resource) when { context.arguments.a == context.arguments.b };';
    expect((await steps([asks, asks, `${asks} ${asks}`]))[0]).toEqual({
      ...fine,
      reason: 'No policy fits. These ask for arguments that were not given: p0, p1, p2.',
    });
  });

  test('are about a call, and its arguments and address', async () => {
    const condition = 'context.arguments.a == 1 && context.address.isLoopback() && !(context has client)';
    const policies = [`forbid(principal, action == Action::"call", resource) when { ${condition} };`];
    expect((await why({ policies, args: { a: 1 }, address: '127.0.0.1' })).allowed).toBe(false);
    expect((await why({ policies, args: { a: 2 }, address: '127.0.0.1' })).allowed).toBe(true);
  });
});

describe('arguments that the settings put in', () => {
  const rules = [
    ['tenant', { value: '"acme"', hidden: true }],
    ['limit', { default: '5', hidden: false }],
  ] as const;
  const tools = new Map([
    ['query', { enabled: true, description: undefined, override: { name: 'ask', arguments: rules } }],
  ]);
  const parts = { servers: [{ ...db, tools }], users: [ann] };
  const fits = 'context.arguments.tenant == "acme" && context.arguments.limit == 5';
  const policies = [`forbid(principal, action, resource == Tool::"db/query") when { ${fits} };`];

  test('are those that policies are asked with, under either name of the tool', async () => {
    for (const tool of ['db-ask', 'db/query']) {
      expect((await why({ parts, tool, policies })).steps[2]).toMatchObject({ result: 'refuse', ref: 'p0' });
      expect((await why({ parts, tool, policies, args: { limit: 6 } })).allowed).toBe(true);
    }
  });

  test('are not the caller’s to give, which is told as the call tells it', async () => {
    const { allowed, steps } = await why({ parts, tool: 'db-ask', policies, args: { tenant: 'acme' } });
    const reason = 'Cannot call db-ask: it has no argument "tenant".';
    expect([allowed, steps[2]]).toEqual([false, { step: 'policy', result: 'refuse', reason }]);
  });
});

describe('secrets and guards', () => {
  const secret = { note: `AKIA${'A'.repeat(16)} and xoxb-${'a'.repeat(20)}` };
  const server = (mode: SecretsMode) => ({ servers: [{ ...db, secretsInCalls: { arguments: mode } }], users: [ann] });

  test('secrets in arguments are refused before policies are asked, where the server is sent none', async () => {
    const policies = ['forbid(principal, action, resource);'];
    const { allowed, steps, guards } = await why({ parts: server('refuse'), args: secret, policies });
    expect([allowed, steps[2], guards]).toEqual([
      false,
      {
        step: 'policy',
        result: 'refuse',
        reason: 'The arguments hold an AWS access key, a Slack token, and the server is sent no secrets.',
        ref: 'secrets',
      },
      undefined,
    ]);
    expect((await why({ parts: server('refuse'), args: { note: 'x' } })).steps[2]).toMatchObject({ result: 'none' });
    expect((await why({ parts: server('mask'), args: secret })).steps[2]).toMatchObject({ result: 'none' });
  });

  test('secrets that are masked are not what policies see', async () => {
    const policies = ['forbid(principal, action, resource) when { context.arguments.note like "*AKIA*" };'];
    expect((await why({ parts: server('mask'), args: secret, policies })).allowed).toBe(true);
    expect((await why({ parts: server('allow'), args: secret, policies })).allowed).toBe(false);
  });

  test('what looks at the call besides is said where there is any', async () => {
    const guard: GuardSettings = {
      name: 'dlp',
      url: 'http://guard.test',
      on: ['result'],
      servers: undefined,
      timeoutMs: 1_000,
      onFailure: 'refuse',
      secret: undefined,
    };
    expect((await why({ guards: [guard] })).guards).toEqual([{ guard: 'dlp', on: ['result'] }]);
    expect((await why({ guards: [guard], parts: server('mask') })).guards).toEqual([
      { guard: 'secrets', on: ['call'] },
      { guard: 'dlp', on: ['result'] },
    ]);
    expect(await why({ guards: [{ ...guard, servers: ['other'] }] })).not.toHaveProperty('guards');
  });
});

describe('limits', () => {
  const limits: CallLimits = { callsPerDay: 7 };

  test('within them', async () => {
    const parts = { servers: [{ ...db, limits }], users: [ann] };
    const { allowed, steps } = await why({ limits, parts });
    expect(allowed).toBe(true);
    expect(steps[4]).toEqual({
      step: 'limit',
      result: 'allow',
      reason: 'Within the limits of user "ann", server "db".',
    });
  });

  test('past one of them', async () => {
    const past = { what: 'user "ann"', limit: 'callsPerDay', allowed: 7 } as const;
    const asked: unknown[] = [];
    const look: WhyQuestion['look'] = async (counted) => {
      asked.push(counted);
      return past;
    };
    const { allowed, steps } = await why({ limits, look });
    expect(allowed).toBe(false);
    expect(steps[4]).toEqual({
      step: 'limit',
      result: 'refuse',
      reason: 'The limit of user "ann" is reached: callsPerDay 7.',
      ref: 'user "ann"',
    });
    expect(asked).toEqual([[{ id: 'default user ann', what: 'user "ann"', limits, caller: undefined }]]);
  });
});
