/** Never there: it only tells the compiler what a schema describes. */
declare const described: unique symbol;

/** A JSON Schema (2020-12) as it stands in the document of the API; `T` is the type of what it describes. */
export type Schema<T = unknown> = Readonly<Record<string, unknown>> & { readonly [described]?: T };

/** The type of what a schema describes. */
export type Shape<S> = S extends Schema<infer T> ? T : never;

type Members = Readonly<Record<string, Schema>>;
type Shapes<M> = { readonly [Name in keyof M]: Shape<M[Name]> };
/** One type in place of two that are joined, which reads better in messages of the compiler. */
type ObjectOf<R, O> = Shapes<R> & { readonly [Name in keyof O]?: Shape<O[Name]> | undefined } extends infer T
  ? { [Name in keyof T]: T[Name] }
  : never;

/** An object whose members are all there, except those listed as optional. */
export function object<const R extends Members>(required: R): Schema<Shapes<R>>;
export function object<const R extends Members, const O extends Members>(
  required: R,
  optional: O,
): Schema<ObjectOf<R, O>>;
export function object(required: Members, optional?: Members): Schema {
  return { type: 'object', properties: { ...required, ...optional }, required: Object.keys(required) };
}

/** The same with any members beside those named: what a server says of itself is passed on whole. */
export function openObject<const R extends Members, const O extends Members>(
  required: R,
  optional: O,
): Schema<ObjectOf<R, O>> {
  return { ...object(required, optional), additionalProperties: true };
}

/** A component of the document by name. */
export function ref<T = unknown>(name: string): Schema<T> {
  return { $ref: `#/components/schemas/${name}` };
}

export function listOf<T>(items: Schema<T>): Schema<readonly T[]> {
  return { type: 'array', items };
}

export function oneOf<const T extends readonly string[]>(values: T): Schema<T[number]> {
  return { enum: values };
}

/** The same schema with a sentence about it. */
export function saying<T>(description: string, schema: Schema<T>): Schema<T> {
  return { ...schema, description };
}

export function orNull<T>(schema: Schema<T>): Schema<T | null> {
  return { anyOf: [schema, { type: 'null' }] };
}

export const text: Schema<string> = { type: 'string' };
export const texts = listOf(text);
export const number: Schema<number> = { type: 'number' };
export const count: Schema<number> = { type: 'integer', minimum: 0 };
export const flag: Schema<boolean> = { type: 'boolean' };
export const yes: Schema<true> = { const: true };
/** ISO 8601, UTC. */
export const time: Schema<string> = { type: 'string', format: 'date-time' };
export const anyObject: Schema<Readonly<Record<string, unknown>>> = { type: 'object' };
