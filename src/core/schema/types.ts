import { isNestedDeeperThan } from '../json/nesting.ts';
import { coreLimits } from '../limits.ts';
import { isObject } from '../protocol/rpc.ts';

/** The types of JSON Schema. A whole number is `integer`; it is a `number` too, which is for the caller to remember. */
export const jsonTypes = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'null'] as const;
export type JsonType = (typeof jsonTypes)[number];

export function kindOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'boolean') return 'boolean';
  return isObject(value) ? 'object' : 'string';
}

export function isJsonType(word: unknown): word is JsonType {
  return jsonTypes.some((type) => type === word);
}

/** The types that `type` allows; undefined when it allows all, or says something JSON Schema does not know. */
export function typesOf(schema: Record<string, unknown>): ReadonlySet<JsonType> | undefined {
  const type = schema['type'];
  const words: unknown[] = Array.isArray(type) ? type : [type];
  return words.length > 0 && words.every(isJsonType) ? new Set(words) : undefined;
}

/**
 * What a text says in JSON, if that is of one of the types. Exact: no white space around scalars, no number that would
 * lose digits.
 */
export function fromText(text: string, types: ReadonlySet<JsonType>): { readonly value: unknown } | undefined {
  if (types.has('boolean') && (text === 'true' || text === 'false')) return { value: text === 'true' };
  if (types.has('null') && text === 'null') return { value: null };
  if (types.has('integer') || types.has('number')) {
    const number = exactNumber(text);
    if (number !== undefined && (types.has('number') || Number.isInteger(number))) return { value: number };
  }
  const start = /^\s*[[{]/.exec(text)?.[0].at(-1);
  if ((start === '[' && types.has('array')) || (start === '{' && types.has('object'))) return parsed(text);
  return undefined;
}

/** How messages show a value of the caller's own. */
export function shown(value: unknown): string {
  if (typeof value === 'string') {
    if (value === '') return 'an empty string';
    return `the string ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`;
  }
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return isObject(value) ? 'an object' : JSON.stringify(value);
}

function exactNumber(text: string): number | undefined {
  if (text.length > 400 || !/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  const number = Number(text);
  if (!Number.isFinite(number)) return undefined;
  // 9007199254740993 would silently become another id.
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) return undefined;
  return number === 0 ? 0 : number;
}

function parsed(text: string): { readonly value: unknown } | undefined {
  // A text within a body has a depth of its own.
  if (isNestedDeeperThan(text, coreLimits.nesting)) return undefined;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    // Not JSON, so not the text of a list or an object.
    return undefined;
  }
}
