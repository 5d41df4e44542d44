import type { JsonObject } from '../../api/types.ts';
import { isObject } from '../../lib/json.ts';

/** A JSON Schema as forms need it: what kind of field a value gets. Anything that has no field of its own is JSON. */
export type Kind =
  | 'text'
  | 'long'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'choice'
  | 'list'
  | 'object'
  | 'variants'
  | 'json';

/** The schema that a `$ref` inside the document means; itself when there is none. Circles end at a few steps. */
export function resolved(schema: unknown, root: JsonObject, steps = 8): JsonObject {
  if (!isObject(schema)) return {};
  const reference = schema['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith('#/') || steps === 0) return schema;
  let found: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = keyIn(part);
    found = isObject(found) && key !== undefined ? found[key] : undefined;
  }
  const { $ref: _reference, ...beside } = schema;
  return { ...resolved(found, root, steps - 1), ...beside };
}

/**
 * The member that one part of a reference names; undefined for what is wrongly encoded, which then refers to nothing.
 */
function keyIn(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

export function kindOf(schema: JsonObject): Kind {
  if (Array.isArray(schema['enum']) || 'const' in schema) return 'choice';
  const variants = variantsOf(schema);
  const type = typeOf(schema);
  if (variants.length > 1 && type === undefined) return 'variants';
  switch (type) {
    case 'string':
      return Number(schema['maxLength'] ?? 0) > 200 || isLong(schema) ? 'long' : 'text';
    case 'number':
    case 'integer':
    case 'boolean':
      return type;
    case 'array':
      return isObject(schema['items']) ? 'list' : 'json';
    case 'object':
      return isObject(schema['properties']) ? 'object' : 'json';
    default:
      return 'json';
  }
}

/** Texts that are code, a body or a whole document. */
function isLong({ description, contentMediaType, title }: JsonObject): boolean {
  return (
    contentMediaType !== undefined ||
    /\b(?:markdown|multi-?line|code|body|content)\b/i.test(`${words(title)} ${words(description)}`)
  );
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Its one type; with `null` beside it, the other. */
function typeOf({ type }: JsonObject): string | undefined {
  if (typeof type === 'string') return type;
  if (!Array.isArray(type)) return undefined;
  const others = type.filter((each) => each !== 'null');
  return others.length === 1 && typeof others[0] === 'string' ? others[0] : undefined;
}

/** The alternatives of `anyOf` or `oneOf`, without `null`: leaving the value out says the same. */
export function variantsOf(schema: JsonObject): readonly JsonObject[] {
  const list = schema['anyOf'] ?? schema['oneOf'];
  return Array.isArray(list) ? list.filter((each) => isObject(each) && each['type'] !== 'null') : [];
}

/** With one alternative left, that is the schema. */
export function plain(schema: unknown, root: JsonObject): JsonObject {
  const found = resolved(schema, root);
  const [only, ...others] = variantsOf(found);
  if (!only || others.length > 0 || found['type'] !== undefined) return found;
  const { anyOf: _any, oneOf: _one, ...beside } = found;
  return { ...resolved(only, root), ...beside };
}

/** What stands in the form first: defaults, and constants. */
export function initial(schema: JsonObject, root: JsonObject, depth = 4): unknown {
  if ('default' in schema) return schema['default'];
  if ('const' in schema) return schema['const'];
  if (kindOf(schema) !== 'object' || depth === 0) return undefined;
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const members = Object.entries(properties).flatMap(([key, inner]) => {
    const value = initial(plain(inner, root), root, depth - 1);
    const kept = isObject(value) && Object.keys(value).length === 0 && !required.has(key) ? undefined : value;
    return kept === undefined ? [] : [[key, kept]];
  });
  return Object.fromEntries(members);
}
