import type { JsonObject } from '../api/types.ts';

/** The members of `after` that differ from those of `before`; `null` for one that it has no more. */
export function editsOf(before: JsonObject, after: JsonObject): JsonObject {
  const text = (value: unknown) => JSON.stringify(value ?? null);
  return Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .filter((member) => text(before[member]) !== text(after[member]))
      .map((member) => [member, after[member] ?? null]),
  );
}
