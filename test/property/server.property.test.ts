import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { hostileStdio } from '../kit/hostile.ts';
import type { Hostile } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';
import { codePoints } from '../kit/code-points.ts';

// Servers that say anything at all, at any time: the clients of the hub hear only what is theirs.

let server: Hostile;
let hub: TestHub;
beforeAll(async () => {
  server = hostileStdio({ name: 's' });
  hub = await testHub({ mcpServers: { s: server.config } });
  await hub.connected(1);
});

const value = fc.oneof(
  fc.constantFrom<unknown>(null, 0, 1, -1, 1e9, '', 'x', true, [], {}),
  fc.jsonValue({ maxDepth: 2 }),
);
const line = fc.oneof(
  fc.string({ unit: codePoints, maxLength: 100 }).map((text) => text.replaceAll(/[\r\n]/g, '')),
  fc
    .record(
      {
        jsonrpc: fc.constantFrom<unknown>('2.0', '1.0', undefined),
        id: fc.oneof(fc.nat(60), fc.nat(60).map(String), value),
        method: fc.constantFrom<unknown>(
          'notifications/progress',
          'notifications/cancelled',
          'notifications/message',
          'notifications/tools/list_changed',
          'notifications/resources/updated',
          'notifications/elicitation/complete',
          'ping',
          'roots/list',
          'sampling/createMessage',
          'elicitation/create',
          'x',
          7,
        ),
        params: fc.oneof(
          value,
          fc.record(
            {
              progressToken: fc.oneof(fc.nat(60), value),
              progress: value,
              requestId: fc.oneof(fc.nat(60), value),
              uri: value,
              level: value,
              data: value,
            },
            { requiredKeys: [] },
          ),
        ),
        result: value,
        error: fc.oneof(value, fc.record({ code: value, message: value })),
      },
      { requiredKeys: [] },
    )
    .map((message) => JSON.stringify(message)),
  fc.array(value, { maxLength: 3 }).map((batch) => JSON.stringify(batch)),
);

test('lines a server invents between its answers never end, change or cross a call they do not name', async () => {
  const own = await session(hub.mcp());
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 12 }), async (lines) => {
      // Only lines about requests that were never made: an answer with a live id is an answer, even an invented one.
      const harmless = lines.filter((text) => !isAnswer(text));
      const calls = [1, 2, 3].map((i) =>
        own.call('s-delay', { tag: `call ${i}`, ms: 15 }, { id: i, meta: { progressToken: `mine ${i}` } }),
      );
      for (const text of harmless) await server.control({ emit: text });
      for (const [i, call] of (await Promise.all(calls)).entries()) {
        expect(call.result?.content?.[0]?.text).toBe(`call ${i + 1}`);
        const progress = call.messages.filter((message) => message.method === 'notifications/progress');
        expect(progress.every((message) => message.params?.progressToken === `mine ${i + 1}`)).toBe(true);
      }
    }),
    { numRuns: 60, interruptAfterTimeLimit: 20_000 },
  );
  expect(server.pids()).toHaveLength(1);
  expect(
    (await rpc(hub.mcp(), 'tools/call', { name: 's-delay', arguments: { tag: 'end' } })).result?.content?.[0]?.text,
  ).toBe('end');
});

function isAnswer(text: string): boolean {
  try {
    const message = JSON.parse(text) as { id?: unknown; method?: unknown } | null;
    const one = Array.isArray(message) ? message : [message];
    return one.some(
      (part: { id?: unknown; method?: unknown } | null) =>
        typeof part === 'object' && part !== null && part.id !== undefined && typeof part.method !== 'string',
    );
  } catch {
    return false;
  }
}
