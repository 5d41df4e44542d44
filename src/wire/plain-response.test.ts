import { expect, test } from 'vitest';
import { echoServer, wire } from '../../test/kit/fast-path.ts';
import { until } from '../../test/kit/until.ts';
import type { HttpResponse } from './http.ts';

test('JSON is answered with what writeHead and end send, and its headers are looked at too', async () => {
  const text = '{"told":"é"}';
  const headers = { vary: 'Origin' };
  const ways: Record<string, (res: HttpResponse) => void> = {
    '"json"': (res) => res.json?.(headers, text),
    '"head"': (res) => {
      res.writeHead(200, {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      });
      res.end(text);
    },
    '"odd"': (res) => {
      // Nothing of what was refused is sent later.
      const refused = { 'x-first': 'a', vary: 'a\r\nset-cookie: b' };
      expect(() => res.json?.(refused, text)).toThrow('Invalid character');
      ways['"json"']?.(res);
    },
  };
  const server = await echoServer({
    fastPath: true,
    answer(_, body, res) {
      res.setHeader('x-set', 'before');
      ways[body.toString()]?.(res);
    },
  });
  const said: string[][] = [];
  for (const [i, way] of Object.keys(ways).entries()) {
    // The last one closes.
    if (i === 2) server.fastPath?.lastAnswers();
    const line = await wire(server.port);
    await line.send(`POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: ${way.length}\r\n\r\n${way}`);
    await until('its answer', () => line.heard.endsWith('}'));
    if (i === 2) await until('the end', () => line.closed);
    said.push(
      line.heard
        .replace(/^Date: .*\r\n/m, '')
        .split('\r\n')
        .toSorted(),
    );
  }
  expect(said[0]).toEqual(said[1]);
  const kept = /^(?:Connection|Keep-Alive): /;
  expect(said[2]?.filter((one) => !kept.test(one))).toEqual(said[0]?.filter((one) => !kept.test(one)));
  expect(said[2]).toContain('Connection: close');
});

test('JSON is no second answer once the head of the first is written', async () => {
  const server = await echoServer({
    fastPath: true,
    answer(_, body, res) {
      res.writeHead(200, { 'content-length': 2 });
      expect(() => res.json?.({}, '{}')).toThrow('The head of this response was written already');
      res.end(body);
    },
  });
  const line = await wire(server.port);
  await line.send('POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok');
  await until('its answer', () => line.heard.endsWith('\r\n\r\nok'));
});
