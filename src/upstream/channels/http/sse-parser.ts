import { LargeMessage } from '../large-message.ts';
import { MessageBuffer } from '../message-buffer.ts';
import type { LargeMessageReader, TooLong } from '../message-buffer.ts';

/** Told what a stream of server-sent events holds, in order. */
export interface SseSink {
  /** An event with a `data` field (possibly empty). `type` is `message` unless the stream says otherwise. */
  event(type: string, data: string): void;
  /** An event with one line of data that is longer than `upstreamLimits.largeMessageBytes`. */
  largeEvent(type: string, data: LargeMessage): void;
  /** The server wants this wait, in milliseconds, before the stream is asked for again. */
  retry(ms: number): void;
  /** An event larger than allowed; nothing of it was kept but the ends of its data. */
  tooLong(event: TooLong): void;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const mark = Buffer.from('\uFEFF');
const dataField = 'data:';

/**
 * Parses an event stream from bytes cut anywhere (WHATWG HTML §9.2.6): lines end in LF, CR or CRLF, a byte order mark
 * is dropped, an event that was not ended by an empty line is none. `maxEventBytes` bounds one event with all its
 * lines.
 *
 * Classes, since one is made for each call: an object with a getter of its own would keep what it knows until the next
 * full collection (decisions/0029).
 */
export class SseParser implements LargeMessageReader {
  readonly #maxEventBytes: number;
  readonly #pieces: MessageBuffer;
  readonly #event: EventBuilder;
  #first = true;
  #endedInCr = false;
  #lines = 0;

  constructor(maxEventBytes: number, sink: SseSink) {
    this.#maxEventBytes = maxEventBytes;
    this.#pieces = new MessageBuffer(maxEventBytes, this);
    this.#event = new EventBuilder(maxEventBytes, sink);
  }

  /** The id of the last complete event that had one: the `Last-Event-ID` to go on from. */
  get lastEventId(): string | undefined {
    return this.#event.lastEventId;
  }

  /** Lines so far, those of no event too. */
  get lines(): number {
    return this.#lines;
  }

  /** What was pushed last is in the middle of a large line. */
  get isLarge(): boolean {
    return this.#pieces.isLarge;
  }

  enlarge(begin: Buffer): LargeMessage | undefined {
    const at = this.#first && begin.subarray(0, mark.length).equals(mark) ? mark.length : 0;
    const isData = begin.toString('latin1', at, at + dataField.length) === dataField;
    if (!isData || this.#event.hasData) return undefined;
    const message = new LargeMessage();
    const value = at + dataField.length;
    message.add(begin.subarray(begin[value] === 0x20 ? value + 1 : value));
    return message;
  }

  push(chunk: Buffer): void {
    let start = this.#endedInCr && chunk[0] === lineFeed ? 1 : 0;
    if (chunk.length > 0) this.#endedInCr = false;
    let lf = chunk.indexOf(lineFeed, start);
    let cr = chunk.indexOf(carriageReturn, start);
    while (lf !== -1 || cr !== -1) {
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr;
      if (this.#pieces.bytes === 0 && end - start <= this.#maxEventBytes) {
        this.#emit(chunk.toString('utf8', start, end));
      } else {
        this.#pieces.add(chunk, start, end);
        this.#emit(this.#pieces.take());
      }
      start = end === cr && lf === cr + 1 ? end + 2 : end + 1;
      this.#endedInCr = end === cr && end === chunk.length - 1;
      if (lf !== -1 && lf < start) lf = chunk.indexOf(lineFeed, start);
      if (cr !== -1 && cr < start) cr = chunk.indexOf(carriageReturn, start);
    }
    if (start < chunk.length) this.#pieces.add(chunk, start);
  }

  #emit(line: string | TooLong | LargeMessage): void {
    this.#lines++;
    const isMarked = this.#first && typeof line === 'string' && line.startsWith('\uFEFF');
    this.#first = false;
    this.#event.line(isMarked ? line.slice(1) : line);
  }
}

/** Gathers the lines of one event until the empty line that ends it. */
class EventBuilder {
  lastEventId: string | undefined;
  readonly #maxEventBytes: number;
  readonly #sink: SseSink;
  #type = '';
  #data: string[] = [];
  #id: string | undefined;
  #bytes = 0;
  #tooLong: TooLong | undefined;
  #large: LargeMessage | undefined;

  constructor(maxEventBytes: number, sink: SseSink) {
    this.#maxEventBytes = maxEventBytes;
    this.#sink = sink;
  }

  get hasData(): boolean {
    return this.#data.length > 0 || this.#large !== undefined;
  }

  line(line: string | TooLong | LargeMessage): void {
    if (line instanceof LargeMessage) {
      this.#large = line;
      this.#bytes += line.bytes;
      return;
    }
    if (line === '') {
      this.#dispatch();
      return;
    }
    if (typeof line === 'string' && line.startsWith(':')) return;
    this.#bytes += typeof line === 'string' ? line.length : line.bytes;
    if (typeof line === 'string' && this.#bytes <= this.#maxEventBytes) this.#field(line);
    else this.#overflow(line);
  }

  #dispatch(): void {
    const type = this.#type || 'message';
    const data = this.#data;
    const tooLong = this.#tooLong;
    const large = this.#large;
    this.#large = undefined;
    this.#type = '';
    this.#data = [];
    this.#bytes = 0;
    this.#tooLong = undefined;
    this.lastEventId = this.#id;
    if (tooLong) this.#sink.tooLong(tooLong);
    else if (large) this.#sink.largeEvent(type, large);
    else if (data.length > 0) this.#sink.event(type, data.length === 1 ? (data[0] ?? '') : data.join('\n'));
  }

  #field(line: string): void {
    if (line.startsWith(dataField)) {
      this.#addData(valueFrom(line, dataField.length));
      return;
    }
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : valueFrom(line, colon + 1);
    if (name === 'event') this.#type = value;
    else if (name === 'data') this.#addData(value);
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.#sink.retry(Number(value));
  }

  /** Several lines make one text. */
  #addData(value: string): void {
    if (this.#large) this.#data.push(this.#large.begun);
    this.#large = undefined;
    this.#data.push(value);
  }

  #overflow(line: string | TooLong): void {
    const head =
      this.#tooLong?.head ??
      this.#data[0]?.slice(0, 300) ??
      this.#large?.head ??
      (typeof line === 'string' ? line : line.head).replace(/^data: ?/, '');
    const tail = typeof line === 'string' ? line.slice(-300) : line.tail;
    this.#tooLong = { head, tail, bytes: this.#bytes };
    this.#data = [];
    this.#large = undefined;
  }
}

function valueFrom(line: string, start: number): string {
  return line.slice(line[start] === ' ' ? start + 1 : start);
}
