import type { JsonObject } from '../api/types.ts';
import { isObject } from './json.ts';

/**
 * The members of `next` that are not as in `before`, section by section. What was not edited here is not sent: changes
 * that others have made to it stay.
 */
export function changedMembers(before: JsonObject, next: JsonObject): JsonObject {
  const changed = Object.entries(next).flatMap(([key, value]): [string, unknown][] => {
    const old = before[key];
    if (JSON.stringify(old) === JSON.stringify(value)) return [];
    return [[key, isObject(old) && isObject(value) ? changedMembers(old, value) : value]];
  });
  return Object.fromEntries(changed);
}

type Lists<K extends string> = Readonly<Record<K, readonly string[]>>;

/**
 * Those lists that are not as `before`: as they are `now`, less what was taken out here, and with what was added. What
 * others have changed in them meanwhile stays.
 */
export function changedLists<K extends string>(
  before: Lists<NoInfer<K>>,
  mine: Lists<K>,
  now: Lists<NoInfer<K>>,
): Partial<Lists<K>> {
  const changed: Partial<Record<K, readonly string[]>> = {};
  for (const key in mine) {
    if (!sameNames(before[key], mine[key])) changed[key] = listAsChanged(before[key], mine[key], now[key]);
  }
  return changed;
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each) => other.includes(each));
}

function listAsChanged(before: readonly string[], mine: readonly string[], now: readonly string[]): readonly string[] {
  const kept = now.filter((each) => mine.includes(each) || !before.includes(each));
  return [...kept, ...mine.filter((each) => !before.includes(each) && !now.includes(each))];
}
