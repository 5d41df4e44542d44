import { type Attributes, type AttributeValue, type HrTime, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

// Protobuf as its encoding is described (protobuf.dev): a field is a tag, which is its number and how it is written,
// and then its bytes; those of text or of a message have their length in front.

/** A span, most of whose bytes are there already. */
export interface SentSpan extends ReadableSpan {
  readonly form: { readonly nameBytes: Uint8Array; readonly attributeBytes: Uint8Array };
  /** Its attributes besides those of its form; none has the name of one of those. */
  readonly own: Attributes | undefined;
  readonly tracestate: string | undefined;
}

/**
 * Spans as the body of an OTLP request (`ExportTraceServiceRequest`): the same bytes that the library makes of them,
 * and a test holds both against each other. The library goes through each span twice. Here most of a span is copied: it
 * is the same in all spans of its form. All spans are of one resource and one scope, and have no events and no links.
 */
export function spanBytes(spans: readonly SentSpan[]): Uint8Array {
  const [first] = spans;
  if (!first) return none;
  const { resource, instrumentationScope: scope } = first;
  const about = field(0x0a, attributeFields(0x0a, resource.attributes), Buffer.from([0x10, 0]));
  const named = field(0x0a, textField(0x0a, scope.name), scope.version ? textField(0x12, scope.version) : none);
  // What is in front has their length in it: it is written last, so that they need not be moved.
  const room = about.length + named.length + 2 * mostHeadBytes;
  const bytes = Buffer.allocUnsafe(spans.reduce((sum, span) => sum + mostBytes(span), room));
  let end = room;
  for (const span of spans) end = putSpan(bytes, end, span);
  const ofScope = Buffer.concat([head(0x12, named.length + end - room), named]);
  const front = Buffer.concat([head(0x0a, about.length + ofScope.length + end - room), about, ofScope]);
  front.copy(bytes, room - front.length);
  return bytes.subarray(room - front.length, end);
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
function mostBytes({ form, own, tracestate = '' }: SentSpan): number {
  let most = 128 + form.nameBytes.length + form.attributeBytes.length + tracestate.length;
  for (const name in own) most += 32 + 3 * (name.length + String(own[name]).length);
  return most;
}

/** Each writes at `at`, and gives where it ends. */
function putSpan(into: Buffer, begin: number, span: SentSpan): number {
  const { form, own, parentSpanContext: parent } = span;
  const { traceId, spanId, traceState } = span.spanContext();
  // The length of nearly all takes two bytes.
  const from = begin + 3;
  let at = putId(into, from, 0x0a, traceId);
  at = putId(into, at, 0x12, spanId);
  const state = traceState?.serialize();
  if (state) at = put(into, at, textField(0x1a, state));
  if (parent) at = putId(into, at, 0x22, parent.spanId);
  at = put(into, at, form.nameBytes);
  at = putTime(into, at, 0x39, span.startTime);
  at = putTime(into, at, 0x41, span.endTime);
  at = put(into, at, form.attributeBytes);
  for (const name in own) at = putAttribute(into, at, name, own[name]);
  at = put(into, at, span.status.code === SpanStatusCode.ERROR ? failed : fine);
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

/** In nanoseconds since 1970. */
function putTime(into: Buffer, at: number, tag: number, [seconds, nanos]: HrTime): number {
  // Both halves are whole numbers that a double holds, the product is not.
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
  const [nameLength, length] = [Buffer.byteLength(name), Buffer.byteLength(value)];
  const any = 1 + lengthBytes(length) + length;
  let end = putLength(into, at, 0x4a, 1 + lengthBytes(nameLength) + nameLength + 1 + lengthBytes(any) + any);
  end = putLength(into, end, 0x0a, nameLength);
  end += into.write(name, end);
  end = putLength(into, end, 0x12, any);
  end = putLength(into, end, 0x0a, length);
  return end + into.write(value, end);
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
