import { elements } from '../../core/json/text.ts';
import { LargeAnswer } from '../../core/protocol/large-answer.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { RpcMessage } from '../../core/protocol/rpc.ts';
import type { LogLevel } from '../../core/logger.ts';
import type { LargeMessage } from './large-message.ts';

/** Takes each message, as `ChannelEvents.message`. */
export interface MessageSink {
  message(message: RpcMessage, text: string, relatedTo?: number): void;
  /** Takes a result that is too large for a text, as `ChannelEvents.large`. */
  large(answer: LargeAnswer): void;
}

/**
 * What `eachMessage` does, for what one large frame carried. A result stays in pieces; whatever else is that large is
 * text after all.
 */
export function eachLargeMessage(frame: LargeMessage, sink: MessageSink, relatedTo?: number): boolean {
  if (!frame.end()) return false;
  const whole = frame.text;
  const [id, result] = [frame.member('id'), frame.member('result')];
  if (!id || !result || frame.member('method') || frame.member('error'))
    return eachMessage(whole.toString(), sink, relatedTo);
  const members = new Map<string, string>();
  for (const key of ['isError', 'resultType', 'ttlMs', 'cacheScope']) {
    const place = frame.resultMember(key);
    if (place) members.set(key, whole.slice(place.start, Math.min(place.end, place.start + shortBytes)).toString());
  }
  const short = whole.slice(id.start, Math.min(id.end, id.start + shortBytes)).toString();
  sink.large(new LargeAnswer({ id: Number(short), whole, result, members }));
  return true;
}

/** No id that was given out is longer, and no other member that is looked at. */
const shortBytes = 64;

/**
 * Parses what one frame carried (a line, an HTTP body, an event) and hands each message on: one object, or an array of
 * them (batches of 2025-03-26, accepted whatever was negotiated). The text handed on has no line breaks: between JSON
 * tokens they mean as much as a blank, and nothing else can hold them. False: there is no JSON-RPC message in it.
 */
export function eachMessage(frame: string, sink: MessageSink, relatedTo?: number): boolean {
  const text = oneLine(frame);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return false;
  }
  if (Array.isArray(parsed)) return eachOfBatch(parsed, text, sink, relatedTo);
  if (!isMessage(parsed)) return false;
  sink.message(parsed, text, relatedTo);
  return true;
}

/** Programs log JSON on stdout too: what has neither a method nor an answer is no message. */
function isMessage(value: unknown): value is RpcMessage {
  if (!isObject(value)) return false;
  if (typeof value['method'] === 'string' || value['jsonrpc'] === '2.0') return true;
  return 'id' in value && ('result' in value || 'error' in value);
}

function eachOfBatch(
  batch: readonly unknown[],
  text: string,
  sink: MessageSink,
  relatedTo: number | undefined,
): boolean {
  const texts = elements(text);
  let any = false;
  for (const [index, message] of batch.entries()) {
    if (!isMessage(message)) continue;
    any = true;
    sink.message(message, texts[index] ?? JSON.stringify(message), relatedTo);
  }
  return any;
}

/** JSON text without line breaks: outside strings they are white space, inside they cannot be. */
export function oneLine(text: string): string {
  return text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]+/g, ' ') : text;
}

/** How a log message of a server (`notifications/message`, its `params`) is written to the hub's log of that server. */
export function logged({ data, level }: Record<string, unknown>): { readonly level: LogLevel; readonly words: string } {
  const words = (typeof data === 'string' ? data : JSON.stringify(data)) ?? '';
  const loud = level === 'error' || level === 'critical' || level === 'alert' || level === 'emergency';
  return { level: loud ? 'error' : level === 'warning' ? 'warn' : 'debug', words };
}
