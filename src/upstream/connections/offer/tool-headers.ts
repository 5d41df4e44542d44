import type { Item } from '../../../core/catalogue.ts';
import type { Logger } from '../../../core/logger.ts';
import { type ParamHeader, paramHeaders, paramHeaderValues } from '../../../core/arguments/headers.ts';
import { isObject } from '../../../core/protocol/rpc.ts';

/**
 * Leaves out the tools whose schema names headers wrongly: over HTTP they must not be offered, and the others must not
 * suffer from them (2026-07-28, Streamable HTTP, Schema extension).
 */
export function withSoundHeaders(tools: readonly Item[], log: Logger): Item[] {
  return tools.filter(({ key, text }) => {
    if (!text.includes('x-mcp-header')) return true;
    const found = paramHeaders(schemaOf(text));
    if (found.kind === 'fault')
      log.warn('tool left out: its schema names headers wrongly', { tool: key, why: found.fault });
    return found.kind === 'headers';
  });
}

const known = new WeakMap<readonly Item[], ReadonlyMap<string, readonly ParamHeader[]>>();

/** The headers that repeat arguments of a call of this tool, with their values. */
export function headersOfCall(tools: readonly Item[], tool: string, args: unknown): readonly string[] {
  const headers = toolHeaders(tools).get(tool);
  return headers ? paramHeaderValues(headers, args) : [];
}

/** Which arguments of the tools of a list travel in headers too, by tool; found out once for each list. */
function toolHeaders(tools: readonly Item[]): ReadonlyMap<string, readonly ParamHeader[]> {
  let headers = known.get(tools);
  if (!headers) {
    headers = new Map(tools.flatMap(({ key, text }) => headersOf(key, text)));
    known.set(tools, headers);
  }
  return headers;
}

function headersOf(key: string, text: string): [string, readonly ParamHeader[]][] {
  if (!text.includes('x-mcp-header')) return [];
  const found = paramHeaders(schemaOf(text));
  return found.kind === 'headers' && found.headers.length > 0 ? [[key, found.headers]] : [];
}

function schemaOf(text: string): unknown {
  const tool: unknown = JSON.parse(text);
  return isObject(tool) ? tool['inputSchema'] : undefined;
}
