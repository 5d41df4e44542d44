import type { IncomingHttpHeaders } from 'node:http';
import { memberText } from '../core/json/text.ts';
import { type ParamHeader, paramHeaders, paramHeaderValues } from '../core/arguments/headers.ts';
import { isObject, type RpcMessage } from '../core/protocol/rpc.ts';
import { headerText } from '../core/protocol/stateless.ts';
import type { Target, View, ViewList } from '../core/access/view.ts';

/**
 * Says which `Mcp-Param-*` header of a tool call does not repeat its argument (2026-07-28, Streamable HTTP, Server
 * Behavior for Custom Headers); undefined when all do. Headers that the tool's schema does not name are not checked.
 */
export function wrongParamHeader(message: RpcMessage, headers: IncomingHttpHeaders, view: View): string | undefined {
  const params = isObject(message.params) ? message.params : {};
  const { name } = params;
  if (message.method !== 'tools/call' || typeof name !== 'string' || view.smart?.isPinned(name) === false)
    return undefined;
  const target = view.tool(name);
  const named = target && namedIn(view.smart?.tools ?? view.lists.tools).get(target);
  return named?.find((param) => !isRepeated(param, headers[param.header], params['arguments']))?.header;
}

function isRepeated(param: ParamHeader, header: string | string[] | undefined, args: unknown): boolean {
  const [, expected] = paramHeaderValues([param], args);
  if (expected === undefined || header === undefined) return expected === header;
  const [sent, meant] = [headerText(header), headerText(expected)];
  if (sent === undefined || sent === meant) return sent !== undefined;
  // `42.0` and `42` are the same integer.
  return param.type === 'integer' && /^-?\d+(\.0+)?$/.test(sent) && Number(sent) === Number(meant);
}

const known = new WeakMap<ViewList, ReadonlyMap<Target, readonly ParamHeader[]>>();

/** The tools of a list that name headers: looked for once, and hardly any does. */
function namedIn(list: ViewList): ReadonlyMap<Target, readonly ParamHeader[]> {
  const before = known.get(list);
  if (before) return before;
  const found = new Map<Target, readonly ParamHeader[]>();
  for (const [i, text] of list.texts.entries()) {
    const target = list.targets[i];
    if (!target || !text.includes('x-mcp-header')) continue;
    const schema: unknown = JSON.parse(memberText(text, 'inputSchema') ?? 'null');
    const named = paramHeaders(schema);
    if (named.kind === 'headers') found.set(target, named.headers);
  }
  known.set(list, found);
  return found;
}
