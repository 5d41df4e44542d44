import type { ItemKind } from '../core/catalogue.ts';
import { HubError } from '../core/errors.ts';
import { isObject } from '../core/rpc.ts';
import type { ViewList } from '../core/view.ts';
import type { ClientRequest } from './request.ts';

export const listOf: ReadonlyMap<string, { kind: ItemKind; member: string }> = new Map(
  Object.entries({
    'tools/list': { kind: 'tools', member: 'tools' },
    'prompts/list': { kind: 'prompts', member: 'prompts' },
    'resources/list': { kind: 'resources', member: 'resources' },
    'resources/templates/list': { kind: 'templates', member: 'resourceTemplates' },
  } as const),
);

/** What a shared cache may do with any answer of the hub (2026-07-28, Caching): nothing, since it depends on who asks. */
export const cacheHints = '"ttlMs":0,"cacheScope":"private"';

/** Answers a list request from the view: from bytes that are made once per view, unless pages were asked for. Throws HubError for a bad cursor. */
export function answerList(request: ClientRequest, kind: ItemKind, member: string): void {
  const list = request.view.lists[kind];
  const { cursor } = isObject(request.message.params) ? request.message.params : {};
  const offset = cursor === undefined ? 0 : offsetOf(cursor, list);
  const head = `{"jsonrpc":"2.0","id":${request.id},"result":`;
  if (offset === 0 && request.pageSize === 0) {
    request.reply.answerBytes(head, wholeList(list, member, request.stateless), '}');
    return;
  }
  const end = request.pageSize === 0 ? list.texts.length : Math.min(list.texts.length, offset + request.pageSize);
  const next = end < list.texts.length ? `,"nextCursor":"${cursorOf(end)}"` : '';
  request.reply.answer(`${head}${listText(member, list.texts.slice(offset, end), next, request.stateless)}}`);
}

const bytes = new WeakMap<ViewList, { session?: Buffer; stateless?: Buffer }>();

function wholeList(list: ViewList, member: string, stateless: boolean): Buffer {
  const kept = bytes.get(list) ?? {};
  bytes.set(list, kept);
  const era = stateless ? 'stateless' : 'session';
  return (kept[era] ??= Buffer.from(listText(member, list.texts, '', stateless)));
}

function listText(member: string, texts: readonly string[], next: string, stateless: boolean): string {
  const tail = stateless ? `,"resultType":"complete",${cacheHints}` : '';
  return `{"${member}":[${texts.join(',')}]${next}${tail}}`;
}

function cursorOf(offset: number): string {
  return Buffer.from(`o${offset}`).toString('base64url');
}

function offsetOf(cursor: unknown, list: ViewList): number {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const offset = /^o\d{1,9}$/.test(text) ? Number(text.slice(1)) : Number.NaN;
  if (offset <= list.texts.length) return offset;
  throw new HubError(
    'invalid_input',
    'Invalid cursor: it was not given out for this list. Start again without a cursor.',
  );
}
