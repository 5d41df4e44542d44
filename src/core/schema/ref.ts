import { isObject } from '../protocol/rpc.ts';

/** The part of a schema document that a local `$ref` (`#`, `#/$defs/node`) names; undefined for anything else. Nothing is ever fetched. */
export function resolveRef(root: unknown, ref: string): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = unescape(part);
    if (key === undefined) return undefined;
    if (Array.isArray(at)) at = /^\d+$/.test(key) ? (at[Number(key)] as unknown) : undefined;
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

/** RFC 6901 in a URI fragment. */
function unescape(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
