import { isObject } from '../../../core/protocol/rpc.ts';
import { upstreamLimits } from '../../limits.ts';
import { fileSchema, isFile, isTexts, plainKeywords, type Schema, withNull } from './keywords.ts';
import { type Document, entriesOf, own, ownText, pointed, resolved } from './pointer.ts';

/** One attempt to convert the schemas of one tool. */
export interface Conversion {
  readonly document: Document;
  readonly version30: boolean;
  /** References known to lead back to themselves, and those that lead nowhere; kept from tool to tool. */
  readonly recursive: Set<string>;
  readonly unresolved: Set<string>;
  /** Whether references are written out where they stand, as far as they can be. */
  readonly inline: boolean;
  /** What the attempt may cost: a node costs 1, and so do 50 characters. */
  readonly allowed: number;
  left: number;
  overflow: boolean;
  /** A reference turned out to lead back to itself: what is being built is void. */
  restart: boolean;
  /** By reference (and whether its files are base64). */
  readonly definitions: Map<string, { name: string; reference: string; files: boolean; schema: Schema | boolean }>;
  /** How often the name of a definition was taken. */
  readonly names: Map<string, number>;
  /** Which definitions a definition refers to for the same value. */
  readonly sameValue: Map<string, Set<string>>;
}

/** Where the conversion of one value stands. */
interface Place {
  readonly depth: number;
  readonly files: boolean;
  /** The references being written out around this place. */
  readonly inside: readonly string[];
  /**
   * The definition this place belongs to, as long as it speaks of the same value: within `allOf` and the like, but not
   * `properties`.
   */
  readonly definition: string | undefined;
}

/** Converts one schema and everything in it. */
export function convert(run: Conversion, source: unknown, place: Place): Schema | boolean {
  if (typeof source === 'boolean') return source;
  if (!isObject(source) || run.restart || run.overflow || place.depth > upstreamLimits.openapiDepth) return {};
  if (typeof source['$ref'] === 'string') return referenced(run, source['$ref'], source, place);
  if (place.files && isFile(run.document, source)) return fileSchema(source);
  const plain = plainKeywords(source);
  if (!paid(run, plain)) return {};
  const schema = { ...plain, ...subschemas(run, source, place), ...required(run, source) };
  return run.version30 && own(source, 'nullable') === true ? withNull(schema) : schema;
}

function paid(run: Conversion, plain: Schema): boolean {
  let chars = 0;
  for (const value of Object.values(plain)) {
    if (typeof value === 'string') chars += value.length;
    else if (typeof value === 'object') chars += JSON.stringify(value).length;
  }
  return spend(run, 1 + chars / 50);
}

function spend(run: Conversion, cost: number): boolean {
  run.left -= cost;
  if (run.left >= 0) return true;
  run.left = 0;
  run.overflow = true;
  return false;
}

function referenced(run: Conversion, first: string, source: Schema, place: Place): Schema | boolean {
  const reference = lastOf(run.document, first);
  // What stands beside a reference has no meaning in 3.0, but descriptions are widely written there.
  const beside = run.version30 ? { description: own(source, 'description') } : source;
  const extra = plainKeywords(beside);
  if (!paid(run, extra)) return {};
  if (reference === undefined) {
    run.unresolved.add(first);
    return extra;
  }
  const key = place.files ? `${reference} files` : reference;
  if (!run.inline || run.recursive.has(key)) return { $ref: definition(run, key, reference, place), ...extra };
  if (place.inside.includes(key)) {
    run.recursive.add(key);
    run.restart = true;
    return {};
  }
  const inner = { ...place, depth: place.depth + 1, inside: [...place.inside, key] };
  const target = convert(run, pointed(run.document, reference), inner);
  return typeof target === 'boolean' ? target : { ...target, ...extra };
}

function definition(run: Conversion, key: string, reference: string, place: Place): string {
  const known = run.definitions.get(key);
  const name = known?.name ?? definitionName(run, reference);
  if (known === undefined) run.definitions.set(key, { name, reference, files: place.files, schema: {} });
  if (place.definition !== undefined) {
    const targets = run.sameValue.get(place.definition) ?? new Set();
    run.sameValue.set(place.definition, targets.add(key));
  }
  return `#/$defs/${name}`;
}

/** Keywords with schemas: those that speak of the same value, and those that speak of what is in it. */
const sameValue = {
  single: ['not', 'if', 'then', 'else'],
  list: ['allOf', 'anyOf', 'oneOf'],
  map: ['dependentSchemas'],
};
const innerValue = {
  single: ['items', 'contains', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties', 'propertyNames'],
  list: ['prefixItems'],
  map: ['properties', 'patternProperties'],
};

function subschemas(run: Conversion, source: Schema, place: Place): Schema {
  const found: Schema = {};
  const deeper = { ...place, depth: place.depth + 1 };
  const inner = { ...deeper, definition: undefined };
  for (const [keywords, at] of [
    [sameValue, deeper],
    [innerValue, inner],
  ] as const) {
    for (const key of keywords.single) {
      const value = own(source, key);
      if (isSchema(value)) found[key] = convert(run, value, at);
    }
    for (const key of keywords.list) {
      const value = own(source, key);
      if (Array.isArray(value) && value.length > 0) found[key] = value.map((one) => convert(run, one, at));
    }
    for (const key of keywords.map) {
      const value = own(source, key);
      if (isObject(value)) found[key] = Object.fromEntries(converted(run, value, at));
    }
  }
  return found;
}

function converted(run: Conversion, schemas: Schema, place: Place): [string, Schema | boolean][] {
  const found: [string, Schema | boolean][] = [];
  for (const [name, schema] of entriesOf(schemas)) {
    if (!spend(run, name.length / 50)) break;
    found.push([name, convert(run, schema, place)]);
  }
  return found;
}

/** A read-only property is the server's to set: OpenAPI asks for it in answers only. */
function required({ document }: Conversion, source: Schema): Schema {
  const names = own(source, 'required');
  if (!isTexts(names)) return {};
  const properties = own(source, 'properties');
  const asked = names.filter((name) => own(resolved(document, own(properties, name)), 'readOnly') !== true);
  return asked.length === 0 ? {} : { required: [...new Set(asked)] };
}

/**
 * Follows a chain of bare references to the last one. Undefined when it leaves the document, ends nowhere or goes
 * round.
 */
function lastOf(document: Document, first: string): string | undefined {
  let reference = first;
  for (let hops = 0; hops < 32; hops++) {
    const target = pointed(document, reference);
    if (!isSchema(target)) return undefined;
    const next = ownText(target, '$ref');
    if (next === undefined) return reference;
    reference = next;
  }
  return undefined;
}

function definitionName({ names }: Conversion, reference: string): string {
  const last = reference
    .slice(reference.lastIndexOf('/') + 1)
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .slice(0, 60);
  const plain = last === '' || last === '__proto__' ? 'schema' : last;
  for (;;) {
    const number = (names.get(plain) ?? 0) + 1;
    names.set(plain, number);
    if (number === 1) return plain;
    const name = `${plain}_${number}`;
    if (names.has(name)) continue;
    names.set(name, 1);
    return name;
  }
}

function isSchema(value: unknown): value is Schema | boolean {
  return isObject(value) || typeof value === 'boolean';
}
