import { expect, test } from 'vitest';
import { atEnd } from '../../../../test/kit/at-end.ts';
import { logLines } from '../../../../test/kit/channel-log.ts';
import { until } from '../../../../test/kit/until.ts';
import type { ServerAbout } from '../../../core/catalogue.ts';
import { HubError } from '../../../core/errors.ts';
import { Listener } from './listener.ts';
import type { Exchange } from '../exchange.ts';

// The moments between two streams, which a real server hits once in a thousand times: a link whose every message the
// test decides.

interface Opened {
  readonly filter: Record<string, unknown>;
  readonly exchange: Exchange;
  left: boolean;
  /** The server agrees to this much, or to everything. */
  agree(honoured?: Record<string, unknown>): void;
}

function listening(capabilities: string[] = ['tools', 'tools.listChanged']) {
  const opened: Opened[] = [];
  const missed: string[] = [];
  const listener = new Listener({
    server: 's',
    link: {
      listen(params, exchange) {
        const filter = (JSON.parse(params) as { notifications: Record<string, unknown> }).notifications;
        const one: Opened = {
          filter,
          exchange,
          left: false,
          agree(honoured = filter) {
            const message = { params: { notifications: honoured } };
            exchange.notified('notifications/subscriptions/acknowledged', message, JSON.stringify(message));
          },
        };
        opened.push(one);
        return () => {
          one.left = true;
        };
      },
    },
    about: { capabilities } as unknown as ServerAbout,
    lists: true,
    log: logLines(),
    missed: (kind) => void missed.push(kind),
  });
  atEnd(async () => listener.stop());
  const stream = (n: number) => until(`stream ${n} is opened`, () => opened[n]);
  return { listener, opened, missed, stream };
}

test('what is watched is part of the stream, and the next one takes over before the first is left', async () => {
  const { listener, stream } = listening();
  const starting = listener.start();
  (await stream(0)).agree();
  await starting;
  const begun = [listener.begin('x://1'), listener.begin('x://2')];
  const second = await stream(1);
  expect(second.filter).toEqual({ toolsListChanged: true, resourceSubscriptions: ['x://1', 'x://2'] });
  expect((await stream(0)).left).toBe(false);
  second.agree();
  await Promise.all(begun);
  expect((await stream(0)).left).toBe(true);
  listener.end('x://1');
  expect((await stream(2)).filter).toEqual({ toolsListChanged: true, resourceSubscriptions: ['x://2'] });
});

test('a resource that the server will not tell of is refused, and the others are not', async () => {
  const { listener, stream } = listening([]);
  await listener.start();
  const begun = [listener.begin('x://1'), listener.begin('x://2')];
  (await stream(0)).agree({ resourceSubscriptions: ['x://2'] });
  await expect(begun[0]).rejects.toMatchObject({ code: 'invalid_input' });
  await begun[1];
});

test('a server that knows no such stream is not asked again, and nothing waits for it', async () => {
  const { listener, opened, stream } = listening();
  const starting = listener.start();
  (await stream(0)).exchange.answered({ error: { code: -32601, message: 'no' } }, '{}');
  await starting;
  await expect(listener.begin('x://1')).rejects.toMatchObject({ code: 'invalid_input' });
  expect(opened).toHaveLength(1);
});

test('nothing is missed when one stream takes over from another', async () => {
  const { listener, missed, stream } = listening();
  const starting = listener.start();
  (await stream(0)).agree();
  await starting;
  const begun = listener.begin('x://1');
  (await stream(1)).agree();
  await begun;
  expect(missed).toEqual([]);
});

test('a stream that ends is opened again, and only then is missed what no listener heard', async () => {
  const { listener, missed, stream } = listening();
  const starting = listener.start();
  (await stream(0)).agree();
  await starting;
  (await stream(0)).exchange.answered({ result: {} }, '{}');
  const again = await stream(1);
  expect(missed).toEqual([]);
  again.agree();
  expect(missed).toEqual(['tools']);
});

test('an address that the server does not like costs the other ones, and the lists, nothing', async () => {
  const { listener, stream } = listening();
  const starting = listener.start();
  (await stream(0)).agree();
  await starting;
  const good = listener.begin('x://good');
  (await stream(1)).agree();
  await good;
  const bad = listener.begin('x://bad');
  (await stream(2)).exchange.answered({ error: { code: -32602, message: 'no such address' } }, '{}');
  await expect(bad).rejects.toMatchObject({ code: 'invalid_input' });
  expect((await stream(1)).left).toBe(false);
  const again = await stream(3);
  expect(again.filter).toEqual({ toolsListChanged: true, resourceSubscriptions: ['x://good'] });
  again.agree();
  expect((await stream(1)).left).toBe(true);
});

test('of many streams begun in a row only the last is kept', async () => {
  const { listener, opened, stream } = listening();
  const starting = listener.start();
  (await stream(0)).agree();
  await starting;
  for (const n of [1, 2, 3]) {
    void listener.begin(`x://${n}`);
    await stream(n);
  }
  opened[3]?.agree();
  expect(opened.map(({ left }) => left)).toEqual([true, true, true, false]);
  listener.stop();
  expect(opened.every(({ left }) => left)).toBe(true);
});

test('what an earlier stream still brings means nothing', async () => {
  const { listener, opened, missed, stream } = listening();
  const starting = listener.start();
  const first = await stream(0);
  first.agree();
  await starting;
  const begun = listener.begin('x://1');
  const second = await stream(1);
  first.exchange.failed(new HubError('upstream_unavailable', 'cut'));
  first.agree();
  second.agree();
  await begun;
  expect(opened).toHaveLength(2);
  expect(missed).toEqual(['tools']);
});

test('what waits fails when the connection is gone', async () => {
  const { listener, opened } = listening([]);
  await listener.start();
  const begun = listener.begin('x://1');
  listener.stop();
  await expect(begun).rejects.toMatchObject({ code: 'upstream_unavailable' });
  expect(opened).toHaveLength(0);
});
