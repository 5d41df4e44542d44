import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { mcpLimits } from '../../src/mcp/limits.ts';
import { exact, exactAt } from '../kit/exact-json.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import type { Hostile } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { raw, rpc } from '../kit/raw.ts';
import { legacySession, modern, modernMeta, modernRequest, session } from '../kit/sessions.ts';
import type { LegacySession, Session } from '../kit/sessions.ts';
import { stream } from '../kit/raw.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';
import { codePoints } from '../kit/code-points.ts';

// The wire under random schedules and random bytes: what must hold whatever happens.

const servers: Record<string, Hostile> = {};
let hub: TestHub;
beforeAll(async () => {
  // A call whose client has left goes on for as long before it is cancelled.
  setLimits(mcpLimits, { resumeGraceMs: 100 });
  servers['pipe'] = hostileStdio({ name: 'pipe', answerCancelled: true });
  servers['web'] = await hostileHttp({ name: 'web' });
  hub = await testHub({
    mcpServers: Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, server.config])),
  });
  await hub.connected(2);
});

const budget = { numRuns: 12, interruptAfterTimeLimit: 20_000, endOnFailure: true } as const;

interface Step {
  readonly server: 'pipe' | 'web';
  readonly client: number;
  readonly via: 'session' | 'legacy' | 'bare' | 'stateless';
  readonly tool: 'delay' | 'progress' | 'hang';
  readonly id: number;
  readonly ms: number;
  readonly ends: 'answered' | 'cancelled' | 'dropped';
}

const steps = fc.array(
  fc.record<Step>({
    server: fc.constantFrom('pipe', 'web'),
    client: fc.nat(2),
    via: fc.constantFrom('session', 'legacy', 'bare', 'stateless'),
    tool: fc.constantFrom('delay', 'progress', 'hang'),
    id: fc.nat(3),
    ms: fc.nat(25),
    ends: fc.constantFrom('answered', 'cancelled', 'dropped'),
  }),
  { minLength: 5, maxLength: 40 },
);

let run = 0;

test('calls, cancellations and departures in any order: answers reach their caller, cancellations their call, once', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const mark = `run ${++run}`;
      const [sessions, legacy] = await Promise.all([
        Promise.all([0, 1, 2].map(() => session(hub.mcp()))),
        Promise.all([0, 1, 2].map(() => legacySession(hub.sse()))),
      ]);
      const wrong: string[] = [];
      const given = new Set<string>();
      await Promise.all(
        plan.map(async (step, i) => {
          const tag = `${mark} step ${i}`;
          // An id is the client's to keep unique while it is in flight; across clients it is the same on purpose.
          const unique = given.has(`${step.via}${step.client}/${step.id}`) ? 1000 + i : step.id;
          given.add(`${step.via}${step.client}/${step.id}`);
          const failure = await perform(
            step,
            unique,
            tag,
            sessions[step.client] as Session,
            legacy[step.client] as LegacySession,
          );
          if (failure !== undefined) wrong.push(`${tag} ${JSON.stringify(step)}: ${failure}`);
        }),
      );
      expect(wrong).toEqual([]);
      for (const [name, server] of Object.entries(servers)) {
        const calls = server.received('tools/call').filter(({ text }) => text.includes(`"${mark} step `));
        const cancelled = server.received('notifications/cancelled').map((note) => note.params['requestId']);
        for (const call of calls) {
          const i = Number(/ step (\d+)/.exec(JSON.stringify(call.params))?.[1]);
          const times = cancelled.filter((id) => id === call.id).length;
          const step = plan[i] as Step;
          // A hanging call ends only by cancellation; one that is answered is never cancelled.
          const allowed = step.tool === 'hang' ? [1] : step.ends === 'answered' ? [0] : [0, 1];
          if (!allowed.includes(times)) {
            await until(`${name}: ${JSON.stringify(step)} is cancelled ${allowed.join(' or ')} times`, () =>
              allowed.includes(
                server.received('notifications/cancelled').filter((note) => note.params['requestId'] === call.id)
                  .length,
              ),
            );
          }
        }
        const tags = calls.map((call) => JSON.stringify(call.params['arguments']));
        expect(new Set(tags).size, `${name} got a call twice`).toBe(tags.length);
      }
      for (const one of legacy) one.stream.close();
    }),
    budget,
  );
});

