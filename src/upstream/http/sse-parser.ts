import { Pieces } from '../pieces.ts';
import type { TooLong } from '../pieces.ts';

/** Told what a stream of server-sent events holds, in order. */
export interface SseSink {
  /** An event with a `data` field (possibly empty). `type` is `message` unless the stream says otherwise. */
  event(type: string, data: string): void;
  /** The server wants this wait, in milliseconds, before the stream is asked for again. */
  retry(ms: number): void;
  /** An event larger than allowed; nothing of it was kept but the ends of its data. */
  tooLong(event: TooLong): void;
}

export interface SseParser {
  push(chunk: Buffer): void;
  /** The id of the last complete event that had one: the `Last-Event-ID` to go on from. */
  readonly lastEventId: string | undefined;
  /** Lines so far, those of no event too. */
  readonly lines: number;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Parses an event stream from bytes cut anywhere (WHATWG HTML §9.2.6): lines end in LF, CR or CRLF, a byte order mark is dropped, an event that was
 * not ended by an empty line is none. `maxEventBytes` bounds one event with all its lines.
 */
export function sseParser(maxEventBytes: number, sink: SseSink): SseParser {
  const pieces = new Pieces(maxEventBytes);
  const event = eventBuilder(maxEventBytes, sink);
  let first = true;
  let endedInCr = false;
  let lines = 0;

  function emit(line: string | TooLong): void {
    lines++;
    if (first) {
      first = false;
      if (typeof line === 'string' && line.startsWith('\uFEFF')) {
        event.line(line.slice(1));
        return;
      }
    }
    event.line(line);
  }

  function push(chunk: Buffer): void {
    let start = endedInCr && chunk[0] === lineFeed ? 1 : 0;
    if (chunk.length > 0) endedInCr = false;
    let lf = chunk.indexOf(lineFeed, start);
    let cr = chunk.indexOf(carriageReturn, start);
    while (lf !== -1 || cr !== -1) {
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr;
      if (pieces.bytes === 0 && end - start <= maxEventBytes) {
        emit(chunk.toString('utf8', start, end));
      } else {
        pieces.add(chunk, start, end);
        emit(pieces.take());
      }
      start = end === cr && lf === cr + 1 ? end + 2 : end + 1;
      endedInCr = end === cr && end === chunk.length - 1;
      if (lf !== -1 && lf < start) lf = chunk.indexOf(lineFeed, start);
      if (cr !== -1 && cr < start) cr = chunk.indexOf(carriageReturn, start);
    }
    if (start < chunk.length) pieces.add(chunk, start);
  }

  return {
    push,
    get lastEventId() {
      return event.lastEventId;
    },
    get lines() {
      return lines;
    },
  };
}

interface EventBuilder {
  line(line: string | TooLong): void;
  readonly lastEventId: string | undefined;
}

/** Gathers the lines of one event until the empty line that ends it. */
function eventBuilder(maxEventBytes: number, sink: SseSink): EventBuilder {
  let type = '';
  let data: string[] = [];
  let id: string | undefined;
  let lastEventId: string | undefined;
  let bytes = 0;
  let tooLong: TooLong | undefined;

  function dispatch(): void {
    const ended = { type: type || 'message', data, tooLong };
    type = '';
    data = [];
    bytes = 0;
    tooLong = undefined;
    lastEventId = id;
    if (ended.tooLong) sink.tooLong(ended.tooLong);
    else if (ended.data.length > 0)
      sink.event(ended.type, ended.data.length === 1 ? (ended.data[0] ?? '') : ended.data.join('\n'));
  }

  function field(line: string): void {
    if (line.startsWith('data:')) {
      data.push(valueFrom(line, 5));
      return;
    }
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : valueFrom(line, colon + 1);
    if (name === 'event') type = value;
    else if (name === 'data') data.push(value);
    else if (name === 'id' && !value.includes('\0')) id = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) sink.retry(Number(value));
  }

  function overflow(line: string | TooLong): void {
    const head =
      tooLong?.head ?? data[0]?.slice(0, 300) ?? (typeof line === 'string' ? line : line.head).replace(/^data: ?/, '');
    const tail = typeof line === 'string' ? line.slice(-300) : line.tail;
    tooLong = { head, tail, bytes };
    data = [];
  }

  return {
    line(line) {
      if (line === '') {
        dispatch();
        return;
      }
      if (typeof line === 'string' && line.startsWith(':')) return;
      bytes += typeof line === 'string' ? line.length : line.bytes;
      if (typeof line === 'string' && bytes <= maxEventBytes) field(line);
      else overflow(line);
    },
    get lastEventId() {
      return lastEventId;
    },
  };
}

function valueFrom(line: string, start: number): string {
  return line.slice(line[start] === ' ' ? start + 1 : start);
}
