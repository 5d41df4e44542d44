import type { JsonObject } from '../api/types.ts';
import { isObject } from '../lib/json.ts';

export interface Rows {
  /** The member that has them; undefined when the value itself is the list. */
  readonly at: string | undefined;
  readonly columns: readonly string[];
  readonly rows: readonly JsonObject[];
}

/** What is looked at of a long list, and the columns that are shown at most. */
const sample = 100;
const mostColumns = 24;

/**
 * The value as a table: a list of objects, or the only list of objects among the members of one. Undefined where there
 * is none, or more than one.
 */
export function rowsIn(value: unknown): Rows | undefined {
  if (isRows(value)) return { at: undefined, columns: columnsOf(value), rows: value };
  if (!isObject(value)) return undefined;
  const [only, ...others] = Object.entries(value).filter(([, member]) => isRows(member));
  if (!only || others.length > 0) return undefined;
  const [at, rows] = only as [string, JsonObject[]];
  return { at, columns: columnsOf(rows), rows };
}

function isRows(value: unknown): value is JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.slice(0, sample).every(isObject);
}

function columnsOf(rows: readonly JsonObject[]): string[] {
  const names = new Set<string>();
  for (const row of rows.slice(0, sample)) for (const name of Object.keys(row)) names.add(name);
  return [...names].slice(0, mostColumns);
}
