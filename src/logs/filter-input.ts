import { HubError } from '../core/errors.ts';
import type { Problem } from '../core/errors.ts';
import { logLimits } from './limits.ts';

/** Raw query parameters by name; an absent or empty one means "no such filter". */
export type RawFilter = Readonly<Record<string, string | undefined>>;

/** Reads the parameters of a listing one by one; `done` throws HubError `invalid_input` with every problem found. */
export interface FilterReader {
  text(name: string): string | undefined;
  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined;
  /** In lower case. */
  uuid(name: string): string | undefined;
  /** Values separated by commas. */
  someOf<T extends string>(name: string, allowed: readonly T[]): readonly T[] | undefined;
  integer(name: string, range: { min: number; max: number }): number | undefined;
  /** An ISO date or time; `2026-11-20` means its first moment in UTC, or its last one with `end`. */
  date(name: string, edge?: 'start' | 'end'): Date | undefined;
  done(what: string): void;
}

export function readFilter(raw: RawFilter): FilterReader {
  const problems: Problem[] = [];
  const wrong = (path: string, message: string): undefined => void problems.push({ path, message });
  const given = (name: string): string | undefined => (raw[name] === '' ? undefined : raw[name]);

  const reader: FilterReader = {
    text(name) {
      const value = given(name);
      if (value !== undefined && value.length > logLimits.filterChars) {
        return wrong(name, `is longer than ${logLimits.filterChars} characters`);
      }
      // PostgreSQL's text knows no NUL, so nothing stored contains one.
      return value?.replaceAll('\0', '');
    },
    oneOf(name, allowed) {
      const value = given(name);
      if (value === undefined) return undefined;
      return allowed.find((one) => one === value) ?? wrong(name, `must be one of ${allowed.join(', ')}`);
    },
    uuid(name) {
      const value = given(name)?.toLowerCase();
      if (value === undefined || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) return value;
      return wrong(name, 'must be an id like 0190d1f2-3c4b-4d5e-8f60-718293a4b5c6');
    },
    someOf(name, allowed) {
      const parts = given(name)?.split(',', allowed.length + 1);
      if (parts === undefined) return undefined;
      const found = allowed.filter((one) => parts.includes(one));
      if (found.length === parts.length) return found;
      return wrong(name, `must be one or more of ${allowed.join(', ')}, separated by commas`);
    },
    integer(name, { min, max }) {
      const value = given(name);
      if (value === undefined) return undefined;
      const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      return wrong(name, `must be a whole number from ${min} to ${max}`);
    },
    date(name, edge = 'start') {
      const value = given(name);
      if (value === undefined) return undefined;
      const day = /^\d{4}-\d\d-\d\d$/.test(value);
      const time = /^\d{4}-\d\d-\d\d(T[\d:.]{4,15}(Z|[+-]\d\d:?\d\d)?)?$/.test(value) ? Date.parse(value) : Number.NaN;
      if (Number.isNaN(time)) return wrong(name, 'must be a date or time like 2026-11-20 or 2026-11-20T10:00:00Z');
      return new Date(day && edge === 'end' ? time + 24 * 60 * 60_000 - 1 : time);
    },
    done(what) {
      if (problems.length === 0) return;
      const first = problems.map(({ path, message }) => `${path} ${message}`).join('; ');
      throw new HubError('invalid_input', `Cannot list ${what}: ${first}.`, { problems });
    },
  };
  return reader;
}

/**
 * Lower case for A–Z only: what `lower(… collate "C")` does in every database, so that memory and table find the same.
 */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
