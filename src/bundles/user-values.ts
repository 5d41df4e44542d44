import { HubError, type Problem } from '../core/errors.ts';
import type { RequiredConfig } from '../settings/server/required-config.ts';
import type { Manifest, UserConfigOption } from './manifest.ts';

/** The value of one `user_config` key as text; several for `multiple`. */
export type UserValue = string | readonly string[];

export interface UserValues {
  /** What was given, else the default. A key without either is not in it. */
  readonly values: ReadonlyMap<string, UserValue>;
  /** The keys the bundle cannot run without and that have neither. */
  readonly missing: readonly RequiredConfig[];
}

/**
 * Takes the values a user gave for a bundle, as JSON or as text of form fields, and checks them against the manifest.
 * `expand` fills in the variables that defaults may contain (`${HOME}/Documents`); given values are taken as they are,
 * but for a leading `~/` in paths. Throws HubError `invalid_input` that names each bad key as `userConfig.<key>`, never
 * its value.
 */
export function takeUserValues(
  manifest: Manifest,
  given: Readonly<Record<string, unknown>>,
  expand: (text: string) => string,
): UserValues {
  const options = Object.entries(manifest.user_config ?? {});
  const problems: Problem[] = [];
  const values = new Map<string, UserValue>();
  const missing: RequiredConfig[] = [];

  for (const key of Object.keys(given).filter((key) => !options.some(([known]) => known === key))) {
    const known = options.map(([known]) => known).join(', ') || 'none';
    problems.push({ path: `userConfig.${key}`, message: `is not asked for by this bundle. Known: ${known}` });
  }
  for (const [key, option] of options) {
    const own = Object.hasOwn(given, key) ? given[key] : undefined;
    const value = isEmpty(own) ? defaultOf(option, expand) : read(own, option, expand);
    if (value instanceof Error) problems.push({ path: `userConfig.${key}`, message: value.message });
    else if (value !== undefined) values.set(key, value);
    else if (option.required === true) missing.push(describe(key, option));
  }
  if (problems.length > 0) {
    const list = problems.map(({ path, message }) => `${path} ${message}`).join('; ');
    throw new HubError('invalid_input', `Cannot configure bundle "${manifest.name}": ${list}.`, { problems });
  }
  return { values, missing };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function defaultOf({ default: value }: UserConfigOption, expand: (text: string) => string): UserValue | undefined {
  if (isEmpty(value)) return undefined;
  return Array.isArray(value) ? value.map(expand) : expand(String(value));
}

function read(value: unknown, option: UserConfigOption, expand: (text: string) => string): UserValue | Error {
  if (Array.isArray(value)) {
    if (option.multiple !== true) return new Error('must be a single value');
    const items = value.map((item) => readOne(item, option, expand));
    return items.find((item) => item instanceof Error) ?? (items as string[]);
  }
  const one = readOne(value, option, expand);
  return option.multiple === true && typeof one === 'string' ? [one] : one;
}

function readOne(value: unknown, option: UserConfigOption, expand: (text: string) => string): string | Error {
  switch (option.type) {
    case 'number':
      return readNumber(value, option);
    case 'boolean':
      return value === true || value === 'true'
        ? 'true'
        : value === false || value === 'false'
          ? 'false'
          : new Error('must be true or false');
    default:
      if (typeof value !== 'string') return new Error('must be a string');
      if (value.includes('\0')) return new Error('must not contain a NUL character');
      if (option.type === 'string') return value;
      return value === '~' || value.startsWith('~/') ? `${expand('${HOME}')}${value.slice(1)}` : value;
  }
}

function readNumber(value: unknown, { min, max }: UserConfigOption): string | Error {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return new Error('must be a number');
  if (min !== undefined && number < min) return new Error(`must be at least ${min}`);
  if (max !== undefined && number > max) return new Error(`must be at most ${max}`);
  return String(number);
}

function describe(key: string, { title, type, description, sensitive }: UserConfigOption): RequiredConfig {
  return { key, title: title ?? key, type, description: description ?? '', sensitive: sensitive === true };
}
