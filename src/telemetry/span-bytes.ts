import { type Attributes, type AttributeValue, createTraceState, SpanStatusCode } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { telemetryLimits } from './limits.ts';
import type { TraceParent } from './trace-parent.ts';

// Protobuf as its encoding is described (protobuf.dev): a field is a tag, which is its number and how it is written,
// and then its bytes; those of text or of a message have their length in front.

/** Of whom all spans of a hub are. */
export interface SpanOrigin {
  readonly resource: Resource;
  readonly instrumentationScope: ReadableSpan['instrumentationScope'];
}

/** A span that has ended. Most of its bytes are there already. */
export interface SentSpan {
  readonly form: { readonly nameBytes: Uint8Array; readonly attributeBytes: Uint8Array };
  /** Attributes besides those of its form; none has the name of one of those. */
  readonly own: Attributes | undefined;
  readonly traceId: string;
  readonly spanId: string;
  readonly tracestate: string | undefined;
  readonly parent: Pick<TraceParent, 'spanId' | 'isRemote'> | undefined;
  /** Both in milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly isFailed: boolean;
}

/**
 * Spans as the body of an OTLP request (`ExportTraceServiceRequest`): the same bytes that the library makes of them,
 * and a test holds both against each other. The library goes through each span twice, when it is sent. Here it is
 * written when it ends, and is garbage before it grows old. Most of a span is copied: it is the same in all spans of
 * its form. All spans are of one resource and one scope, and have no events and no links.
 */
export class SpanBytes {
  readonly #front: Front;
  /** Undefined while there is no span. */
  #bytes: Buffer | undefined;
  #end: number;
  #count = 0;

  /** `front`: `frontOf` the hub. */
  constructor(front: Front) {
    this.#front = front;
    this.#end = front.room;
  }

  get count(): number {
    return this.#count;
  }