/** Makes one call the way the step says; undefined, or what went wrong. */
async function perform(
  step: Step,
  id: number,
  tag: string,
  own: Session,
  legacy: LegacySession,
): Promise<string | undefined> {
  const hangs = step.tool === 'hang';
  const ends = hangs && step.ends === 'answered' ? 'cancelled' : step.ends;
  const params = {
    name: `${step.server}-${step.tool}`,
    arguments: { tag, ms: step.ms, steps: 3 },
    _meta: { progressToken: id },
  };
  const expected = step.tool === 'delay' ? tag : `${tag} done after 3`;
  const arrived = () =>
    until(`${tag} arrived`, () =>
      servers[step.server]?.received('tools/call').some(({ text }) => text.includes(`"${tag}"`)),
    );
  const judge = (
    messages: {
      id?: unknown;
      result?: { content?: { text?: string }[] };
      method?: string;
      params?: { message?: string };
    }[],
    mustAnswer: boolean,
  ) => {
    const results = messages.filter((message) => message.result !== undefined);
    if (mustAnswer && results.length !== 1) return `${results.length} results`;
    if (results.some((message) => message.result?.content?.[0]?.text !== expected))
      return `got ${JSON.stringify(results)}`;
    const progress = messages
      .filter((message) => message.method === 'notifications/progress')
      .map((message) => message.params?.message ?? '');
    const foreign = progress.filter((text) => !text.startsWith(`${tag}#`));
    return foreign.length > 0 ? `foreign progress ${foreign.join()}` : undefined;
  };
  if (step.via === 'legacy') {
    await legacy.post({ jsonrpc: '2.0', id: `${id} ${tag}`, method: 'tools/call', params });
    if (ends !== 'answered') {
      await arrived();
      await legacy.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: `${id} ${tag}` } });
      return undefined;
    }
    const answer = await legacy.stream.message(tag, (message) => message.id === `${id} ${tag}`);
    return judge([answer], true);
  }
  const request =
    step.via === 'session'
      ? { headers: own.headers, body: { jsonrpc: '2.0', id, method: 'tools/call', params } }
      : step.via === 'bare'
        ? { body: { jsonrpc: '2.0', id, method: 'tools/call', params } }
        : modernRequest(
            'tools/call',
            { name: params.name, arguments: params.arguments },
            { id, meta: modernMeta({ progressToken: id }) },
          );
  if (ends === 'answered') return judge((await raw(hub.mcp(), request)).messages, true);
  const open = stream(hub.mcp(), { ...request, method: 'POST' });
  open.catch(() => {});
  await arrived();
  if (ends === 'cancelled' && step.via === 'session') {
    await own.notify('notifications/cancelled', { requestId: id });
    const seen = await open;
    await until('the stream of a cancelled call ends', () => seen.ended());
    return judge(seen.messages, false);
  }
  const seen = await Promise.race([open, arrived().then(() => undefined)]);
  if (seen === undefined) void open.then((late) => late.close());
  else seen.close();
  return undefined;
}

// ---- fidelity

/** JSON text of any shape, with the spellings and keys that parsers stumble over. */
const numberText = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.tuple(fc.integer(), fc.stringMatching(/^[0-9]{1,25}$/)).map(([whole, fraction]) => `${whole}.${fraction}`),
  fc
    .tuple(fc.integer({ min: -99, max: 99 }), fc.constantFrom('e', 'E', 'e+', 'E-'), fc.nat(999))
    .map((parts) => parts.join('')),
  fc.constantFrom('-0', '0.0', '1.0', '-0.0', '1E400'),
);
const keyText = fc.oneof(
  fc
    .constantFrom(
      '__proto__',
      'constructor',
      'toString',
      'name',
      'arguments',
      'id',
      'jsonrpc',
      'method',
      'params',
      '_meta',
      'progressToken',
      'uri',
      '',
      ' ',
      '0',
    )
    .map((key) => JSON.stringify(key)),
  fc.string({ unit: codePoints, maxLength: 8 }).map((key) => JSON.stringify(key)),
);
const space = fc.constantFrom('', '', '', ' ', '\n', '\r\n\t');
const jsonText = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    numberText,
    fc.string({ unit: codePoints, maxLength: 12 }).map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'false', 'null', '"\\ud800"', '"\\u0000\\/"', '"data: x\\n\\n"'),
    tie('list'),
    tie('object'),
  ),
  list: fc
    .tuple(space, fc.array(tie('value'), { maxLength: 4 }))
    .map(([gap, items]) => `[${items.join(`${gap},`)}${gap}]`),
  object: fc
    .tuple(space, fc.uniqueArray(fc.tuple(keyText, tie('value')), { maxLength: 5, selector: ([key]) => key }))
    .map(([gap, pairs]) => `{${gap}${pairs.map(([key, value]) => `${key}${gap}:${value}`).join(`,${gap}`)}}`),
}));

test.each(['pipe', 'web'])(
  'whatever JSON a client sends as arguments and a server as result arrives as it was (%s)',
  async (name) => {
    const server = servers[name] as Hostile;
    const own = await session(hub.mcp());
    await fc.assert(
      fc.asyncProperty(jsonText.object, jsonText.value, async (args, result) => {
        const oneLine = result.replaceAll(/[\r\n]/g, ' ');
        await server.control({ set: { results: { echo: `{"content":[],"structuredContent":${oneLine}}` } } });
        const answer = await raw(hub.mcp(), {
          headers: own.headers,
          body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":${args},"name":"${name}-echo"}}`,
        });
        expect(exactAt(answer.texts.at(-1) ?? '', 'result', 'structuredContent')).toBe(exact(oneLine));
        expect(exactAt(server.received('tools/call').at(-1)?.text ?? '', 'params', 'arguments')).toBe(exact(args));
      }),
      { ...budget, numRuns: 150 },
    );
  },
  60_000,
);

