import { LargeMessage } from '../large-message.ts';
import { MessageBuffer } from '../message-buffer.ts';
import type { TooLong } from '../message-buffer.ts';

/** Told each line in order, without its line break. Empty lines are left out. */
export interface LineSink {
  line(text: string): void;
  /** A line longer than `upstreamLimits.largeMessageBytes`. Without this it is given as text too. */
  large?(message: LargeMessage): void;
  /** A line longer than allowed, reported when its end has come. */
  tooLong(line: TooLong): void;
}

export interface Lines {
  push(chunk: Buffer): void;
  /** What was pushed last is in the middle of a large line. */
  readonly isLarge: boolean;
  /** The stream has ended: what is left is a line too. */
  end(): void;
}

const lineFeed = 0x0a;
const mark = Buffer.from('\uFEFF');

/**
 * Cuts a byte stream into lines at `\n` or `\r\n`. A UTF-8 sequence may be cut anywhere; a byte order mark at the start
 * is dropped.
 */
export function lineSplitter(maxBytes: number, sink: LineSink): Lines {
  const pieces = new MessageBuffer(maxBytes, sink.large && { enlarge });
  let first = true;

  function enlarge(begin: Buffer): LargeMessage {
    // A chunk that lies in the middle of a line is this line's alone.
    const message = new LargeMessage(true);
    message.add(first && begin.subarray(0, mark.length).equals(mark) ? begin.subarray(mark.length) : begin);
    return message;
  }

  function emit(line: string | TooLong | LargeMessage): void {
    if (line instanceof LargeMessage) {
      first = false;
      sink.large?.(line);
      return;
    }
    if (typeof line !== 'string') {
      sink.tooLong(line);
      return;
    }
    let text = line;
    if (first) {
      first = false;
      if (text.startsWith('\uFEFF')) text = text.slice(1);
    }
    if (text.endsWith('\r')) text = text.slice(0, -1);
    if (text !== '') sink.line(text);
  }

  function push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      if (pieces.bytes === 0 && end - start <= maxBytes) {
        emit(chunk.toString('utf8', start, end));
      } else {
        pieces.add(chunk, start, end);
        emit(pieces.take());
      }
      start = end + 1;
    }
    if (start < chunk.length) pieces.add(chunk, start);
  }

  return {
    push,
    get isLarge() {
      return pieces.isLarge;
    },
    end() {
      if (pieces.bytes > 0) emit(pieces.take());
    },
  };
}