  /** False where it is full, and has not taken the span. The first one is always taken. */
  add(span: SentSpan): boolean {
    const most = mostBytes(span);
    this.#bytes ??= Buffer.allocUnsafeSlow(Math.max(telemetryLimits.batchBytes, this.#front.room + most));
    if (this.#end + most > this.#bytes.length) return false;
    this.#end = putSpan(this.#bytes, this.#end, span);
    this.#count++;
    return true;
  }

  /** What is sent. Later spans would overwrite it: there are none. */
  get body(): Uint8Array {
    if (!this.#bytes) return none;
    // What is in front has its length in it, so it is written last.
    const { about, named, room } = this.#front;
    const length = this.#end - room;
    const ofScope = Buffer.concat([head(0x12, named.length + length), named]);
    const front = Buffer.concat([head(0x0a, about.length + ofScope.length + length), about, ofScope]);
    front.copy(this.#bytes, room - front.length);
    return this.#bytes.subarray(room - front.length, this.#end);
  }
}

/** What stands in front of all spans of a hub. */
export interface Front {
  readonly about: Uint8Array;
  readonly named: Uint8Array;
  /** Bytes that it takes at most. */
  readonly room: number;
}

export function frontOf({ resource, instrumentationScope: scope }: SpanOrigin): Front {
  const about = field(0x0a, attributeFields(0x0a, resource.attributes), Buffer.from([0x10, 0]));
  const named = field(0x0a, textField(0x0a, scope.name), scope.version ? textField(0x12, scope.version) : none);
  return { about, named, room: about.length + named.length + 2 * mostHeadBytes };
}

/** Name and kind of a span, which come before its times. */
export function nameBytes(name: string, kind: number): Uint8Array {
  return Buffer.concat([textField(0x2a, name), Buffer.from([0x30, kind + 1])]);
}

/** Attributes of a span, which come after its times. */
export function attributeBytes(attributes: Attributes): Uint8Array {
  return attributeFields(0x4a, attributes);
}

const none = new Uint8Array();
/** Of a tag and a length. */
const mostHeadBytes = 6;
/** What ends a span: that nothing of it was dropped, its status, and the tag of its flags. */
const [fine, failed] = [endOf(SpanStatusCode.UNSET), endOf(SpanStatusCode.ERROR)];
/** Its flags: it is recorded, and it is known whether its parent is of another program. */
const [ownParent, remoteParent] = [0x101, 0x301];

function endOf(status: SpanStatusCode): Uint8Array {
  return Buffer.from([0x50, 0, 0x60, 0, 0x70, 0, 0x7a, 2, 0x18, status, 0x85, 1]);
}

/** At least what it takes. */
function mostBytes({ form, own, tracestate }: SentSpan): number {
  let most = 128 + form.nameBytes.length + form.attributeBytes.length + (tracestate?.length ?? 0);
  for (const name in own) {
    const value = own[name];
    most += 32 + 3 * (name.length + (typeof value === 'string' ? value.length : 0));
  }
  return most;
}

/** Each writes at `at`, and gives where it ends. */
function putSpan(into: Buffer, begin: number, span: SentSpan): number {
  const { form, own, parent, tracestate } = span;
  // The length of nearly all takes two bytes.
  const from = begin + 3;
  let at = putId(into, from, 0x0a, span.traceId);
  at = putId(into, at, 0x12, span.spanId);
  const state = tracestate === undefined ? '' : createTraceState(tracestate).serialize();
  if (state) at = put(into, at, textField(0x1a, state));
  if (parent) at = putId(into, at, 0x22, parent.spanId);
  at = put(into, at, form.nameBytes);
  at = putTime(into, at, 0x39, span.startMs);
  at = putTime(into, at, 0x41, span.endMs);
  at = put(into, at, form.attributeBytes);
  for (const name in own) at = putAttribute(into, at, name, own[name]);
  at = put(into, at, span.isFailed ? failed : fine);
  at = into.writeUInt32LE(parent?.isRemote ? remoteParent : ownParent, at);
  const length = at - from;
  const start = begin + 1 + lengthBytes(length);
  if (start !== from) into.copyWithin(start, from, at);
  putLength(into, begin, 0x12, length);
  return start + length;
}

function put(into: Buffer, at: number, bytes: Uint8Array): number {
  into.set(bytes, at);
  return at + bytes.length;
}

/** Given as hexadecimal digits. */
function putId(into: Buffer, at: number, tag: number, digits: string): number {
  into[at] = tag;
  into[at + 1] = digits.length / 2;
  let end = at + 2;
  // To call into C++ for so few digits takes longer.
  for (let i = 0; i < digits.length; i += 2)
    into[end++] = (digitOf(digits.charCodeAt(i)) << 4) | digitOf(digits.charCodeAt(i + 1));
  return end;
}

function digitOf(code: number): number {
  return (code & 0xf) + (code >> 6) * 9;
}

/** Given in milliseconds since 1970, written in nanoseconds. */
function putTime(into: Buffer, at: number, tag: number, ms: number): number {
  const seconds = Math.floor(ms / 1_000);
  // Past 1e9 only by rounding.
  const nanos = Math.min(Math.round((ms - seconds * 1_000) * 1e6), 999_999_999);
  const low = Math.imul(seconds, 1e9) >>> 0;
  const high = Math.round((seconds * 1e9 - low) / 2 ** 32);
  const sum = low + nanos;
  into[at] = tag;
  into.writeUInt32LE(sum >>> 0, at + 1);
  return into.writeUInt32LE(sum >= 2 ** 32 ? high + 1 : high, at + 5);
}

/** Without the buffers that `attributeFields` makes: of many spans some are their own. */
function putAttribute(into: Buffer, at: number, name: string, value: AttributeValue | undefined): number {
  if (typeof value !== 'string') return put(into, at, attributeFields(0x4a, { [name]: value }));
  const [nameLength, length] = [name.length, value.length];
  const any = 1 + lengthBytes(length) + length;
  let end = putLength(into, at, 0x4a, 1 + lengthBytes(nameLength) + nameLength + 1 + lengthBytes(any) + any);
  end = putLength(into, end, 0x0a, nameLength);
  const isAscii = putAscii(into, end, name);
  end = putLength(into, end + nameLength, 0x12, any);
  end = putLength(into, end, 0x0a, length);
  // Others have more bytes than characters.
  if (!putAscii(into, end, value) || !isAscii) return put(into, at, attributeFields(0x4a, { [name]: value }));
  return end + length;
}

/** False where there are other characters in it. To call into C++ takes longer. */
function putAscii(into: Uint8Array, at: number, text: string): boolean {
  let all = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    into[at + i] = code;
    all |= code;
  }
  return all < 0x80;
}

function putLength(into: Uint8Array, at: number, tag: number, length: number): number {
  let end = at;
  into[end++] = tag;
  let rest = length;
  for (; rest >= 0x80; rest >>>= 7) into[end++] = (rest & 0x7f) | 0x80;
  into[end++] = rest;
  return end;
}

function lengthBytes(length: number): number {
  return length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x200000 ? 3 : length < 0x10000000 ? 4 : 5;
}

function field(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([
    head(
      tag,
      parts.reduce((sum, part) => sum + part.length, 0),
    ),
    ...parts,
  ]);
}

function head(tag: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(1 + lengthBytes(length));
  putLength(bytes, 0, tag, length);
  return bytes;
}

function textField(tag: number, text: string): Uint8Array {
  return field(tag, Buffer.from(text));
}

function attributeFields(tag: number, attributes: Attributes): Uint8Array {
  const fields = Object.entries(attributes).map(([name, value]) =>
    field(tag, textField(0x0a, name), field(0x12, valueBytes(value))),
  );
  return Buffer.concat(fields);
}

/** Of a text, a truth value or a number; spans of the hub have no others. */
function valueBytes(value: AttributeValue | undefined): Uint8Array {
  if (typeof value === 'string') return textField(0x0a, value);
  if (typeof value === 'boolean') return Buffer.from([0x10, value ? 1 : 0]);
  if (typeof value !== 'number') return none;
  if (Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63)
    return Buffer.from([0x18, ...varint(BigInt.asUintN(64, BigInt(value)))]);
  const bytes = Buffer.alloc(9, 0x21);
  bytes.writeDoubleLE(value, 1);
  return bytes;
}

function varint(value: bigint): number[] {
  return value < 0x80n ? [Number(value)] : [Number(value & 0x7fn) | 0x80, ...varint(value >> 7n)];
}
