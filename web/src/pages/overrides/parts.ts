import type { JsonObject } from '../../api/types.ts';
import { isObject } from '../../lib/json.ts';

/** Results beyond this cost a model a good part of its context: then parts are offered. Tokens. */
const largeTokens = 4_000;
/** What is offered as the limit. Tokens. */
export const offered = 4_000;

export function isLarge(tokens: number): boolean {
  return tokens > largeTokens;
}

/** The limit of a tool in the configuration of its server; undefined where it has none of its own. */
export function partsOf(config: JsonObject | undefined, tool: string): number | undefined {
  const all = config?.['tools'];
  const one = isObject(all) && Object.hasOwn(all, tool) ? all[tool] : undefined;
  const most = isObject(one) ? one['maxResultTokens'] : undefined;
  return typeof most === 'number' ? most : undefined;
}

/** What `tools` of the configuration are once the hub has set the limit of one tool; undefined takes it away. */
export function withParts(config: JsonObject, tool: string, most: number | undefined): JsonObject {
  const all = isObject(config['tools']) ? config['tools'] : {};
  const one = Object.hasOwn(all, tool) && isObject(all[tool]) ? all[tool] : {};
  const { maxResultTokens: _old, ...rest } = one;
  return { ...all, [tool]: { ...rest, ...(most !== undefined && { maxResultTokens: most }) } };
}
