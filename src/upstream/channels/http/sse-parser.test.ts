import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TooLong } from '../message-buffer.ts';
import { SseParser } from './sse-parser.ts';

type Seen = ['event', string, string] | ['retry', number] | ['too long', TooLong];

function parse(chunks: readonly Buffer[], maxEventBytes = 1_000_000) {
  const seen: Seen[] = [];
  const parser = new SseParser(maxEventBytes, {
    event: (type, data) => seen.push(['event', type, data]),
    largeEvent: (type, data) => seen.push(['event', type, data.begun]),
    retry: (ms) => seen.push(['retry', ms]),
    tooLong: (event) => seen.push(['too long', event]),
  });
  for (const chunk of chunks) parser.push(chunk);
  return { seen, lastEventId: parser.lastEventId };
}

const stream = [
  '\uFEFF: a comment\n',
  'data: first\n\n',
  'event: endpoint\r\ndata:/messages?x=ü€😀\r\n\r\n',
  'id: 7\rdata: one\rdata\rdata:  three\r\r',
  'retry: 1500\nretry: soon\nid\n\n',
  'nonsense: x\ndata\n\n',
  'id: 8\ndata: last\n\n',
  'id: 9\ndata: never ended\n',
].join('');

const expected: Seen[] = [
  ['event', 'message', 'first'],
  ['event', 'endpoint', '/messages?x=ü€😀'],
  ['event', 'message', 'one\n\n three'],
  ['retry', 1500],
  ['event', 'message', ''],
  ['event', 'message', 'last'],
];

test('every field and every line end is understood', () => {
  expect(parse([Buffer.from(stream)])).toEqual({ seen: expected, lastEventId: '8' });
});

test('a stream means the same when it is cut at any one byte, or at every byte', () => {
  const bytes = Buffer.from(stream);
  for (let at = 0; at <= bytes.length; at++) {
    expect(parse([bytes.subarray(0, at), bytes.subarray(at)])).toEqual({ seen: expected, lastEventId: '8' });
  }
  expect(parse([...bytes].map((byte) => Buffer.of(byte)))).toEqual({ seen: expected, lastEventId: '8' });
});

test('any events come out as they were written, wherever cut and whatever ends the lines', () => {
  const word = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replace(/[\r\n\0\uFEFF]/g, '·'));
  const event = fc.record({
    type: fc.option(word.filter((text) => text !== '')),
    data: fc.array(word, { minLength: 1, maxLength: 4 }),
  });
  const end = fc.constantFrom('\n', '\r', '\r\n');
  fc.assert(
    fc.property(fc.array(event), end, fc.array(fc.nat(5_000)), (events, eol, places) => {
      const lines = events.flatMap(({ type, data }) => [
        ...(type === null ? [] : [`event: ${type}`]),
        ...data.map((text) => `data: ${text}`),
        '',
      ]);
      const bytes = Buffer.from(lines.map((line) => line + eol).join(''));
      const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      const chunks = at.slice(1).map((to, index) => bytes.subarray(at[index], to));
      expect(parse(chunks).seen).toEqual(events.map(({ type, data }) => ['event', type ?? 'message', data.join('\n')]));
    }),
  );
});

test('an event that is too large is reported with its ends and the next one is whole', () => {
  const oneLine = `data: {"id":5,${'x'.repeat(3_000)}}\n\n`;
  const manyLines = `data: {"id":6,\n${`data: ${'y'.repeat(100)}\n`.repeat(30)}data: end}\n\n`;
  const bytes = Buffer.from(`${oneLine}data: ok\n\n${manyLines}data: ok\n\n`);
  for (const size of [1, 64, 100_000]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    const { seen } = parse(chunks, 1_000);
    expect(seen.map(([kind]) => kind)).toEqual(['too long', 'event', 'too long', 'event']);
    expect(seen[0]?.[1]).toMatchObject({
      head: expect.stringMatching(/^\{"id":5,x/),
      tail: expect.stringMatching(/x\}$/),
    });
    expect(seen[2]?.[1]).toMatchObject({
      head: expect.stringMatching(/^\{"id":6,/),
      tail: expect.stringMatching(/end\}$/),
    });
  }
});

test('comments keep a stream alive for ever without adding up', () => {
  const { seen } = parse([Buffer.from(': ping\n'.repeat(1_000)), Buffer.from('data: x\n\n')], 100);
  expect(seen).toEqual([['event', 'message', 'x']]);
});
