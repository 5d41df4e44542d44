import { beforeAll, describe, expect, test } from 'vitest';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { legacySession, modern, session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';

// All clients use the same JSON-RPC ids at the same time; each gets its own answer (the worst thing a hub can get
// wrong).

let hub: TestHub;
beforeAll(async () => {
  const [json, sse] = await Promise.all([
    hostileHttp({ name: 'json', answers: 'json' }),
    hostileHttp({ name: 'sse', answers: 'sse' }),
  ]);
  hub = await testHub({
    mcpServers: { pipe: hostileStdio({ name: 'pipe' }).config, json: json.config, sse: sse.config },
  });
  await hub.connected(3);
});

describe.each(['pipe', 'json', 'sse'])('a server over %s', (server) => {
  test('a thousand concurrent calls with the same ids from fifty sessions do not mix', async () => {
    const sessions = await Promise.all(Array.from({ length: 50 }, () => session(hub.mcp())));
    const wrong: string[] = [];
    await Promise.all(
      sessions.flatMap((own, s) =>
        Array.from({ length: 20 }, async (_, i) => {
          const tag = `session ${s} call ${i}`;
          const id = i % 3 === 0 ? String(i) : i;
          const answer = await own.call(`${server}-delay`, { tag, ms: (s * 13 + i * 29) % 60 }, { id });
          if (answer.message.id !== id || answer.result?.content?.[0]?.text !== tag)
            wrong.push(`${tag}: ${answer.text.slice(0, 200)}`);
        }),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

test('sessions, streams, bare and stateless requests to all servers at once do not mix', async () => {
  const [sessions, legacy] = await Promise.all([
    Promise.all(Array.from({ length: 10 }, () => session(hub.mcp()))),
    Promise.all(Array.from({ length: 10 }, () => legacySession(hub.sse()))),
  ]);
  const wrong: string[] = [];
  const servers = ['pipe', 'json', 'sse'];
  const jobs = Array.from({ length: 400 }, async (_, i) => {
    const tag = `job ${i}`;
    const args = { tag, ms: (i * 31) % 40 };
    const name = `${servers[i % 3]}-delay`;
    const id = Math.floor(i / 40); // the same ids at the same time
    const one = Math.floor(i / 4) % 10;
    const text = async () => {
      switch (i % 4) {
        case 0:
          return (await sessions[one]?.call(name, args, { id }))?.result;
        case 1:
          return (await legacy[one]?.request('tools/call', { name, arguments: args }, `${one}-${id}-${i}`))?.result;
        case 2:
          return (await rpc(hub.mcp(), 'tools/call', { name, arguments: args }, { id })).result;
        default:
          return (await modern(hub.mcp(), 'tools/call', { name, arguments: args }, { id })).result;
      }
    };
    const result = await text();
    if (result?.content?.[0]?.text !== tag) wrong.push(`${tag} got ${JSON.stringify(result)?.slice(0, 200)}`);
  });
  await Promise.all(jobs);
  expect(wrong).toEqual([]);
});

test('one session may have the same id in flight twice only if each is answered for itself', async () => {
  const own = await session(hub.mcp());
  const answers = await Promise.all(
    ['first', 'second'].map((tag) => own.call('pipe-delay', { tag, ms: 30 }, { id: 1 })),
  );
  for (const [i, tag] of ['first', 'second'].entries()) {
    const answer = answers[i];
    const refused = answer?.error !== undefined;
    expect(refused || answer?.result?.content?.[0]?.text === tag, JSON.stringify(answer?.message)).toBe(true);
  }
  expect(answers.some((answer) => answer.result !== undefined)).toBe(true);
});
