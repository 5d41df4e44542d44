import type { Problem } from '../errors.ts';
import { coreLimits } from '../limits.ts';
import { isObject } from '../protocol/rpc.ts';

/** Arguments that a query string spells out; `problems` are at the parameters' names. */
export interface QueryArguments {
  readonly value: Record<string, unknown>;
  readonly problems: readonly Problem[];
}

type Tree = Map<string, Tree | string[]>;

/**
 * Reads arguments from query parameters (CONTRACT §4, OpenAPI-style): a repeated name is a list, `a.b` is member `b` of
 * object `a` unless the schema itself names an argument `a.b`. Everything is text still; `convertArguments` makes
 * numbers and JSON of it, by the schema.
 */
export function queryArguments(query: URLSearchParams, inputSchema: unknown): QueryArguments {
  const declared = isObject(inputSchema) && isObject(inputSchema['properties']) ? inputSchema['properties'] : {};
  const tree: Tree = new Map();
  const problems: Problem[] = [];
  for (const name of new Set(query.keys())) {
    const keys = Object.hasOwn(declared, name) || /^\.|\.\.|\.$/.test(name) ? [name] : name.split('.');
    const message =
      keys.length > coreLimits.queryDepth ? 'is nested too deeply' : place(tree, keys, query.getAll(name));
    if (message !== undefined) problems.push({ path: name.slice(0, 200), message });
  }
  return { value: objectOf(tree), problems: problems.slice(0, coreLimits.problems) };
}

/** Says what is wrong when there is something else already, or something inside. */
function place(tree: Tree, keys: readonly string[], values: string[]): string | undefined {
  let at = tree;
  for (const key of keys.slice(0, -1)) {
    const next = at.get(key) ?? new Map<string, Tree | string[]>();
    if (Array.isArray(next)) return 'is given both as a whole and in parts';
    at.set(key, next);
    at = next;
  }
  const last = keys.at(-1) ?? '';
  if (at.has(last)) return 'is given both as a whole and in parts';
  at.set(last, values);
  return undefined;
}

/** fromEntries defines members instead of assigning them, so `__proto__` is an ordinary one. */
function objectOf(tree: Tree): Record<string, unknown> {
  return Object.fromEntries(
    [...tree].map(([key, node]) => {
      if (!Array.isArray(node)) return [key, objectOf(node)];
      return [key, node.length === 1 ? node[0] : node];
    }),
  );
}
