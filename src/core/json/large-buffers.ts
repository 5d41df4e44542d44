import { MessageChannel, type MessagePort } from 'node:worker_threads';

/**
 * The memory of large messages, given back as soon as a client has it. V8 would find that out in a collection of the
 * whole heap, which it begins with each 64 MB of buffers, in steps of 5 ms and more in which all others wait
 * (decisions/0096). No buffer is used again: one that was given back is empty for all code that still has it.
 */
const claimed = new WeakSet<ArrayBufferLike>();

/** The buffer that these bytes fill holds no other bytes, and no code but their owner uses it. */
export function claim(bytes: Buffer): void {
  if (bytes.length === bytes.buffer.byteLength) claimed.add(bytes.buffer);
}

/** This piece will not be read any more: gives the memory of its buffer back, if that was claimed. */
export function giveBack(piece: Buffer): void {
  const { buffer } = piece;
  if (!(buffer instanceof ArrayBuffer) || !claimed.delete(buffer)) return;
  // What is handed over to a port that is closed is dropped with it.
  (closed ??= closedPort()).postMessage(undefined, [buffer]);
}

let closed: MessagePort | undefined;

function closedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port1.close();
  port2.close();
  return port1;
}
