import { expect, test, vi } from 'vitest';
import { type Asked, connectionTo, honest, silent } from '../../../test/kit/scripted-channel.ts';
import { until, within } from '../../../test/kit/until.ts';
import { HubError } from '../../core/errors.ts';
import { type Exchange, promised } from './exchange.ts';

// The moments between two events, which real transports hit once in a thousand times: a channel whose every step the
// test decides.

const gone = new HubError('upstream_unavailable', 'It ended.');

test('a server that ends while its lists are read is not taken for connected', async () => {
  const { kind, lives } = connectionTo({
    answers: ({ method }, server) => {
      if (method !== 'resources/list' || lives.length > 1) return undefined;
      server.events.closed(gone);
      return silent;
    },
  });
  await kind('disconnected');
  await kind('connected');
  expect(lives).toHaveLength(2);
});

test('a server that ends with its last answer is not taken for connected', async () => {
  const { kind, lives } = connectionTo({
    answers: ({ id, method }, server) => {
      if (method !== 'resources/templates/list' || lives.length > 1) return undefined;
      server.say({ id, ...honest(method) });
      server.events.closed(gone);
      return silent;
    },
  });
  await kind('disconnected');
});

test('a change that a server announces while it is being listed is read', async () => {
  let tools = [{ name: 'early' }];
  const { connection, kind } = connectionTo({
    answers: ({ id, method }, server) => {
      if (method !== 'tools/list') return undefined;
      const now = tools;
      if (tools.length === 1) {
        tools = [{ name: 'early' }, { name: 'late' }];
        server.say({ id, result: { tools: now } });
        server.say({ method: 'notifications/tools/list_changed' });
        return silent;
      }
      return { result: { tools: now } };
    },
  });
  await kind('connected');
  await until('the late tool is offered', () => connection.offer?.tools.length === 2);
});

test('a list that cannot be read again does not keep the change of another from being told', async () => {
  let spoiled = false;
  const { connection, kind, lives, changes } = connectionTo({
    answers: ({ method }) => {
      if (!spoiled) return undefined;
      if (method === 'prompts/list') return { error: { code: -32603, message: 'broken' } };
      return method === 'resources/list' ? { result: { resources: [{ uri: 'x://two' }] } } : undefined;
    },
  });
  await kind('connected');
  spoiled = true;
  const before = changes();
  lives[0]?.say({ method: 'notifications/prompts/list_changed' });
  lives[0]?.say({ method: 'notifications/resources/list_changed' });
  await until('the other list is read', () => connection.offer?.resources[0]?.key === 'x://two');
  expect(connection.offer?.prompts.map((prompt) => prompt.key)).toEqual(['one']);
  expect(changes()).toBeGreaterThan(before);
});

test('a call that is cancelled while the session is renewed is never sent', async () => {
  let renewing = false;
  const { connection, kind, lives } = connectionTo({
    answers: ({ id, method }, server) => {
      if (method === 'initialize' && renewing) return silent;
      if (method !== 'tools/call') return undefined;
      renewing = true;
      server.events.failed(id, new HubError('upstream_failed', 'Unknown session'), true);
      return silent;
    },
  });
  await kind('connected');
  const outcome: string[] = [];
  const exchange = (name: string): Exchange => ({
    notified: () => undefined,
    answered: () => void outcome.push(`${name} answered`),
    failed: () => void outcome.push(`${name} failed`),
  });
  connection.send(connection.takeId(), 'tools/call', '{"name":"loses"}', exchange('first'));
  await until('the session is renewed', () => lives[0]?.methods().filter((method) => method === 'initialize')[1]);
  const id = connection.takeId();
  connection.send(id, 'prompts/get', '{"name":"second"}', exchange('second'));
  expect(connection.inFlight).toBeGreaterThanOrEqual(3);
  connection.cancel(id, 'changed my mind');
  renewing = false;
  const initialize = (lives[0]?.sent ?? [])
    .map((text) => JSON.parse(text) as Asked)
    .findLast((one) => one.method === 'initialize');
  lives[0]?.say({ id: initialize?.id, ...honest('initialize') });
  await until('the lost call is repeated', () => lives[0]?.methods().filter((method) => method === 'tools/call')[1]);
  expect(lives[0]?.methods()).not.toContain('prompts/get');
});

