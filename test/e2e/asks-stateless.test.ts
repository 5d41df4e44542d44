import { request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { mcpLimits } from '../../src/mcp/limits.ts';
import { askable, askingHttp, askingStdio, filled, togetherMs, type Told, toldBy } from '../kit/asking.ts';
import { setLimits } from '../kit/limits.ts';
import { jsonHeaders, type RawAnswer } from '../kit/raw.ts';
import { modern, modernMeta, type ModernOptions, modernRequest, session } from '../kit/sessions.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// A client of 2026-07-28, which answers no requests, and a server of the session era, which makes them: the call waits
// at the server while the client is away to find the answers.

let hub: TestHub;
beforeAll(async () => {
  const pipes = ['pipe', 'guarded', 'other', 'left'];
  hub = await testHub({
    mcpServers: {
      ...Object.fromEntries(pipes.map((name) => [name, askingStdio()])),
      http: await askingHttp(),
    },
    groups: [{ name: 'group', servers: ['guarded', 'other'] }],
    bearerKeys: ['a', 'b'].map((letter) => ({
      id: letter,
      name: letter,
      token: `mcphub_${letter.repeat(64)}`,
      accessType: 'all',
      enabled: true,
    })),
  });
  await hub.connected(pipes.length + 1);
});

interface Round {
  readonly resultType: unknown;
  readonly inputRequests: Record<string, { method: string; params?: Record<string, unknown> }>;
  readonly requestState: string;
}

const metaKey = 'io.modelcontextprotocol/clientCapabilities';

function call(
  scope: string,
  name: string,
  args: Record<string, unknown> = {},
  again: Record<string, unknown> = {},
  options: ModernOptions = {},
): Promise<RawAnswer> {
  const meta = modernMeta({ [metaKey]: askable, ...options.meta });
  return modern(hub.mcp(scope), 'tools/call', { name, arguments: args, ...again }, { ...options, meta });
}

/** The questions of an answer, which must be some. */
function round({ status, result, text }: RawAnswer): Round & { keys: string[] } {
  expect({ status, type: result?.['resultType'] }, text).toEqual({ status: 200, type: 'input_required' });
  const own = result as unknown as Round;
  return { ...own, keys: Object.keys(own.inputRequests) };
}

/** The same call again, with these answers in the order of the questions. */
const answers = (
  { keys, requestState }: { keys: string[]; requestState: string },
  ...given: { result: unknown }[]
) => ({
  inputResponses: Object.fromEntries(given.map(({ result }, i) => [keys[i], result])),
  requestState,
});

const key = (letter: string) => ({ headers: { authorization: `Bearer mcphub_${letter.repeat(64)}` } });

describe.each(['pipe', 'http'])('a server over %s', (server) => {
  test('is answered by the call made again', async () => {
    const first = round(await call(server, 'form', { label: 'who?' }));
    expect(Object.values(first.inputRequests)).toMatchObject([
      { method: 'elicitation/create', params: { mode: 'form', message: 'who?' } },
    ]);
    const { result } = await call(server, 'form', { label: 'who?' }, answers(first, filled('me')));
    expect(result?.['resultType']).toBe('complete');
    expect((toldBy(result) as Told).result).toEqual(filled('me').result);
  });

  test('may ask several things at once', async () => {
    setLimits(mcpLimits, { askGatherMs: togetherMs });
    const first = round(await call(server, 'both', { label: 'two' }));
    expect(Object.values(first.inputRequests).map(({ method }) => method)).toEqual([
      'elicitation/create',
      'sampling/createMessage',
    ]);
    const { result } = await call(server, 'both', { label: 'two' }, answers(first, filled('x'), { result: { y: 1 } }));
    expect((toldBy(result) as Told[]).map(({ result }) => result)).toEqual([filled('x').result, { y: 1 }]);
  });

  test('may ask round after round, each with a state of its own', async () => {
    const args = { label: 'again' };
    const first = round(await call(server, 'twice', args));
    const second = round(await call(server, 'twice', args, answers(first, filled('1'))));
    expect(second.requestState).not.toBe(first.requestState);
    expect(Object.values(second.inputRequests)).toMatchObject([{ params: { message: 'again 2' } }]);
    const { result } = await call(server, 'twice', args, answers(second, filled('2')));
    expect((toldBy(result) as Told[]).map(({ result }) => result)).toEqual([filled('1').result, filled('2').result]);
  });

  test('gets an answer that was forgotten at the next try', async () => {
    setLimits(mcpLimits, { askGatherMs: togetherMs });
    const first = round(await call(server, 'both', { label: 'half' }));
    const [one = '', two = ''] = first.keys;
    const half = {
      ...answers(first, filled('x')),
      inputResponses: { [one]: filled('x').result, [two]: 5, nonsense: {} },
    };
    const second = round(await call(server, 'both', { label: 'half' }, half));
    expect(second.keys).toEqual([two]);
    const { result } = await call(server, 'both', { label: 'half' }, answers(second, { result: { z: 1 } }));
    expect((toldBy(result) as Told[]).map(({ result }) => result)).toEqual([filled('x').result, { z: 1 }]);
  });

  test('whose client cannot be asked has its call refused, with what is missing', async () => {
    const meta = modernMeta({ [metaKey]: { elicitation: {} } });
    const refusal = async (tool: string, args = {}) => {
      const { status, error } = await modern(
        hub.mcp(server),
        'tools/call',
        { name: tool, arguments: { label: 'x', strict: true, ...args } },
        { meta },
      );
      return { status, code: error?.code, data: error?.data };
    };
    const refused = (requiredCapabilities: unknown) => ({ status: 400, code: -32021, data: { requiredCapabilities } });
    expect(await refusal('sampling')).toEqual(refused({ sampling: {} }));
    expect(await refusal('sampling', { withTools: true })).toEqual(refused({ sampling: { tools: {} } }));
    expect(await refusal('roots')).toEqual(refused({ roots: {} }));
    expect(await refusal('address')).toEqual(refused({ elicitation: { url: {} } }));
    expect(await refusal('signIn')).toEqual(refused({ elicitation: { url: {} } }));
    // What can do without is not refused.
    const coped = await modern(hub.mcp(server), 'tools/call', { name: 'roots', arguments: {} }, { meta });
    expect((toldBy(coped.result) as Told).error?.code).toBe(-32601);
  });

  test('that sends its user to an address says so in the words of the revision', async () => {
    const asked = round(await call(server, 'address', { label: 'go' }));
    expect(Object.values(asked.inputRequests)).toEqual([
      { method: 'elicitation/create', params: { mode: 'url', message: 'go', url: 'https://example.org/sign-in' } },
    ]);
    await call(server, 'address', { label: 'go' }, answers(asked, { result: { action: 'cancel' } }));
    const { result } = await call(server, 'signIn', { label: 'first' });
    const { resultType, inputRequests, requestState } = result as unknown as Round;
    expect({ resultType, requestState }).toEqual({ resultType: 'input_required', requestState: undefined });
    expect(Object.values(inputRequests)).toEqual([
      { method: 'elicitation/create', params: { mode: 'url', message: 'first', url: 'https://example.org/a' } },
    ]);
    // The call made again is a call like the first one; the server knows nothing of rounds.
    const inputResponses = { [Object.keys(inputRequests)[0] ?? '']: { action: 'accept' } };
    const after = round(await call(server, 'form', { label: 'after' }, { inputResponses }));
    await call(server, 'form', { label: 'after' }, answers(after, filled('x')));
  });
});

describe('a state', () => {
  const args = { label: 'mine' };
  let kept: ReturnType<typeof round>;
  const invalid = (answer: RawAnswer) => ({ status: answer.status, code: answer.error?.code });
  const refused = { status: 400, code: -32602 };

  beforeAll(async () => {
    kept = round(await call('guarded', 'form', args, {}, key('a')));
  });

  test.each([
    ['another key', () => call('guarded', 'form', args, answers(kept, filled('forged')), key('b'))],
    ['nobody', () => call('guarded', 'form', args, answers(kept, filled('forged')))],
    ['another tool', () => call('guarded', 'sampling', args, answers(kept, filled('forged')), key('a'))],
    ['other arguments', () => call('guarded', 'form', { label: 'theirs' }, answers(kept, filled('forged')), key('a'))],
    ['the same tool of another server', () => call('other', 'form', args, answers(kept, filled('forged')), key('a'))],
    ['another endpoint', () => call('group', 'guarded-form', args, answers(kept, filled('forged')), key('a'))],
    [
      'who alters it',
      () =>
        call(
          'guarded',
          'form',
          args,
          { ...answers(kept, filled('forged')), requestState: `${kept.requestState}A` },
          key('a'),
        ),
    ],
    ['who makes one up', () => call('guarded', 'form', args, { requestState: 'AQAA', inputResponses: {} }, key('a'))],
    ['who sends something else', () => call('guarded', 'form', args, { requestState: 5 }, key('a'))],
  ])('is worth nothing to %s, and nothing reaches the server', async (_, attempt) => {
    expect(invalid(await attempt())).toEqual(refused);
  });

  test('is still good for whom it was given, and that once', async () => {
    const retry = answers(kept, filled('genuine'));
    const { result } = await call('guarded', 'form', args, retry, key('a'));
    expect((toldBy(result) as Told).result).toEqual(filled('genuine').result);
    expect(invalid(await call('guarded', 'form', args, retry, key('a')))).toEqual(refused);
  });

  test('of a round that is answered opens no other', async () => {
    const first = round(await call('guarded', 'twice', args, {}, key('a')));
    const second = round(await call('guarded', 'twice', args, answers(first, filled('1')), key('a')));
    expect(invalid(await call('guarded', 'twice', args, answers(first, filled('again')), key('a')))).toEqual(refused);
    const { result } = await call('guarded', 'twice', args, answers(second, filled('2')), key('a'));
    expect((toldBy(result) as Told[]).map(({ result }) => result)).toEqual([filled('1').result, filled('2').result]);
  });
});

test('two stateless clients at one pipe: what cannot be attributed is answered to the server', async () => {
  const both = await Promise.all(['a', 'b'].map((label) => call('other', 'together', { label, count: 2 })));
  for (const { result } of both) expect((toldBy(result) as Told).error?.code).toBe(-32603);
});

test('a call that is left unanswered at a pipe is in the way of no other one that asks', async () => {
  const left = round(await call('left', 'form', { label: 'left' }, {}, key('a')));
  // Another caller's, in two rounds; and one of a tool that has not run yet, of the caller itself.
  const theirs = { label: 'theirs' };
  const first = round(await call('left', 'twice', theirs, {}, key('b')));
  const other = round(await call('left', 'sampling', { label: 'mine' }, {}, key('a')));
  expect(Object.values(first.inputRequests)).toMatchObject([{ params: { message: 'theirs 1' } }]);
  const second = round(await call('left', 'twice', theirs, answers(first, filled('1')), key('b')));
  const { result } = await call('left', 'twice', theirs, answers(second, filled('2')), key('b'));
  expect((toldBy(result) as Told[]).map(({ result }) => result)).toEqual([filled('1').result, filled('2').result]);
  const sampled = await call('left', 'sampling', { label: 'mine' }, answers(other, { result: { s: 1 } }), key('a'));
  expect((toldBy(sampled.result) as Told).result).toEqual({ s: 1 });
  // The one that was left is still there for its client.
  const late = await call('left', 'form', { label: 'left' }, answers(left, filled('late')), key('a'));
  expect((toldBy(late.result) as Told).result).toEqual(filled('late').result);
});

describe('a call', () => {
  const remembered = async (scope: string, what: string) => {
    const own = await session(hub.mcp(scope));
    await until(`the server remembers: ${what}`, async () =>
      (toldBy((await own.call('remembered')).result) as unknown[]).includes(what),
    );
  };

  test('that ended while its client was away tells so when it is back', async () => {
    const args = { label: 'away' };
    const first = round(await call('http', 'impatientLater', args));
    await call('http', 'release', args);
    await remembered('http', 'away: did not wait');
    const { result } = await call('http', 'impatientLater', args, answers(first, filled('late')));
    expect(toldBy(result)).toBe('did not wait');
  });

  test('whose client is back and leaves is cancelled at the server', async () => {
    const args = { label: 'left' };
    const first = round(await call('http', 'thenDeaf', args));
    const params = { name: 'thenDeaf', arguments: args, ...answers(first, filled('1')) };
    const meta = modernMeta({ [metaKey]: askable });
    const again = modernRequest('tools/call', params, { meta });
    const outgoing = request(hub.mcp('http'), { method: 'POST', headers: { ...jsonHeaders, ...again.headers } });
    outgoing.on('error', () => undefined);
    outgoing.end(JSON.stringify(again.body));
    await remembered('http', 'left: goes on');
    outgoing.destroy();
    await remembered('http', 'left: cancelled');
  });

  test('through smart routing asks like any other', async () => {
    const args = { toolName: 'http-form', arguments: { label: 'smart' } };
    const first = round(await call('$smart', 'call_tool', args));
    const { result } = await call('$smart', 'call_tool', args, answers(first, filled('found')));
    expect((toldBy(result) as Told).result).toEqual(filled('found').result);
    const other = { toolName: 'pipe-form', arguments: { label: 'smart' } };
    const second = round(await call('$smart', 'call_tool', args));
    expect((await call('$smart', 'call_tool', other, answers(second, filled('forged')))).error?.code).toBe(-32602);
  });
});
