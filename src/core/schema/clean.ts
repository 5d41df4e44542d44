import { type Schema, type SchemaDraft, format as formats } from '@cfworker/json-schema';
import { coreLimits } from '../limits.ts';
import { isObject } from '../protocol/rpc.ts';
import { isJsonType } from './types.ts';

/** An untrusted schema, in a form that is safe for the checker. */
export interface CleanSchema {
  /** A copy: known keywords only, each of the right shape, so that the checker may write its marks on it. */
  readonly schema: Schema | boolean;
  readonly draft: SchemaDraft;
  /** The parts of it that refer to others. */
  readonly references: readonly Schema[];
  /** True when checking may take more than schema size times value size: it has to run under guard. */
  readonly costly: boolean;
  /** What was left out because it makes no sense, for people. */
  readonly leftOut: readonly string[];
}

/** Undefined for a schema too large or too deep to be one. Never throws. `withFormats`: `format` says what is valid. */
export function cleanSchema(schema: unknown, withFormats = false): CleanSchema | undefined {
  const work: Work = { withFormats, nodes: 0, tooLarge: false, costly: false, references: [], leftOut: new Set() };
  const copy = clean(schema, 0, work);
  if (work.tooLarge) return undefined;
  const { references, costly, leftOut } = work;
  return { schema: copy, draft: draftOf(schema), references, costly, leftOut: [...leftOut] };
}

interface Work {
  readonly withFormats: boolean;
  nodes: number;
  tooLarge: boolean;
  costly: boolean;
  readonly references: Schema[];
  readonly leftOut: Set<string>;
}

type Keep = (value: unknown, depth: number, work: Work) => unknown;

// `undefined` leaves the keyword out. Keywords that say nothing about validity (`title`, `default`, `format`: see
// decisions/0008) are not here, or left out.
const shapes: readonly (readonly [Keep, readonly string[]])[] = [
  [clean, ['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'additionalItems', 'unevaluatedItems']],
  [clean, ['contains', 'not', 'if', 'then', 'else']],
  [schemaList, ['allOf', 'anyOf', 'oneOf', 'prefixItems']],
  [schemaMap, ['$defs', 'definitions', 'properties', 'dependentSchemas']],
  [(value, depth, work) => schemaList(value, depth, work) ?? clean(value, depth, work), ['items']],
  [patternMap, ['patternProperties']],
  [dependencies, ['dependencies']],
  [(value) => mapOf(value, (member) => texts(member) ?? []), ['dependentRequired']],
  [reference, ['$ref', '$recursiveRef']],
  [(value) => (isReference(value) ? value : undefined), ['$id']],
  [(value) => (typeof value === 'string' ? value : undefined), ['$anchor']],
  [flag, ['$recursiveAnchor']],
  [type, ['type']],
  [(value) => (Array.isArray(value) && value.length > 0 ? value : undefined), ['enum']],
  [(value) => value, ['const']],
  [texts, ['required']],
  [number, ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']],
  [number, ['minContains', 'maxContains']],
  // A boolean in draft 4.
  [(value) => number(value) ?? flag(value), ['exclusiveMinimum', 'exclusiveMaximum']],
  [(value) => (typeof value === 'number' && value > 0 ? value : undefined), ['multipleOf']],
  [uniqueItems, ['uniqueItems']],
  [pattern, ['pattern']],
  [format, ['format']],
];
const keywords = new Map(shapes.flatMap(([keep, names]) => names.map((name) => [name, keep] as const)));

/** What is no schema allows everything, as a missing one does. */
function clean(value: unknown, depth: number, work: Work): Schema | boolean {
  if (typeof value === 'boolean') return value;
  if (!isObject(value)) return true;
  if (depth > coreLimits.schemaDepth || ++work.nodes > coreLimits.schemaNodes) {
    work.tooLarge = true;
    return true;
  }
  const entries = Object.entries(value).flatMap(([key, part]): [string, unknown][] => {
    const kept = keywords.get(key)?.(part, depth + 1, work);
    return kept === undefined ? [] : [[key, kept]];
  });
  const schema: Schema = Object.fromEntries(entries);
  if (schema.$ref !== undefined || schema.$recursiveRef !== undefined) work.references.push(schema);
  return schema;
}

function reference(value: unknown, _depth: number, work: Work): string | undefined {
  work.costly = true;
  return isReference(value) ? value : undefined;
}

function isReference(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value, 'https://schema.invalid');
}

/**
 * A type that JSON Schema does not know (`"any"`, `"str"`) would refuse everything; the author of the schema did not
 * mean that.
 */
function type(value: unknown, _depth: number, work: Work): unknown {
  const words: unknown[] = Array.isArray(value) ? value : [value];
  if (words.length > 0 && words.every(isJsonType)) return value;
  work.leftOut.add(`type ${JSON.stringify(value).slice(0, 40)}`);
  return undefined;
}

function uniqueItems(value: unknown, _depth: number, work: Work): boolean | undefined {
  work.costly ||= value === true;
  return flag(value);
}

function pattern(value: unknown, _depth: number, work: Work): string | undefined {
  if (typeof value !== 'string' || !isPattern(value, work)) return undefined;
  work.costly = true;
  return value;
}

/** `dependencies` was split in two later: names of members, or a schema. */
function dependencies(value: unknown, depth: number, work: Work): unknown {
  return mapOf(value, (member) => texts(member) ?? clean(member, depth + 1, work));
}

/** One that the checker knows. Some are long regular expressions. */
function format(value: unknown, _depth: number, work: Work): string | undefined {
  if (!work.withFormats || typeof value !== 'string' || !Object.hasOwn(formats, value)) return undefined;
  work.costly = true;
  return value;
}

function patternMap(value: unknown, depth: number, work: Work): unknown {
  if (!isObject(value)) return undefined;
  work.costly = true;
  const usable = Object.entries(value).filter(([pattern]) => isPattern(pattern, work));
  return schemaMap(Object.fromEntries(usable), depth, work);
}

/** As the checker will compile it. */
function isPattern(pattern: string, work: Work): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    work.leftOut.add(`pattern ${JSON.stringify(pattern.slice(0, 40))}`);
    return false;
  }
}

function schemaMap(value: unknown, depth: number, work: Work): unknown {
  return mapOf(value, (member) => clean(member, depth + 1, work));
}

function schemaList(value: unknown, depth: number, work: Work): unknown {
  return Array.isArray(value) && value.length > 0 ? value.map((item) => clean(item, depth + 1, work)) : undefined;
}

function mapOf(value: unknown, each: (member: unknown) => unknown): unknown {
  if (!isObject(value)) return undefined;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, each(member)]));
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** MCP speaks 2020-12 where a schema does not say otherwise. */
function draftOf(schema: unknown): SchemaDraft {
  const dialect = isObject(schema) && typeof schema['$schema'] === 'string' ? schema['$schema'] : '';
  if (/draft-0[67]/.test(dialect)) return '7';
  if (dialect.includes('draft-04')) return '4';
  return dialect.includes('2019-09') ? '2019-09' : '2020-12';
}
