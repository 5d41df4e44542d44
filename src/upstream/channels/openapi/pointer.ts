import { childAt, pointerKey } from '../../../core/json/pointer.ts';
import { isObject } from '../../../core/protocol/rpc.ts';

/** An OpenAPI document as it was parsed: not trusted in any part. */
export type Document = Readonly<Record<string, unknown>>;

/** A member of an object's own, never one of its prototype's. */
export function own(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** An own member that is a string, else undefined. */
export function ownText(value: unknown, key: string): string | undefined {
  const found = own(value, key);
  return typeof found === 'string' ? found : undefined;
}

/** The own members of an object, in order; of anything else, none. */
export function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

/**
 * What a local reference (`#/components/…`, RFC 6901) points to; undefined when it points nowhere or out of the
 * document. Other documents are never fetched: a document must not choose which addresses the hub sends requests to.
 */
export function pointed(document: Document, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let at: unknown = document;
  for (const part of reference.slice(2).split('/')) {
    at = childAt(at, pointerKey(decoded(part)));
  }
  return at;
}

/**
 * Follows `$ref` from a parameter, body or path item to the object itself. Undefined when the way ends or runs in a
 * circle.
 */
export function resolved(document: Document, value: unknown): Record<string, unknown> | undefined {
  let at = value;
  for (let hops = 0; hops < 32; hops++) {
    const reference = ownText(at, '$ref');
    if (reference === undefined) return isObject(at) ? at : undefined;
    at = pointed(document, reference);
  }
  return undefined;
}

/** Badly encoded it is taken as it stands: documents are written by hand. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
