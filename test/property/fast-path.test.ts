import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { echoServer, type Wire, wire } from '../kit/fast-path.ts';
import { until } from '../kit/until.ts';

// The front reads requests of the plain shape by itself. Whatever is sent, and however it is cut, it must understand
// what node:http alone understands.

const often = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 40, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

const name = fc.constantFrom('X-A', 'x-a', 'Accept', 'Mcp-Session-Id', 'authorization', 'Cookie', 'X_b', 'constructor');
const value = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'B', '7', ' ', '\t', ';', '"', ':', ','), maxLength: 12 }),
  fc.constantFrom('é', 'a\u0000b', 'a\rb', 'a\nb', '\u007f', 'a\r\n b'),
);
const header = fc.tuple(often(': ', ':', ' : ', ':\t', ':   '), name, fc.oneof({ weight: 30, arbitrary: fc.constant("plain") }, { weight: 1, arbitrary: value })).map(
  ([colon, name, value]) => `${name}${colon}${value}`,
); // prettier-ignore
const framing = (length: number) =>
  often(
    `Content-Length: ${length}`,
    `content-length:${length}`,
    `Content-Length: ${length}\r\nContent-Length: ${length}`,
    `Content-Length: ${length}\r\nContent-Length: ${length + 1}`,
    `Content-Length: +${length}`,
    `Content-Length: ${length}, ${length}`,
    `Content-Length: 0x${length}`,
    `Content-Length: -1`,
    `Content-Length : ${length}`,
    `Content-Length: ${length} `,
    `Content-Length: ${length}\r\nTransfer-Encoding: chunked`,
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: identity',
    'X-Nothing: here',
  );
const extra = often('', 'Expect: 100-continue\r\n', 'Upgrade: h2c\r\nConnection: Upgrade\r\n', 'Connection: close\r\n', 'Connection: keep-alive\r\n', 'TE: trailers\r\n', 'Host: other\r\n', ' folded: line\r\n'); // prettier-ignore

/** One after the other with the same head, but for the length of their bodies. */
const requests = fc
  .record({
    method: often('POST', 'DELETE', 'GET', 'PUT', 'HEAD', 'post', 'POST ', ''),
    url: often('/mcp', '/mcp/a?b=c', '/node', 'http://h/mcp', '*', '/mc p', '/%zz#x', 'mcp'),
    version: often('HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2', 'http/1.1', 'HTTP/1.1 ', ''),
    host: often('Host: h\r\n', 'host:h\r\n', '', 'Host:\r\n'),
    headers: fc.array(header, { maxLength: 4 }),
    after: fc.array(header, { maxLength: 1 }),
    extra,
    lineBreak: often('\r\n', '\n', '\r'),
    before: often('', '\r\n', '\n', ' '),
    sent: fc.array(
      often('{"a":1}', '{"a":1000}', '', '7\r\n{"a":1}\r\n0\r\n\r\n', 'POST /smuggled HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n').chain(
        (body) => framing(body.length).map((framing) => ({ body, framing })),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(({ method, url, version, host, headers, after, extra, lineBreak, before, sent }) => {
    const lines = (some: readonly string[]) => some.map((one) => `${one}\r\n`).join('');
    return sent.map(({ body, framing }) => {
      const head = `${method} ${url} ${version}\r\n${host}${lines(headers)}${extra}${framing}\r\n${lines(after)}\r\n`;
      return `${before}${head.replaceAll('\r\n', lineBreak)}${body}`;
    });
  }); // prettier-ignore

const last = 'GET /node/end HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n';
/**
 * Without the time, and without what the hub's own refusals say more than those of node:http. After an answer that
 * closes the connection, what still comes is refused or not seen any more, whichever is first.
 */
const said = (heard: string): string =>
  heard
    .replaceAll(/^Date: .*\r\n/gm, '')
    .replaceAll(/(HTTP\/1\.1 4.*\r\n)X-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n/g, '$1')
    .replace(/(\r\nConnection: close\r\n[^]*)HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/, '$1');
const answers = ({ heard }: Wire): number => heard.split('HTTP/1.1 ').length;

test('whatever is sent, and however it is cut, the front understands what node:http understands', async () => {
  const [plain, fast] = [await echoServer({ fastPath: false }), await echoServer({ fastPath: true })];
  await fc.assert(
    fc.asyncProperty(
      fc.array(requests, { minLength: 1, maxLength: 2 }),
      fc.array(fc.nat(400), { maxLength: 3 }),
      async (all, cuts) => {
        const [one, other] = await Promise.all([wire(plain.port), wire(fast.port)]);
        for (const bytes of [...all.flat(), last]) {
          const before = answers(one);
          for (const piece of cutAt(bytes, cuts)) {
            await Promise.all([one.send(piece), other.send(piece)]);
            await sleep(1);
          }
          // What waits for more waits for ever: then silence is the answer of both.
          for (let wait = 0; wait < 20 && answers(one) === before && !one.closed; wait++) await sleep(2);
        }
        await until('both have said the same', () => {
          expect([said(other.heard), other.closed]).toEqual([said(one.heard), one.closed]);
          return true;
        });
        one.socket.destroy();
        other.socket.destroy();
      },
    ),
    { numRuns: 300 },
  );
  // Some sixty were its own to answer: with none nothing would have been compared.
  expect(fast.byFastPath.length).toBeGreaterThan(20);
});

function cutAt(bytes: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
  return places
    .slice(1)
    .map((to, i) => bytes.slice(places[i], to))
    .filter((piece) => piece !== '');
}
