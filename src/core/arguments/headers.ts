import { coreLimits } from '../limits.ts';
import { isObject } from '../protocol/rpc.ts';
import { headerValue } from '../protocol/stateless.ts';

/**
 * A parameter of a tool that travels in a header as well (2026-07-28, Streamable HTTP, Custom headers from tool
 * parameters).
 */
export interface ParamHeader {
  /** Lower case: `mcp-param-region`. */
  readonly header: string;
  /** Where its value is in the arguments, key by key. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/** What a tool's schema says of headers; `fault` is why the whole tool must not be offered over HTTP. */
export type ParamHeaders =
  | { readonly kind: 'headers'; readonly headers: readonly ParamHeader[] }
  | { readonly kind: 'fault'; readonly fault: string };

/** Keywords that hold schemas no value is certain to be checked by: a header named below them names nothing. */
const uncertain = (
  'items prefixItems contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames patternProperties ' +
  'dependentSchemas oneOf anyOf allOf not if then else $defs definitions'
).split(' ');

/** Those of them that hold schemas by name. */
const byName = new Set(['patternProperties', 'dependentSchemas', '$defs', 'definitions']);

/** Finds the parameters with `x-mcp-header` in the parsed `inputSchema` of a tool. */
export function paramHeaders(inputSchema: unknown): ParamHeaders {
  const headers: ParamHeader[] = [];
  let nodes = 0;

  /** The first fault in this schema. `path` is undefined where no value is certain to be. */
  function faultIn(schema: unknown, path: readonly string[] | undefined, depth: number): string | undefined {
    if (!isObject(schema)) return undefined;
    if (++nodes > coreLimits.schemaNodes || depth > coreLimits.schemaDepth)
      return 'its schema is too large to be looked through';
    if (Object.hasOwn(schema, 'x-mcp-header')) {
      const found = headerOf(schema, path);
      if (typeof found === 'string') return found;
      if (headers.some(({ header }) => header === found.header)) return `two parameters are called ${found.header}`;
      headers.push(found);
    }
    const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
    for (const [key, child] of properties) {
      const fault = faultIn(child, path && [...path, key], depth + 1);
      if (fault !== undefined) return fault;
    }
    for (const child of uncertain.flatMap((keyword) => schemasIn(schema, keyword))) {
      const fault = faultIn(child, undefined, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  const fault = faultIn(inputSchema, [], 0);
  return fault === undefined ? { kind: 'headers', headers } : { kind: 'fault', fault };
}

/** The headers of one call: names and values in turn, as they go out. What is not there, or null, has none. */
export function paramHeaderValues(headers: readonly ParamHeader[], args: unknown): string[] {
  return headers.flatMap(({ header, path }) => {
    const text = textOf(path.reduce<unknown>((value, key) => ownMember(value, key), args));
    return text === undefined ? [] : [header, headerValue(text)];
  });
}

function headerOf(schema: Record<string, unknown>, path: readonly string[] | undefined): ParamHeader | string {
  const { 'x-mcp-header': name, type } = schema;
  if (path === undefined || path.length === 0) return 'x-mcp-header stands where a value need not be';
  const where = path.join('.');
  if (typeof name !== 'string' || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name))
    return `x-mcp-header of "${where}" is not a name that headers can have`;
  if (type !== 'string' && type !== 'integer' && type !== 'boolean')
    return `x-mcp-header of "${where}" is on what is no string, integer or boolean`;
  return { header: `mcp-param-${name.toLowerCase()}`, path, type };
}

function schemasIn(schema: Record<string, unknown>, keyword: string): readonly unknown[] {
  const value = schema[keyword];
  if (Array.isArray(value)) return value;
  return byName.has(keyword) && isObject(value) ? Object.values(value) : [value];
}

function ownMember(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** A value as header text; undefined for what has none. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}
