import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { upstreamLimits } from '../../limits.ts';
import { frameKinds, openFrames } from './frames.ts';

/** A stream whose other end takes what is written. */
function stream(written: (chunk: Buffer) => void): Duplex {
  return new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      written(chunk);
      done();
    },
  });
}

async function bytesOf(send: (frames: ReturnType<typeof openFrames>) => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const ignored = { frame: () => undefined, gone: () => undefined };
  send(
    openFrames(
      stream((chunk) => chunks.push(chunk)),
      ignored,
    ),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return Buffer.concat(chunks);
}

test.each([1, 7, 100_000])('frames arrive whole, in order, in chunks of %i bytes', async (size) => {
  const large = 'ü'.repeat(upstreamLimits.framePieceBytes + 1);
  const bytes = await bytesOf((frames) => {
    frames.sendMessage(1, '{"a":1}');
    frames.send(frameKinds.control, 2, '');
    frames.sendMessage(3, large);
  });
  const found: [number, number, Buffer][] = [];
  const reading = stream(() => undefined);
  openFrames(reading, { frame: (kind, channel, content) => void found.push([kind, channel, content]), gone() {} });
  for (let at = 0; at < bytes.length; at += size) reading.push(bytes.subarray(at, at + size));
  await new Promise((resolve) => setImmediate(resolve));
  expect(found.slice(0, 2).map(([kind, channel, content]) => [kind, channel, content.toString()])).toEqual([
    [frameKinds.message, 1, '{"a":1}'],
    [frameKinds.control, 2, ''],
  ]);
  const pieces = found.slice(2);
  expect(pieces.map(([kind]) => kind)).toEqual([frameKinds.piece, frameKinds.piece, frameKinds.lastPiece]);
  expect(Buffer.concat(pieces.map(([, , content]) => content)).toString()).toBe(large);
});

test('what two ends tell each other arrives whole, however large it is', async () => {
  const told = { env: { LARGE: 'ü'.repeat(upstreamLimits.frameBytes) } };
  const bytes = await bytesOf((frames) => {
    frames.tell(7, told);
    frames.tell(8, { kind: 'ready' });
  });
  const found: [number, number, unknown][] = [];
  const reading = stream(() => undefined);
  openFrames(reading, {
    frame: (kind, channel, content) => void found.push([kind, channel, JSON.parse(content.toString())]),
    gone() {},
  });
  for (let at = 0; at < bytes.length; at += 50_000) reading.push(bytes.subarray(at, at + 50_000));
  await new Promise((resolve) => setImmediate(resolve));
  expect(found).toEqual([
    [frameKinds.control, 7, told],
    [frameKinds.control, 8, { kind: 'ready' }],
  ]);
  expect(reading.destroyed).toBe(false);
});

test('what is no frame ends the stream, once', async () => {
  let ends = 0;
  const reading = stream(() => undefined);
  openFrames(reading, { frame: () => undefined, gone: () => void ends++ });
  reading.push(Buffer.alloc(64, 0xff));
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(reading.destroyed).toBe(true);
  expect(ends).toBe(1);
});
