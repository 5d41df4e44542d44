import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LargeAnswer } from '../../core/protocol/large-answer.ts';
import { LargeMessage } from './large-message.ts';
import { upstreamLimits } from '../limits.ts';
import { eachLargeMessage, eachMessage } from './messages.ts';

function messageOf(bytes: Buffer, sizes: readonly number[]): LargeMessage {
  const message = new LargeMessage();
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    message.add(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return message;
}

const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(16 * 1024, 64 * 1024)), {
  minLength: 1,
  maxLength: 10,
});
/** Bytes of characters, whole and broken ones. */
const characters = fc
  .array(
    fc.oneof(
      fc.constantFrom('a', 'ü', '€', '😀', '\uFFFD', 'plain').map((text) => Buffer.from(text)),
      fc
        .constantFrom(
          [0xff],
          [0xc3],
          [0xe2, 0x82],
          [0xf0, 0x9f, 0x98],
          [0x80],
          [0xed, 0xa0, 0x80],
          [0xf8],
          [0xc0, 0x80],
        )
        .map((bytes) => Buffer.from(bytes)),
    ),
    { maxLength: 40 },
  )
  .map((parts) => Buffer.concat(parts));

test('its text is what the bytes mean, wherever they are cut: broken characters become U+FFFD as in a short message', () => {
  fc.assert(
    fc.property(characters, fc.nat({ max: 70_000 }), sizes, (odd, padding, cuts) => {
      const bytes = Buffer.concat([Buffer.from(`{"id":1,"result":"${'x'.repeat(padding)}`), odd, Buffer.from('"}')]);
      const message = messageOf(bytes, cuts);
      expect(message.end()).toBe(true);
      expect(message.text.toString()).toBe(bytes.toString());
      const result = message.member('result');
      expect(message.text.slice(result?.start ?? 0, result?.end ?? 0).toString()).toBe(bytes.toString().slice(17, -1));
    }),
    { numRuns: 300 },
  );
});

function read(text: string) {
  const heard: string[] = [];
  const large: LargeAnswer[] = [];
  const sink = {
    message: (_: unknown, text: string) => void heard.push(text),
    large: (answer: LargeAnswer) => void large.push(answer),
  };
  const found = eachLargeMessage(messageOf(Buffer.from(text), [64 * 1024]), sink);
  return { found, heard, large: large[0] };
}

test('a result is known by its id and by what decides where it goes', () => {
  const result = '{ "content":[], "isError":true, "resultType":"x", "deep":{"ttlMs":1} }';
  const { found, large, heard } = read(`{"jsonrpc":"2.0","result":${result},\n"id":12}`);
  expect({ found, heard, id: large?.id }).toEqual({ found: true, heard: [], id: 12 });
  expect(large?.result.toString()).toBe(result);
  expect(large?.resultMember('isError')).toBe('true');
  expect(large?.resultMember('resultType')).toBe('"x"');
  expect(large?.resultMember('ttlMs')).toBeUndefined();
  expect(large?.read().message.id).toBe(12);
});

test.each([
  '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}',
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"much"}}',
  '{"id":1,"result":{},"method":"sampling/createMessage"}',
  '[{"id":1,"result":{}},{"id":2,"result":{}}]',
  '{"level":"info","words":"a log entry"}',
  '"a text"',
])('%s is read as every other message is', (text) => {
  const heard: string[] = [];
  const found = eachMessage(text, { message: (_, text) => void heard.push(text), large: () => undefined });
  expect(read(text)).toEqual({ found, heard, large: undefined });
});

test('of what is no JSON only the beginning is kept', () => {
  const message = new LargeMessage();
  message.add(Buffer.from('no JSON at all'));
  for (let i = 0; i < 100; i++) message.add(Buffer.alloc(upstreamLimits.largeMessageBytes, 0x61));
  expect(message.head).toBe('no JSON at all');
  expect(message.end()).toBe(false);
  expect(message.text.bytes).toBe(0);
});
