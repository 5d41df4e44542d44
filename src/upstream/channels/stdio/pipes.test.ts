import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuMsOf } from '../../../../test/kit/cpu.ts';
import { giveBack } from '../../../core/json/large-buffers.ts';
import type { LargeMessage } from '../large-message.ts';
import { lineSplitter } from './pipes.ts';
import type { TooLong } from '../message-buffer.ts';

function split(chunks: readonly Buffer[], maxBytes = 1_000_000) {
  const lines: string[] = [];
  const tooLong: TooLong[] = [];
  const splitter = lineSplitter(maxBytes, { line: (text) => lines.push(text), tooLong: (line) => tooLong.push(line) });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { lines, tooLong };
}

/** Cuts a buffer at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

test('lines come out the same wherever the bytes are cut', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replace(/[\r\n\uFEFF]/g, '·'));
  fc.assert(
    fc.property(fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n'))), fc.array(fc.nat(4_000)), (input, places) => {
      const bytes = Buffer.from(input.map(([text, end]) => text + end).join(''));
      expect(split(cut(bytes, places)).lines).toEqual(input.map(([text]) => text).filter((text) => text !== ''));
    }),
  );
});

test('a byte order mark at the start is dropped, also when it is cut', () => {
  const bytes = Buffer.from('\uFEFF{"a":1}\n\uFEFFb\n');
  for (let at = 0; at <= bytes.length; at++) expect(split(cut(bytes, [at])).lines).toEqual(['{"a":1}', '\uFEFFb']);
});

test('the last line needs no line break', () => {
  expect(split([Buffer.from('one\ntwo')]).lines).toEqual(['one', 'two']);
});

test('bytes that are no UTF-8 do no harm', () => {
  expect(split([Buffer.from([0x61, 0xff, 0xc3, 0x0a, 0x62, 0x0a])]).lines).toEqual(['a\uFFFD\uFFFD', 'b']);
});

test('a line that is too long is skipped and its ends are reported, and the next one is whole', () => {
  const long = `HEAD${'x'.repeat(5_000)}TAIL`;
  for (const size of [1, 7, 100, 4_999, 10_000]) {
    const bytes = Buffer.from(`before\n${long}\nafter\n`);
    const places = Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => index * size);
    const { lines, tooLong } = split(cut(bytes, places), 1_000);
    expect(lines).toEqual(['before', 'after']);
    expect(tooLong).toHaveLength(1);
    expect(tooLong[0]).toMatchObject({ bytes: long.length });
    expect(tooLong[0]?.head).toBe(long.slice(0, 300));
    expect(tooLong[0]?.tail).toBe(long.slice(-300));
  }
});

test('a line of exactly the allowed size passes, one byte more does not', () => {
  for (const places of [[], [3], [10], [11]]) {
    const { lines, tooLong } = split(cut(Buffer.from(`${'a'.repeat(10)}\n${'b'.repeat(11)}\n`), places), 10);
    expect(lines).toEqual(['a'.repeat(10)]);
    expect(tooLong.map((line) => line.bytes)).toEqual([11]);
  }
});

test('a long line costs the same per byte as a short one', () => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const timeOf = (chunks: number): number =>
    cpuMsOf(() => void split([...Array.from({ length: chunks }, () => chunk), Buffer.from('\n')], 1e9));
  timeOf(160);
  // Quadratic gathering would take 64 times as long for 8 times the bytes; linear takes 8, with room for a busy
  // machine.
  const [short, long] = [
    Math.min(timeOf(160), timeOf(160), timeOf(160)),
    Math.min(timeOf(1280), timeOf(1280), timeOf(1280)),
  ];
  expect(long / short).toBeLessThan(32);
});

test('to give the memory of a large line back takes nothing of the lines beside it', () => {
  const line = (letter: string) => `{"result":"${letter.repeat(600_000)}"}`;
  const bytes = Buffer.from(['a', 'b', 'c'].map((letter) => `${line(letter)}\n`).join(''));
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 16 * 1024, max: 64 * 1024 }), { minLength: 1, maxLength: 5 }), (sizes) => {
      const found: LargeMessage[] = [];
      const splitter = lineSplitter(1_000_000, {
        line: () => undefined,
        tooLong: () => undefined,
        large: (message) => found.push(message),
      });
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const end = at + (sizes[turn % sizes.length] ?? 1);
        // Each chunk has a buffer of its own, as those of a pipe have.
        const chunk = Buffer.allocUnsafeSlow(Math.min(end, bytes.length) - at);
        bytes.copy(chunk, 0, at);
        splitter.push(chunk);
        at = end;
      }
      expect(found.map((message) => message.end())).toEqual([true, true, true]);
      const [first, second, third] = found.map(({ text }) => text);
      for (const piece of [...(first?.pieces ?? []), ...(third?.pieces ?? [])]) giveBack(piece);
      expect(second?.toString()).toBe(line('b'));
      expect(Math.min(...(first?.pieces ?? []).map(({ length }) => length))).toBe(0);
    }),
    { numRuns: 20 },
  );
});
