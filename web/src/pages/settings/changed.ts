import type { JsonObject } from '../../api/types.ts';

/** The members of `next` that are not as in `before`, section by section: what nobody has touched is not sent, and stays what somebody else has made of it. */
export function changedMembers(before: JsonObject, next: JsonObject): JsonObject {
  const changed = Object.entries(next).flatMap(([key, value]): [string, unknown][] => {
    const old = before[key];
    if (JSON.stringify(old) === JSON.stringify(value)) return [];
    return [[key, isObject(old) && isObject(value) ? changedMembers(old, value) : value]];
  });
  return Object.fromEntries(changed);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
