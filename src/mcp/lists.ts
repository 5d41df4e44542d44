import type { ItemKind } from '../core/catalogue.ts';
import { HubError } from '../core/errors.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { ViewList } from '../core/access/view.ts';
import type { Hints } from './hints.ts';
import { itemsOf } from './list-bytes.ts';
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
  const head = `{"jsonrpc":"2.0","id":${request.id},"result":{"${member}":[`;
  if (offset === 0 && request.pageSize === 0) {
    const items = itemsOf(list.texts);
    if (typeof items === 'string') request.reply.answer(`${head}${items}]${tail}}}`);
    else request.reply.answerBytes(head, items, `]${tail}}}`);
    return;
  }
  const { length } = list.texts;
  const end = request.pageSize === 0 ? length : Math.min(length, offset + request.pageSize);
  const next = end < length ? `,"nextCursor":"${cursorOf(end)}"` : '';
  request.reply.answer(`${head}${list.texts.slice(offset, end).join(',')}]${next}${tail}}}`);
}

function cursorOf(offset: number): string {
  return Buffer.from(`o${offset}`).toString('base64url');
}

function offsetOf(cursor: unknown, list: Pick<ViewList, 'texts'>): number {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const offset = /^o\d{1,9}$/.test(text) ? Number(text.slice(1)) : Number.NaN;
  if (offset <= list.texts.length) return offset;
  throw new HubError(
    'invalid_input',
    'Invalid cursor: it was not given out for this list. Start again without a cursor.',
  );
}
