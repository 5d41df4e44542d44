import { beforeAll, describe, expect, test } from 'vitest';
import {
  answered,
  askable,
  askingHttp,
  askingStdio,
  begin,
  filled,
  questionsIn,
  reply,
  type Told,
  toldBy,
} from '../kit/asking.ts';
import type { RawAnswer, Stream } from '../kit/raw.ts';
import { legacySession, type Session, session } from '../kit/sessions.ts';
import { testHub, type TestHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// A question of a server is for the client whose call it belongs to. Where that is not clear, no client hears of
// it.

let hub: TestHub;
beforeAll(async () => {
  const pipes = ['alone', 'crowd', 'stubborn', 'foreign', 'background', 'storm', 'log'];
  hub = await testHub({
    mcpServers: {
      ...Object.fromEntries(pipes.map((name) => [name, askingStdio()])),
      http: await askingHttp(),
      own: { ...askingStdio(), perSessionClient: true },
    },
  });
  await hub.connected(pipes.length + 2);
});

/** Makes a call that never ends, and gives it up. */
async function giveUp(own: Session, tool = 'deaf', args = {}): Promise<void> {
  let given = false;
  void own.call(tool, args, { id: 'given up' }).then(() => (given = true));
  await until('the call is given up', async () => {
    await own.notify('notifications/cancelled', { requestId: 'given up' });
    return given;
  });
}

const client = (server: string) => session(hub.mcp(server), { capabilities: askable });

/** A bystander: everything that could reach it is listened to. */
async function bystander(server: string): Promise<{ heard(): unknown[]; streams: Stream[] }> {
  const [own, legacy] = await Promise.all([client(server), legacySession(hub.sse(server), { capabilities: askable })]);
  const streams = [await own.listen(), legacy.stream];
  return { streams, heard: () => streams.flatMap(questionsIn) };
}

test('two clients whose calls make one server ask through one pipe: neither is asked, and the server hears why', async () => {
  const [a, b, other] = await Promise.all([client('crowd'), client('crowd'), bystander('crowd')]);
  const streams = await Promise.all([a.listen(), b.listen()]);
  const answers = await Promise.all([
    a.call('together', { label: 'a', count: 2 }),
    b.call('together', { label: 'b', count: 2 }),
  ]);
  for (const { messages, result } of answers) {
    expect(messages).toHaveLength(1);
    const { error } = toldBy(result) as Told;
    expect(error).toMatchObject({ code: -32603 });
    expect(error?.message).toContain('to which of several calls it belongs');
  }
  expect([...streams.flatMap(questionsIn), ...other.heard()]).toEqual([]);
});

test('over HTTP, where each call has a stream of its own, each client is asked what its own call asks', async () => {
  const [a, b, other] = await Promise.all([client('http'), client('http'), bystander('http')]);
  const calls = await Promise.all(
    [a, b].map((own, i) => begin(own, 'together', { label: `call ${i}`, count: 2 }, 'the same id')),
  );
  const asked = await Promise.all(calls.map((call) => call.asked()));
  expect(asked.map(({ params }) => params?.['message'])).toEqual(['call 0', 'call 1']);
  await Promise.all([a, b].map((own, i) => reply(hub.mcp('http'), own, asked[i]?.id, filled(`word ${i}`))));
  for (const [i, call] of calls.entries()) {
    expect((await call.told()).result).toEqual(filled(`word ${i}`).result);
    expect(questionsIn(call.stream)).toHaveLength(1);
  }
  expect(other.heard()).toEqual([]);
});

test.each(['alone', 'http'])('the only call on its way to %s is the one that is asked', async (server) => {
  const [own, other] = await Promise.all([client(server), bystander(server)]);
  const call = await begin(own, 'form', { label: 'you?', unrelated: true });
  const { id, method, params } = await call.asked();
  expect({ method, message: params?.['message'] }).toEqual({ method: 'elicitation/create', message: 'you?' });
  expect((await reply(hub.mcp(server), own, id, filled('me'))).status).toBe(202);
  expect((await call.told()).result).toEqual(filled('me').result);
  expect(other.heard()).toEqual([]);
});

test.each([
  ['http', 0],
  // Through a pipe some are refused, as many as happen to meet.
  ['storm', Infinity],
])(
  'of many clients of %s that call at once with the same ids, each hears its own questions',
  async (server, refused) => {
    const sessions = await Promise.all(Array.from({ length: 12 }, () => client(server)));
    const heard = await Promise.all(sessions.map((own) => own.listen()));
    let refusals = 0;
    const wrong: string[] = [];
    await Promise.all(
      sessions.map(async (own, s) => {
        for (let i = 0; i < 4; i++) {
          const label = `session ${s} call ${i}`;
          const call = await answered(own, 'form', { label }, (asked) => {
            if (asked.params?.['message'] !== label)
              wrong.push(`${label} is asked ${String(asked.params?.['message'])}`);
            return reply(hub.mcp(server), own, asked.id, filled(label));
          });
          const told = toldBy(call) as Told;
          if (told.error?.code === -32603) refusals++;
          else if (JSON.stringify(told.result) !== JSON.stringify(filled(label).result))
            wrong.push(`${label} hears ${JSON.stringify(told)}`);
        }
      }),
    );
    expect(wrong).toEqual([]);
    expect(refusals).toBeLessThanOrEqual(refused);
    expect(heard.flatMap(questionsIn)).toEqual([]);
  },
);

test('two calls of one client are no riddle: that client is asked', async () => {
  const own = await client('crowd');
  const holding = own.call('hold', { label: 'mine' }, { id: 'held' });
  const call = await begin(own, 'form', { label: 'which?' });
  const { id } = await call.asked();
  await reply(hub.mcp('crowd'), own, id, filled('either'));
  expect((await call.told()).result).toEqual(filled('either').result);
  await until(
    'the call is there',
    async () => toldBy((await own.call('release', { label: 'mine' })).result) === 'released',
  );
  await holding;
});

test('a call that was given up and goes on is never taken for another client’s, which can be asked within five seconds', async () => {
  const [a, b, other] = await Promise.all([client('stubborn'), client('stubborn'), bystander('stubborn')]);
  await giveUp(a, 'stubborn', { label: 'of a' });
  // Until it is known whether the server answers what was given up, questions are refused, and the answer is plain
  // JSON.
  const events = await until('b is asked', async () => {
    const trial = await b.begin('tools/call', { name: 'form', arguments: { label: 'of b' } }, { id: 'of b' });
    if (String(trial.headers['content-type']).includes('event-stream')) return trial;
    await trial.json();
    return undefined;
  });
  const asked = await until('the question is there', () => questionsIn(events)[0]);
  // Now the server asks for what was given up, while b waits.
  const plain = await session(hub.mcp('stubborn'));
  await until(
    'a’s call goes on',
    async () => toldBy((await plain.call('release', { label: 'of a' })).result) === 'released',
  );
  const memory = await until(
    'the server heard',
    async () => (toldBy((await plain.call('remembered')).result) as Told[])[0],
  );
  expect(memory.error).toMatchObject({ code: -32603 });
  await reply(hub.mcp('stubborn'), b, asked.id, filled('b'));
  const { result } = await events.message('the answer', ({ id, method }) => id === 'of b' && method === undefined);
  expect((toldBy(result) as Told).result).toEqual(filled('b').result);
  expect(questionsIn(events).map(({ params }) => params?.['message'])).toEqual(['of b']);
  expect(other.heard()).toEqual([]);
  // The one who gave up is asked at once.
  const again = await begin(a, 'form', { label: 'a again' });
  await reply(hub.mcp('stubborn'), a, (await again.asked()).id, filled('yes'));
  expect((await again.told()).result).toEqual(filled('yes').result);
});

test('nor does a client hear in the log of what may be about such a call', async () => {
  const [a, b] = await Promise.all([client('log'), client('log')]);
  const logged = (answer: RawAnswer) => answer.messages.flatMap(({ params }) => (params ? [params.data] : []));
  expect(logged(await b.call('log', { label: 'about b' }))).toEqual(['about b']);
  await giveUp(a);
  expect(logged(await b.call('log', { label: 'about a?' }))).toEqual([]);
  expect(logged(await a.call('log', { label: 'about a' }))).toEqual(['about a']);
});

test('what a server asks after its call is for no client', async () => {
  const [own, other] = await Promise.all([client('background'), bystander('background')]);
  const listening = await own.listen();
  await own.call('later', { label: 'too late' });
  const memory = await until('the server heard', async () => {
    const { result } = await own.call('remembered');
    return (toldBy(result) as Told[])[0];
  });
  expect(memory.error).toMatchObject({ code: -32603 });
  expect([...other.heard(), ...questionsIn(listening)]).toEqual([]);
});

test('what a server asks on no stream of a call is not asked of a client, where the answer would be kept for all', async () => {
  const own = await client('http');
  const { result } = await own.call('rootsUnrelated');
  expect((toldBy(result) as Told).error?.code).toBe(-32603);
  const call = await begin(own, 'roots');
  const { id, method } = await call.asked();
  expect(method).toBe('roots/list');
  await reply(hub.mcp('http'), own, id, { result: { roots: [{ uri: 'file:///a' }] } });
  expect((await call.told()).result).toEqual({ roots: [{ uri: 'file:///a' }] });
});

test('what a server asks for a task is for the client that fetches its result, even if others call', async () => {
  const [a, b, other] = await Promise.all([client('crowd'), client('crowd'), bystander('crowd')]);
  const holding = b.call('hold', { label: 'busy' });
  const { result } = await a.call('task', { label: 'mine' });
  expect(result).toMatchObject({ task: { taskId: 'task-mine' } });
  const fetching = await a.begin('tasks/result', { taskId: 'task-mine' }, { id: 'fetch' });
  const asked = await fetching.message('it is asked', ({ method }) => method === 'elicitation/create');
  expect(asked.params?.['message']).toBe('task-mine');
  await reply(hub.mcp('crowd'), a, asked.id, filled('done'));
  const answer = await fetching.message('the result', ({ id }) => id === 'fetch');
  expect((toldBy(answer.result) as Told).result).toEqual(filled('done').result);
  await until(
    'b’s call is there',
    async () => toldBy((await a.call('release', { label: 'busy' })).result) === 'released',
  );
  expect((await holding).messages).toHaveLength(1);
  expect(other.heard()).toEqual([]);
});

describe('an answer', () => {
  test('of another session, with the same id, is taken and thrown away', async () => {
    const [a, b] = await Promise.all([client('foreign'), client('foreign')]);
    const call = await begin(a, 'form', { label: 'only a' });
    const { id } = await call.asked();
    const forged = await reply(hub.mcp('foreign'), b, id, filled('from b'));
    expect([forged.status, forged.text]).toEqual([202, '']);
    // Nor without any session, nor for an id that was never given.
    await reply(hub.mcp('foreign'), { headers: {} }, id, filled('from a stranger'));
    await reply(hub.mcp('foreign'), a, 1, filled('for nothing'));
    await reply(hub.mcp('foreign'), a, id, filled('from a'));
    expect((await call.told()).result).toEqual(filled('from a').result);
  });

  test('counts once, and not after the call is over', async () => {
    const own = await client('foreign');
    const first = await begin(own, 'form', { label: 'first' });
    const { id } = await first.asked();
    const answers = ['one', 'two'].map((word) => reply(hub.mcp('foreign'), own, id, filled(word)));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([202, 202]);
    await first.told();
    const second = await begin(own, 'form', { label: 'second' });
    const { id: secondId } = await second.asked();
    await reply(hub.mcp('foreign'), own, id, filled('for the first'));
    await reply(hub.mcp('foreign'), own, secondId, filled('for the second'));
    expect((await second.told()).result).toEqual(filled('for the second').result);
    expect(secondId).not.toBe(id);
  });
});

describe('a connection of its own', () => {
  test('has all that its server asks go to its session, whenever that is', async () => {
    const [a, b] = await Promise.all([client('own'), client('own')]);
    const [heardByA, heardByB] = await Promise.all([a.listen(), b.listen()]);
    await b.call('remembered');
    await a.call('later', { label: 'for a' });
    const { id } = await until('it is asked', () => questionsIn(heardByA)[0]);
    await reply(hub.mcp('own'), a, id, filled('late'));
    const memory = await until(
      'the server heard',
      async () => (toldBy((await a.call('remembered')).result) as Told[])[0],
    );
    expect(memory.result).toEqual(filled('late').result);
    expect(questionsIn(heardByB)).toEqual([]);
  });

  test('declares what its own client can be asked; a shared one what some client may be able to', async () => {
    const able = await session(hub.mcp('own'), { capabilities: { sampling: {}, experimental: { x: {} } } });
    expect(toldBy((await able.call('capabilities')).result)).toEqual({ sampling: {} });
    expect(toldBy((await (await client('own')).call('capabilities')).result)).toEqual(askable);
    const none = await session(hub.mcp('own'));
    expect(toldBy((await none.call('capabilities')).result)).toEqual({});
    const shared = await session(hub.mcp('alone'));
    const { listChanged: _, ...roots } = askable.roots;
    // Pages of apps are passed on to clients that show them.
    const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
    expect(toldBy((await shared.call('capabilities')).result)).toEqual({ ...askable, roots, extensions });
  });

  test('tells its server that the roots of its client changed, and no other server', async () => {
    const [a, b] = await Promise.all([client('own'), client('own')]);
    await Promise.all([a.call('remembered'), b.call('remembered')]);
    await a.notify('notifications/roots/list_changed');
    await until(
      'it is told',
      async () => JSON.stringify(toldBy((await a.call('remembered')).result)) === '["roots changed"]',
    );
    expect(toldBy((await b.call('remembered')).result)).toEqual([]);
  });
});
