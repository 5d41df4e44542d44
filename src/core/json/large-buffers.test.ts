import { expect, test } from 'vitest';
import { claim, giveBack } from './large-buffers.ts';

test('a buffer that was claimed is given back with the piece of it that was read', () => {
  const piece = Buffer.alloc(64 * 1024, 'a');
  claim(piece);
  giveBack(piece.subarray(3));
  expect(piece.buffer.byteLength).toBe(0);
  expect(piece).toHaveLength(0);
  giveBack(piece);
});

test('its memory is free at once, and not after a collection', () => {
  const pieces = Array.from({ length: 100 }, () => Buffer.alloc(1024 * 1024));
  for (const piece of pieces) claim(piece);
  const before = process.memoryUsage().arrayBuffers;
  for (const piece of pieces) giveBack(piece);
  expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThanOrEqual(100 * 1024 * 1024);
});

test.each([
  ['what was not claimed', Buffer.alloc(64 * 1024, 'a'), false],
  ['what is a part of a buffer that holds more', Buffer.alloc(64 * 1024, 'a').subarray(1), true],
  ['what is in memory that threads share', Buffer.from(new SharedArrayBuffer(16)).fill('a'), true],
])('%s stays', (_, piece, isClaimed) => {
  if (isClaimed) claim(piece);
  giveBack(piece);
  expect(piece.toString()).toBe('a'.repeat(piece.length));
  expect(piece.length).toBeGreaterThan(0);
});
