import type { Parameter } from '../database/database.ts';

/** Collects conditions and their values, so that no value ever becomes part of the SQL text. */
export interface SqlConditions {
  /** Adds a condition; `?` in it stands for the value. */
  and(condition: string, value: Parameter): void;
  /** The number of a value that belongs to no condition (`limit $3`). */
  value(value: Parameter): string;
  /** `where …`, or nothing. */
  text(): string;
  readonly values: readonly Parameter[];
}

export function createSqlConditions(): SqlConditions {
  const conditions: string[] = [];
  const values: Parameter[] = [];
  const number = (value: Parameter): string => `$${values.push(value)}`;
  return {
    and(condition, value) {
      const name = number(value);
      conditions.push(condition.replaceAll('?', () => name));
    },
    value: number,
    text: () => (conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`),
    values,
  };
}