// ---- garbage

const garbage = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  jsonText.value,
  fc
    .record({
      jsonrpc: fc.constantFrom<unknown>('2.0', '1.0', 2, null),
      id: fc.constantFrom<unknown>(1, 'x', null, {}, [], 1.5, -1, undefined, '9'.repeat(400)),
      method: fc.constantFrom<unknown>(
        'tools/call',
        'tools/list',
        'initialize',
        'notifications/cancelled',
        'notifications/progress',
        'resources/read',
        'prompts/get',
        'logging/setLevel',
        'completion/complete',
        'server/discover',
        'subscriptions/listen',
        'ping',
        '__proto__',
        7,
        undefined,
      ),
      params: fc.oneof(
        fc.constantFrom<unknown>(undefined, null, [], 'x', 7),
        fc.dictionary(
          fc.constantFrom(
            'name',
            'arguments',
            'uri',
            'cursor',
            'requestId',
            'ref',
            'argument',
            'level',
            '_meta',
            'progressToken',
            'protocolVersion',
            'capabilities',
            '__proto__',
          ),
          fc.jsonValue({ maxDepth: 2 }),
        ),
      ),
      result: fc.constantFrom<unknown>(undefined, undefined, {}, null),
    })
    .map((message) => JSON.stringify(message)),
);
const header = fc.constantFrom(
  undefined,
  '',
  '2026-07-28',
  '2025-11-25',
  '1900-01-01',
  'x'.repeat(200),
  '=?base64?!?=',
  '__proto__',
);

test('no request, however wrong, is an internal error, and none keeps the next from being answered', async () => {
  await fc.assert(
    fc.asyncProperty(
      garbage,
      fc.constantFrom('', 'pipe', 'nobody'),
      header,
      header,
      header,
      async (body, scope, version, method, id) => {
        const answer = await raw(hub.mcp(scope), {
          body,
          headers: {
            'mcp-protocol-version': version,
            'mcp-method': method,
            'mcp-session-id': id === '' ? undefined : id,
          },
          // One that is right stays open.
          ...(body.includes('subscriptions/listen') && { timeoutMs: 1_000 }),
        }).catch((error: unknown) => {
          if (body.includes('subscriptions/listen')) return undefined;
          throw error;
        });
        if (answer === undefined) return;
        expect(answer.status, answer.text).toBeLessThan(500);
        expect(answer.error?.code, body).not.toBe(-32603);
        if (answer.status >= 400)
          expect(answer.message, 'an error without JSON-RPC').toMatchObject({
            jsonrpc: '2.0',
            error: { code: expect.any(Number), message: expect.any(String) },
          });
      },
    ),
    { ...budget, numRuns: 400 },
  );
  expect((await rpc(hub.mcp(), 'ping', {})).result).toEqual({});
  expect(
    (await modern(hub.mcp(), 'tools/call', { name: 'pipe-delay', arguments: { tag: 'alive' } })).result?.content?.[0]
      ?.text,
  ).toBe('alive');
});

// ---- names

test('any set of servers and tools is exposed under legal names that lead back exactly', async () => {
  const word = fc.oneof(
    fc.stringMatching(/^[ab-]{1,4}$/),
    fc.constantFrom('a', 'b', '-', 'a-b', 'b-', '-a'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
  );
  const serverName = fc.stringMatching(/^[ab][ab-]{0,3}$/);
  const fleet = fc.dictionary(serverName, fc.uniqueArray(word, { minLength: 1, maxLength: 6 }), {
    minKeys: 1,
    maxKeys: 4,
  });
  await fc.assert(
    fc.asyncProperty(fleet, async (tools) => {
      const mcpServers: Record<string, Record<string, unknown>> = {};
      for (const [name, list] of Object.entries(tools)) {
        const server = await hostileHttp({ name, tools: list.map((tool) => ({ name: tool, inputSchema: {} })) });
        mcpServers[name] = server.config;
      }
      const own = await testHub({ mcpServers });
      try {
        await own.connected(Object.keys(tools).length);
        const listed = (await rpc(own.mcp(), 'tools/list', {})).result?.tools ?? [];
        const reached: string[] = [];
        for (const { name } of listed) {
          expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          const { server, tool } =
            (await rpc(own.mcp(), 'tools/call', { name, arguments: {} })).result?.structuredContent ?? {};
          reached.push(JSON.stringify([server, tool]));
        }
        expect(reached.sort()).toEqual(
          Object.entries(tools)
            .flatMap(([server, list]) => list.map((tool) => JSON.stringify([server, tool])))
            .sort(),
        );
        expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length);
      } finally {
        await own.close();
      }
    }),
    { ...budget, numRuns: 10 },
  );
});
