import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { hostileStdio } from '../kit/hostile.ts';
import { session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';

/** Runs it, and gives the stack of each write of an answer over HTTP, and of all that is done at the end of a turn. */
async function stacksOf(run: () => Promise<unknown>): Promise<string[]> {
  const stacks: string[] = [];
  const note = (): void => void stacks.push(new Error('here').stack ?? '');
  const { setImmediate } = globalThis;
  const { write } = Socket.prototype;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  globalThis.setImmediate = Object.assign((...given: Parameters<typeof setImmediate>) => {
    note();
    return setImmediate(...given);
  }, setImmediate);
  Socket.prototype.write = function written(this: Socket, ...given: unknown[]) {
    if (String(given[0]).startsWith('HTTP/')) note();
    return Reflect.apply(write, this, given) as boolean;
  };
  try {
    await run();
  } finally {
    globalThis.setImmediate = setImmediate;
    Socket.prototype.write = write;
    Error.stackTraceLimit = stackTraceLimit;
  }
  return stacks;
}

/** Those of `src/`, as ARCHITECTURE names them. */
const filesOf = (stacks: string[]) =>
  new Set(stacks.flatMap((stack) => [...stack.matchAll(/\/src\/([\w/-]+)\.ts:/g)].map(([, file]) => file)));

test('a call steps through the files that ARCHITECTURE names, and through no others', async () => {
  const document = readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8');
  const [, named = ''] = /Who steps through a call .*?:(.*)/.exec(document) ?? [];
  const listed = [...named.matchAll(/`([\w/-]+)`/g)].map(([, file]) => file);
  const server = hostileStdio({ name: 'stdio' });
  const hub = await testHub({ mcpServers: { stdio: server.config }, env: { DB_URL: 'off' } });
  await hub.connected(1);
  const client = await session(hub.mcp());
  await client.call('stdio-echo', { tag: 'first' });
  const stacks = await stacksOf(() => client.call('stdio-echo', { tag: 'second' }));
  const onTheWay = stacks.filter((stack) => stack.includes('/src/mcp/relay/relayed-call.ts'));
  expect(filesOf(onTheWay)).toEqual(new Set(listed));
});
