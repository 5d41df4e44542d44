import type { Duplex } from 'node:stream';
import { upstreamLimits } from '../../limits.ts';

/**
 * What goes between a worker and the process that has the programs, over one stream: frames of a length (4 bytes), a
 * kind (1), a channel (4) and the bytes. Both ends are the same program, started one from the other.
 */
export const frameKinds = {
  /** A message, as JSON text. */
  message: 1,
  /** A piece of a message that is too large for a text, and the last piece of it. */
  piece: 2,
  lastPiece: 3,
  /** What the two ends tell each other, as JSON; and a piece of it before the last, where it is large. */
  control: 4,
  controlPiece: 5,
} as const;

export type FrameKind = (typeof frameKinds)[keyof typeof frameKinds];

export interface Frames {
  /** A whole message, in pieces where it is large. */
  sendMessage(channel: number, text: string): void;
  /** What `JSON.stringify` makes of this, in pieces where it is large. */
  tell(channel: number, told: object): void;
  /** A frame of up to `frameBytes`. */
  send(kind: FrameKind, channel: number, content: string | Buffer): void;
  /** Bytes that the other end has not taken yet. */
  readonly backlog: number;
  /** Reads nothing until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends the stream, as if the other end were gone. */
  end(): void;
}

export interface FrameSink {
  /** `bytes` of a `control` are whole. */
  frame(kind: number, channel: number, bytes: Buffer): void;
  /** The other end has taken all, after there was more than it took at once. */
  drained?(): void;
  /** The other end is gone. Called once. */
  gone(): void;
}

const headBytes = 9;

/** Frames that begin in one turn of the event loop leave together, the first of them at once. */
export function openFrames(stream: Duplex, sink: FrameSink): Frames {
  let batch: Buffer[] = [];
  let batchBytes = 0;
  let isScheduled = false;
  let isGone = false;
  const read = frameReader(wholeControls(sink));

  function flush(): void {
    isScheduled = false;
    const waiting = batch;
    batch = [];
    batchBytes = 0;
    if (waiting.length > 0 && !isGone) stream.write(Buffer.concat(waiting));
  }

  function gone(): void {
    if (isGone) return;
    isGone = true;
    stream.destroy();
    sink.gone();
  }

  stream.on('data', (chunk: Buffer) => {
    if (!read(chunk)) gone();
  });
  for (const event of ['end', 'error', 'close']) stream.on(event, gone);
  stream.on('drain', () => void (isGone || sink.drained?.()));

  function send(kind: FrameKind, channel: number, content: string | Buffer): void {
    if (isGone) return;
    const frame = frameOf(kind, channel, content);
    if (isScheduled) {
      batch.push(frame);
      batchBytes += frame.length;
      return;
    }
    isScheduled = true;
    setImmediate(flush);
    stream.write(frame);
  }

  function sendPieces(channel: number, text: string, { piece, last }: Record<'piece' | 'last', FrameKind>): void {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += upstreamLimits.framePieceBytes) {
      const end = at + upstreamLimits.framePieceBytes;
      send(end < bytes.length ? piece : last, channel, bytes.subarray(at, end));
    }
  }

  const { message, piece, lastPiece, control, controlPiece } = frameKinds;
  return {
    send,
    sendMessage(channel, text) {
      if (text.length <= upstreamLimits.framePieceBytes) return send(message, channel, text);
      sendPieces(channel, text, { piece, last: lastPiece });
    },
    tell: (channel, told) => sendPieces(channel, JSON.stringify(told), { piece: controlPiece, last: control }),
    get backlog() {
      return stream.writableLength + batchBytes;
    },
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    end: gone,
  };
}

/** Puts controls that come in pieces together: no other frame comes between the pieces. */
function wholeControls(sink: FrameSink): FrameSink['frame'] {
  let pieces: Buffer[] = [];
  return (kind, channel, bytes) => {
    if (kind === frameKinds.controlPiece) return void pieces.push(bytes);
    if (kind !== frameKinds.control || pieces.length === 0) return sink.frame(kind, channel, bytes);
    const whole = Buffer.concat([...pieces, bytes]);
    pieces = [];
    sink.frame(kind, channel, whole);
  };
}

function frameOf(kind: FrameKind, channel: number, content: string | Buffer): Buffer {
  const length = typeof content === 'string' ? Buffer.byteLength(content) : content.length;
  const frame = Buffer.allocUnsafe(headBytes + length);
  frame.writeUInt32LE(length, 0);
  frame.writeUInt8(kind, 4);
  frame.writeUInt32LE(channel, 5);
  if (typeof content === 'string') frame.write(content, headBytes);
  else content.copy(frame, headBytes);
  return frame;
}

/** Cuts what is pushed into frames. False: it is none of ours. */
function frameReader(frame: FrameSink['frame']): (chunk: Buffer) => boolean {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let wanted = headBytes;

  return (chunk) => {
    pieces.push(chunk);
    bytes += chunk.length;
    if (bytes < wanted) return true;
    let rest = pieces.length === 1 ? chunk : Buffer.concat(pieces);
    wanted = headBytes;
    while (rest.length >= headBytes) {
      const length = rest.readUInt32LE(0);
      if (length > upstreamLimits.frameBytes) return false;
      if (rest.length < headBytes + length) {
        wanted = headBytes + length;
        break;
      }
      frame(rest.readUInt8(4), rest.readUInt32LE(5), rest.subarray(headBytes, headBytes + length));
      rest = rest.subarray(headBytes + length);
    }
    pieces = rest.length > 0 ? [rest] : [];
    bytes = rest.length;
    return true;
  };
}
