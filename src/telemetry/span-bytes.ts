import type { Attributes, HrTime } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

/**
 * Spans as the body of an OTLP request (`ExportTraceServiceRequest` in protobuf): the same bytes that the library makes
 * of them, and a test holds both against each other. The library goes through everything twice, the first time to learn
 * how long it gets, which costs more than all else that is done for a recorded span. All spans are of one resource and
 * one scope; they have no events, no links, and as attributes texts, numbers and truth values.
 */
export function spanBytes(spans: readonly ReadableSpan[]): Uint8Array {
  const [first] = spans;
  if (!first) return new Uint8Array(0);
  const { resource, instrumentationScope } = first;
  const writer = new Writer(spans.length * usualBytes);
  const request = writer.begin(0x0a);
  const about = writer.begin(0x0a);
  writer.attributes(0x0a, resource.attributes);
  writer.small(0x10, 0);
  writer.end(about);
  const all = writer.begin(0x12);
  const scope = writer.begin(0x0a);
  writer.text(0x0a, instrumentationScope.name);
  if (instrumentationScope.version) writer.text(0x12, instrumentationScope.version);
  writer.end(scope);
  for (const span of spans) writeSpan(writer, span);
  writer.end(all);
  writer.end(request);
  return writer.written;
}

/** Of one span; more is made room for. */
const usualBytes = 512;

/** The numbers are the fields of `Span`, each with the way it is written (protobuf, Encoding). */
function writeSpan(writer: Writer, span: ReadableSpan): void {
  const { traceId, spanId, traceState } = span.spanContext();
  const { parentSpanContext: parent, status } = span;
  const begun = writer.begin(0x12);
  writer.id(0x0a, traceId);
  writer.id(0x12, spanId);
  const state = traceState?.serialize();
  if (state) writer.text(0x1a, state);
  if (parent) writer.id(0x22, parent.spanId);
  writer.text(0x2a, span.name);
  writer.small(0x30, span.kind + 1);
  writer.time(0x39, span.startTime);
  writer.time(0x41, span.endTime);
  writer.attributes(0x4a, span.attributes);
  // What was dropped of attributes, events and links.
  writer.small(0x50, 0);
  writer.small(0x60, 0);
  writer.small(0x70, 0);
  const ended = writer.begin(0x7a);
  writer.small(0x18, status.code);
  writer.end(ended);
  // It is recorded, and it is known whether its parent is of another program.
  writer.flags(parent?.isRemote ? 0x301 : 0x101);
  writer.end(begun);
}

/** Bytes that are kept free for a length: most fields are short, and those that are not are moved when they end. */
const lengthBytes = 1;

/** Writes fields of protobuf; grows as it needs to. */
class Writer {
  #bytes: Buffer;
  #at = 0;

  constructor(usual: number) {
    this.#bytes = Buffer.allocUnsafe(usual);
  }

  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Begins a field that has fields of its own; what it gives ends it. */
  begin(tag: number): number {
    this.#room(1 + lengthBytes);
    this.#bytes[this.#at] = tag;
    return (this.#at += 1 + lengthBytes);
  }

  /** Ends a field: its length goes in front of it, which may move it. */
  end(from: number): void {
    const length = this.#at - from;
    const moved = varintBytes(length) - lengthBytes;
    if (moved !== 0) {
      this.#room(moved);
      this.#bytes.copyWithin(from + moved, from, this.#at);
    }
    this.#at = from - lengthBytes;
    this.#varint(length);
    this.#at += length;
  }

  /** Less than 128. */
  small(tag: number, value: number): void {
    this.#room(2);
    this.#bytes[this.#at++] = tag;
    this.#bytes[this.#at++] = value;
  }

  text(tag: number, text: string): void {
    const length = utf8Bytes(text);
    this.#room(1 + mostVarintBytes + length);
    this.#bytes[this.#at++] = tag;
    this.#varint(length);
    this.#characters(text, length);
  }

  /** Given as hexadecimal digits. */
  id(tag: number, digits: string): void {
    const length = digits.length / 2;
    this.#room(2 + length);
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = tag;
    bytes[at++] = length;
    for (let i = 0; i < digits.length; i += 2)
      bytes[at++] = (nibble(digits.charCodeAt(i)) << 4) | nibble(digits.charCodeAt(i + 1));
    this.#at = at;
  }

  /** In nanoseconds since 1970. */
  time(tag: number, [seconds, nanos]: HrTime): void {
    // Both halves are whole numbers that a double holds, the product is not.
    const low = Math.imul(seconds, 1e9) >>> 0;
    const high = Math.round((seconds * 1e9 - low) / 2 ** 32);
    const sum = low + nanos;
    this.#room(9);
    this.#bytes[this.#at] = tag;
    this.#bytes.writeUInt32LE(sum >>> 0, this.#at + 1);
    this.#bytes.writeUInt32LE(sum >= 2 ** 32 ? high + 1 : high, this.#at + 5);
    this.#at += 9;
  }

  flags(flags: number): void {
    this.#room(6);
    // Its field is the sixteenth, whose number takes two bytes.
    this.#bytes[this.#at++] = 0x85;
    this.#bytes[this.#at++] = 0x01;
    this.#at = this.#bytes.writeUInt32LE(flags, this.#at);
  }

  attributes(tag: number, attributes: Attributes): void {
    for (const name in attributes) {
      const value = attributes[name];
      const attribute = this.begin(tag);
      this.text(0x0a, name);
      const any = this.begin(0x12);
      if (typeof value === 'string') this.text(0x0a, value);
      else if (typeof value === 'boolean') this.small(0x10, value ? 1 : 0);
      else if (typeof value === 'number') this.#number(value);
      this.end(any);
      this.end(attribute);
    }
  }

  #number(value: number): void {
    this.#room(11);
    if (!Number.isInteger(value) || value < -(2 ** 63) || value >= 2 ** 63) {
      this.#bytes[this.#at++] = 0x21;
      this.#at = this.#bytes.writeDoubleLE(value, this.#at);
      return;
    }
    this.#bytes[this.#at++] = 0x18;
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest >= 0x80n; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.#at++] = Number(rest);
  }

  /** Of a length. */
  #varint(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#at++] = rest;
  }

  #characters(text: string, length: number): void {
    const bytes = this.#bytes;
    const at = this.#at;
    // To call into C++ for a short text takes longer.
    if (length !== text.length) bytes.write(text, at);
    else for (let i = 0; i < length; i++) bytes[at + i] = text.charCodeAt(i);
    this.#at = at + length;
  }

  #room(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe((this.#at + more) * 2);
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }
}

/** What a length takes at most. */
const mostVarintBytes = 5;

function varintBytes(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
}

function utf8Bytes(text: string): number {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return Buffer.byteLength(text);
  return text.length;
}

function nibble(digit: number): number {
  return (digit & 0xf) + (digit >> 6) * 9;
}
