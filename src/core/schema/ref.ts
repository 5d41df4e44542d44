import { childAt, pointerKey } from '../json/pointer.ts';

/**
 * The part of a schema document that a local `$ref` (`#`, `#/$defs/node`) names; undefined for anything else. Nothing
 * is ever fetched.
 */
export function resolveRef(root: unknown, ref: string): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = keyIn(part);
    if (key === undefined) return undefined;
    at = childAt(at, key);
  }
  return at;
}

/** Undefined when it is badly encoded (RFC 6901 §6). */
function keyIn(part: string): string | undefined {
  try {
    return pointerKey(decodeURIComponent(part));
  } catch {
    return undefined;
  }
}
