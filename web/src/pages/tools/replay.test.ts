import { expect, test } from 'vitest';
import { replayOf } from './replay.ts';

const timestamp = '2026-11-25T10:00:00.000Z';

test('a recorded call gives its arguments, and says when a value was hidden in them', () => {
  const input = '{"name":"add","arguments":{"text":"a"},"_meta":{}}';
  expect(replayOf({ input, timestamp })).toEqual({
    kind: 'filled',
    args: { text: 'a' },
    at: timestamp,
    hasMasked: false,
  });
  expect(replayOf({ input: '{"name":"add"}', timestamp })).toMatchObject({ kind: 'filled', args: {} });
  expect(replayOf({ input: input.replace('"a"', '"••••"'), timestamp })).toMatchObject({ hasMasked: true });
});

test('what is not kept, or was cut, says so', () => {
  expect(replayOf({ timestamp })).toEqual({ kind: 'missing', why: 'notKept' });
  for (const input of ['{"name":"add","argum…', '[]', '{"arguments":[1]}', 'null'])
    expect(replayOf({ input, timestamp })).toEqual({ kind: 'missing', why: 'cut' });
});
