import { isObject } from '../../../core/protocol/rpc.ts';
import { upstreamLimits } from '../../limits.ts';
import { type Document, entriesOf, own, ownText, resolved } from './pointer.ts';

/** A schema of JSON Schema 2020-12 that is an object. */
export type Schema = Record<string, unknown>;

const typeNames = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

/**
 * Keywords whose value is kept when it has this type. Whatever is not listed here or followed as a subschema is left
 * out.
 */
const kept: ReadonlyMap<string, string> = new Map([
  ...['title', 'format', 'pattern', 'contentEncoding', 'contentMediaType'].map((key) => [key, 'string'] as const),
  ...['multipleOf', 'maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'maxLength', 'minLength'].map(
    numeric,
  ),
  ...['maxItems', 'minItems', 'maxContains', 'minContains', 'maxProperties', 'minProperties'].map(numeric),
  ...['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'].map((key) => [key, 'boolean'] as const),
]);

function numeric(key: string): readonly [string, string] {
  return [key, 'number'];
}

/** The keywords of one schema that hold no schemas, as JSON Schema 2020-12 has them. */
export function plainKeywords(source: Schema): Schema {
  const found: Schema = {};
  const types = typesOf(own(source, 'type'));
  if (types.length > 0) found['type'] = types.length === 1 ? types[0] : types;
  for (const key of Object.keys(source)) {
    if (typeof source[key] === kept.get(key)) found[key] = source[key];
  }
  // OpenAPI 3.0: base64 text; the format has no meaning in 2020-12.
  if (found['format'] === 'byte') {
    delete found['format'];
    found['contentEncoding'] = 'base64';
  }
  exclusive(source, found, 'exclusiveMinimum', 'minimum');
  exclusive(source, found, 'exclusiveMaximum', 'maximum');
  const description = descriptionOf(source);
  if (description !== undefined) found['description'] = description;
  for (const key of ['default', 'const']) {
    if (Object.hasOwn(source, key) && isSmall(source[key])) found[key] = source[key];
  }
  const examples = examplesOf(source);
  if (examples.length > 0) found['examples'] = examples;
  enumeration(own(source, 'enum'), found);
  const dependents = entriesOf(own(source, 'dependentRequired')).filter(([, names]) => isTexts(names));
  if (dependents.length > 0) found['dependentRequired'] = Object.fromEntries(dependents);
  return found;
}

/**
 * The values that a schema, parameter or media type gives as examples: `example`, or `examples` as a list or as
 * OpenAPI's map.
 */
export function examplesOf(source: Schema): unknown[] {
  const list = own(source, 'examples');
  const several = Array.isArray(list)
    ? (list as unknown[])
    : entriesOf(list).map(([, example]) => own(example, 'value'));
  const all = Object.hasOwn(source, 'example') ? [source['example'], ...several] : several;
  return all.filter((value) => value !== undefined && isSmall(value)).slice(0, 5);
}

/** The description of anything in a document, cut where it stops being one. */
export function descriptionOf(source: Schema): string | undefined {
  const text = ownText(source, 'description')?.trim();
  return text === undefined || text === '' ? undefined : text.slice(0, upstreamLimits.openapiDescriptionChars);
}

/** OpenAPI 3.0's `nullable`, said as 2020-12 says it. */
export function withNull(schema: Schema): Schema {
  const types = typesOf(schema['type']);
  const { enum: values } = schema;
  const allowed = Array.isArray(values) && !values.includes(null) ? { enum: [...(values as unknown[]), null] } : {};
  if (types.length > 0) return { ...schema, ...allowed, type: [...new Set([...types, 'null'])] };
  if (Object.hasOwn(schema, 'enum')) return { ...schema, ...allowed };
  return Object.keys(schema).every((key) => key === 'description') ? schema : { anyOf: [schema, { type: 'null' }] };
}

/** Whether a value is a list of strings. */
export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function typesOf(type: unknown): string[] {
  const all: unknown[] = Array.isArray(type) ? type : [type];
  return all.filter((name): name is string => typeof name === 'string' && typeNames.has(name));
}

/** OpenAPI 3.0 writes `minimum: 1, exclusiveMinimum: true` for what is now `exclusiveMinimum: 1`. */
function exclusive(source: Schema, found: Schema, key: string, bound: string): void {
  if (own(source, key) !== true || typeof found[bound] !== 'number') return;
  found[key] = found[bound];
  delete found[bound];
}

function enumeration(values: unknown, found: Schema): void {
  if (!Array.isArray(values) || values.length === 0 || !values.every(isSmall)) return;
  if (values.length <= upstreamLimits.openapiEnum) {
    found['enum'] = values;
    return;
  }
  const first = (values as unknown[]).slice(0, 20).map((value) => JSON.stringify(value));
  const note = `One of ${values.length} values: ${first.join(', ')}, …`;
  const { description } = found;
  found['description'] = typeof description === 'string' ? `${description}\n${note}` : note;
}

/** Whether a value can be shown in a schema: short, and not nested without end. */
function isSmall(value: unknown): boolean {
  if (!isObject(value) && !Array.isArray(value))
    return typeof value !== 'string' || value.length <= upstreamLimits.openapiValueChars;
  try {
    return JSON.stringify(value).length <= upstreamLimits.openapiValueChars;
  } catch {
    return false;
  }
}

/**
 * Whether a schema of a multipart form is a file: binary text, or content of another type that no encoding turns into
 * text.
 */
export function isFile(document: Document, source: unknown): boolean {
  const schema = resolved(document, source);
  const type = own(schema, 'type');
  if (schema === undefined || (type !== undefined && type !== 'string')) return false;
  if (ownText(schema, 'format') === 'binary') return true;
  return ownText(schema, 'contentMediaType') !== undefined && ownText(schema, 'contentEncoding') === undefined;
}

/** The schema of a file as an argument: MCPHub's two forms of it. */
export function fileSchema(source: Schema): Schema {
  const how = 'A file: its bytes as base64, or {content, filename, contentType} with the bytes as base64 in content.';
  const base64 = { type: 'string', contentEncoding: 'base64' };
  const described = {
    type: 'object',
    properties: { content: base64, filename: { type: 'string' }, contentType: { type: 'string' } },
    required: ['content'],
  };
  const description = descriptionOf(source);
  return { description: description === undefined ? how : `${description}\n${how}`, anyOf: [base64, described] };
}
