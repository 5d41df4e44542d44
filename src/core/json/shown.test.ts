import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shownJson, visible } from './shown.ts';

test('numbers are shown as they are written', () => {
  expect(shownJson('{"id":12345678901234567890,"price":1.0,"e":1E5,"list":[1,-0,[]],"none":{}}')).toBe(
    `{
  "id": 12345678901234567890,
  "price": 1.0,
  "e": 1E5,
  "list": [
    1,
    -0,
    []
  ],
  "none": {}
}`,
  );
});

test('what is not seen, or turns the direction of text, is shown as an escape', () => {
  const shown = shownJson(JSON.stringify({ 'a\u200b': 'x\u202ey\u00a0\u{e0041}\u2800', b: 'täglich 毎日　🙂 "q"' }));
  expect(shown).toBe(
    `{
  "a\\u200b": "x\\u202ey\\u00a0\\udb40\\udc41\\u2800",
  "b": "täglich 毎日　🙂 \\"q\\""
}`,
  );
  expect(visible('a\nb\r\u2028')).toBe('a\\u000ab\\u000d\\u2028');
});

test('an escape does not hide a letter', () => {
  expect(shownJson(String.raw`{"sql":"\u0044ROP \ud83d\ude42 \n"}`)).toBe('{\n  "sql": "DROP 🙂 \\n"\n}');
});

test('what is cut, or no JSON, is shown as far as it goes', () => {
  expect(shownJson('{"a":"b\u200bc')).toBe('{\n  "a": "b\\u200bc');
  expect(shownJson('}}]"\\')).toContain('"\\');
  expect(shownJson('['.repeat(100_000)).length).toBeLessThan(5_000_000);
});

test('it means the same JSON', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.parse(shownJson(text))).toEqual(JSON.parse(text));
    }),
  );
});
