import { isObject } from '../protocol/rpc.ts';

/** A part of a JSON Pointer as the key it means (RFC 6901 §4); in a URI fragment it has to be decoded first. */
export function pointerKey(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/**
 * What one key of a JSON Pointer leads to: a member of the object's own, or an element by its number; undefined when
 * there is none.
 */
export function childAt(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? (value[Number(key)] as unknown) : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
