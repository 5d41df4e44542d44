import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eachMessage } from './messages.ts';
import { answeredId } from './message-buffer.ts';

function read(frame: string) {
  const texts: string[] = [];
  const found = eachMessage(frame, { message: (_message, text) => void texts.push(text), large: () => undefined });
  return { found, texts };
}

test('the text of a message is what the server wrote, on one line', () => {
  expect(read('{"id":1,"result":{"n":1.0,"big":12345678901234567890}}').texts).toEqual([
    '{"id":1,"result":{"n":1.0,"big":12345678901234567890}}',
  ]);
  expect(read('{\r\n  "id": 1,\n  "result": "a\\nb"\n}').texts).toEqual(['{   "id": 1,   "result": "a\\nb" }']);
});

test('an array is its messages, each with its own text', () => {
  const { texts } = read('[ {"id":1,"result":{"a":[1.0,"],\\"{"]}} , {"method":"x"}, 7, "no" ]');
  expect(texts).toEqual(['{"id":1,"result":{"a":[1.0,"],\\"{"]}}', '{"method":"x"}']);
});

test('the texts of a batch parse to its messages, whatever is in them', () => {
  const message = fc.json().map((json) => ({ jsonrpc: '2.0', id: 1, result: JSON.parse(json) as unknown }));
  fc.assert(
    fc.property(fc.array(message, { minLength: 1 }), fc.constantFrom(0, 2, '\t'), (batch, space) => {
      expect(read(JSON.stringify(batch, null, space)).texts.map((text) => JSON.parse(text) as unknown)).toEqual(
        JSON.parse(JSON.stringify(batch)),
      );
    }),
  );
});

test('what is no JSON-RPC message is refused', () => {
  for (const frame of ['', 'hello', '{', '7', 'null', '[]', '[1,2]', '{"level":"info","msg":"x"}', '{"error":"x"}']) {
    expect(read(frame)).toEqual({ found: false, texts: [] });
  }
});

test('the id of an answer that is too long is found at its start or its end', () => {
  const ends = (head: string, tail: string) => answeredId({ head, tail, bytes: 1e9 });
  expect(ends('{"jsonrpc":"2.0","id":42,"result":{"x":"aaa', 'aaa"}}')).toBe(42);
  expect(ends('{"id": 42, "jsonrpc":"2.0","result":{"x":"aaa', 'aaa"}}')).toBe(42);
  expect(ends('{"result":{"id":7,"x":"aaa', 'aaa"},"jsonrpc":"2.0","id":43}')).toBe(43);
  expect(ends('{"result":{"x":"aaa', 'aaa"}, "id": 44, "jsonrpc": "2.0"}')).toBe(44);
});

test('an id that belongs to something else is not taken for that of the answer', () => {
  const ends = (head: string, tail: string) => answeredId({ head, tail, bytes: 1e9 });
  // A request of the server's own has an id of its own.
  expect(ends('{"jsonrpc":"2.0","method":"sampling/createMessage","id":5,"params":{', '"}}')).toBeUndefined();
  expect(ends('{"jsonrpc":"2.0","method":"sampling/createMessage","params":{"x":"', '"},"id":5}')).toBeUndefined();
  expect(ends('{"result":{"x":"aaa', 'aaa","id":5}}')).toBeUndefined();
  expect(ends('{"result":{"list":[{"x":"aaa', 'aaa"},{"a":1,"id":5}]}}')).toBeUndefined();
  expect(ends('garbage', 'garbage')).toBeUndefined();
});