test('a caller that asks and cannot take the answer harms neither the others nor the hub', async () => {
  const { connection, kind, log } = connectionTo({});
  await kind('connected');
  const broken: Exchange = {
    notified: () => undefined,
    answered: () => {
      throw new Error('cannot take it');
    },
    failed: () => undefined,
  };
  connection.send(connection.takeId(), 'tools/call', '{}', broken);
  const { message } = await within(
    'the call after it',
    promised((exchange) => connection.send(connection.takeId(), 'tools/call', '{}', exchange)),
  );
  expect(message.result).toEqual({});
  expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
});

test('the next attempt, and stop, wait until the last process has ended', async () => {
  const ends: (() => void)[] = [];
  const { connection, kind, lives } = connectionTo({
    closing: () => new Promise((resolve) => ends.push(resolve)),
  });
  await kind('connected');
  lives[0]?.events.closed(gone);
  connection.retryNow();
  await kind('connecting');
  await new Promise((resolve) => setImmediate(resolve));
  expect(lives).toHaveLength(1);
  let stopped = false;
  const stop = connection.stop().then(() => (stopped = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(stopped).toBe(false);
  for (const end of ends) end();
  await within('the stop', stop);
  expect(lives).toHaveLength(1);
});

test('an end that goes wrong is no unhandled rejection', async () => {
  const { kind, lives, log } = connectionTo({ closing: () => Promise.reject(new Error('stuck')) });
  await kind('connected');
  lives[0]?.events.closed(gone);
  await until('it is logged', () => log.lines.some(({ message }) => message === 'connection not closed in order'));
});

test('what a failing server says of itself is told without its secrets', async () => {
  const secret = 'sk-12345678';
  const { connection, kind, lives } = connectionTo(
    { answers: ({ method }) => (method === 'tools/call' ? silent : undefined) },
    { clean: (text) => text.replaceAll(secret, '***') },
  );
  await kind('connected');
  const call = promised((exchange) => connection.send(connection.takeId(), 'tools/call', '{}', exchange));
  lives[0]?.events.closed(new HubError('upstream_unavailable', `It said: bad key ${secret}`));
  await expect(call).rejects.toThrow('It said: bad key ***');
  await expect(connection.available(0)).rejects.toThrow('It said: bad key ***');
});

test('a channel is told which answers no caller waits for', async () => {
  const { connection, kind, lives } = connectionTo({
    answers: ({ method }) => (method === 'tools/call' ? silent : undefined),
  });
  await kind('connected');
  const id = connection.takeId();
  const call = promised((exchange) => connection.send(id, 'tools/call', '{}', exchange));
  const say = (message: Record<string, unknown>) => lives[0]?.say(message);
  expect(say({ id: id + 1_000, result: {} }), 'no request').toBe(false);
  expect(say({ id: 'x', error: { code: 1, message: '' } }), 'not even an id').toBe(false);
  expect(say({ id, result: {} })).toBe(true);
  expect(say({ id, result: {} }), 'once more').toBe(false);
  expect(say({ method: 'notifications/message', params: {} })).toBe(true);
  await call;
});

test('a request of the server is answered under the id it wrote, however long', async () => {
  const { kind, lives } = connectionTo({});
  await kind('connected');
  const text = '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}';
  lives[0]?.events.message(JSON.parse(text) as object, text);
  expect(lives[0]?.sent.at(-1)).toBe('{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}');
});

test('each retry waits at least as long as the one before, and a server that took too long gets more time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] });
  try {
    const { connection, lives } = connectionTo({ answers: () => silent });
    const waits: number[] = [];
    const took: number[] = [];
    for (let attempt = 1; attempt <= 6; attempt++) {
      const begun = Date.now();
      while (connection.status.kind !== 'disconnected') await vi.advanceTimersByTimeAsync(50);
      took.push(Math.round((Date.now() - begun) / 1_000));
      const { nextRetryAt } = connection.status;
      waits.push(nextRetryAt - Date.now());
      expect(connection.status.attempts).toBe(attempt);
      await vi.advanceTimersByTimeAsync(nextRetryAt - Date.now());
      expect(connection.status).toMatchObject({ kind: 'connecting', error: { code: 'timeout' } });
    }
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBeGreaterThan(10_000);
    expect(took).toEqual([5, 10, 20, 40, 40, 40]);
    expect(lives.length).toBeGreaterThanOrEqual(6);
  } finally {
    vi.useRealTimers();
  }
});
