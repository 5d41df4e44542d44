import type { ItemKind } from '../core/catalogue.ts';
import { HubError } from '../core/errors.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { ViewList } from '../core/access/view.ts';
import type { Hints } from './hints.ts';
import { abilitiesFor, type ClientRequest } from './request.ts';
import { showsApps } from '../core/protocol/server-requests.ts';

export const listOf: ReadonlyMap<string, { kind: ItemKind; member: string }> = new Map(
  Object.entries({
    'tools/list': { kind: 'tools', member: 'tools' },
    'prompts/list': { kind: 'prompts', member: 'prompts' },
    'resources/list': { kind: 'resources', member: 'resources' },
    'resources/templates/list': { kind: 'templates', member: 'resourceTemplates' },
  } as const),
);

/**
 * Answers a list request from the view: from bytes that are made once per view, unless pages were asked for. Throws
 * HubError for a bad cursor.
 */
export function answerList(request: ClientRequest, kind: ItemKind, member: string, hints: Hints): void {
  const { view, principal, scope, stateless } = request;
  const list = kind === 'tools' && view.forApps && showsApps(abilitiesFor(request)) ? view.forApps : view.lists[kind];
  const { cursor } = isObject(request.message.params) ? request.message.params : {};
  const offset = cursor === undefined ? 0 : offsetOf(cursor, list);
  const tail = stateless ? `,"resultType":"complete",${hints.of(kind, view, principal, scope)}` : '';
  const head = `{"jsonrpc":"2.0","id":${request.id},"result":`;
  if (offset === 0 && request.pageSize === 0) {
    const whole = wholeList(list, member, tail);
    if (typeof whole === 'string') request.reply.answer(`${head}${whole}}`);
    else request.reply.answerBytes(head, whole, '}');
    return;
  }
  const end = request.pageSize === 0 ? list.texts.length : Math.min(list.texts.length, offset + request.pageSize);
  const next = end < list.texts.length ? `,"nextCursor":"${cursorOf(end)}"` : '';
  request.reply.answer(`${head}${listText(member, list.texts.slice(offset, end), next + tail)}}`);
}

type Texts = Pick<ViewList, 'texts'>;

/** Whole lists by what they end with; a list has two or three different ends. */
const wholes = new WeakMap<Texts, Map<string, Buffer | string>>();
/** Up to this length a text is sent in one piece with what is around it, which costs less than bytes sent apart. */
const textChars = 8 * 1024;

function wholeList(list: Texts, member: string, tail: string): Buffer | string {
  const kept = wholes.get(list) ?? new Map<string, Buffer | string>();
  wholes.set(list, kept);
  const known = kept.get(tail);
  if (known !== undefined) return known;
  const chars = list.texts.reduce((sum, text) => sum + text.length, 0);
  const whole = chars <= textChars ? listText(member, list.texts, tail) : listBytes(member, list.texts, tail);
  kept.set(tail, whole);
  return whole;
}

/** Without the text of the whole, which would be garbage as large as the list, or twice that. */
function listBytes(member: string, texts: readonly string[], tail: string): Buffer {
  const head = `{"${member}":[`;
  const end = `]${tail}}`;
  const inside = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  // Not of the pool, where it would keep what is beside it.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(head) + Buffer.byteLength(end) + inside);
  let at = bytes.write(head);
  for (const text of texts) {
    at += bytes.write(text, at);
    at += bytes.write(',', at);
  }
  // In place of the last comma.
  at += bytes.write(end, at - 1);
  return bytes.subarray(0, at - 1);
}

function listText(member: string, texts: readonly string[], tail: string): string {
  return `{"${member}":[${texts.join(',')}]${tail}}`;
}

function cursorOf(offset: number): string {
  return Buffer.from(`o${offset}`).toString('base64url');
}

function offsetOf(cursor: unknown, list: Texts): number {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const offset = /^o\d{1,9}$/.test(text) ? Number(text.slice(1)) : Number.NaN;
  if (offset <= list.texts.length) return offset;
  throw new HubError(
    'invalid_input',
    'Invalid cursor: it was not given out for this list. Start again without a cursor.',
  );
}
