import { literal } from '../server/variables.ts';
import type { RequiredConfig } from '../server/required-config.ts';
import type { ServerEntry } from '../server/server-entry.ts';

/** Where a README leaves a place for a value: `<YOUR_KEY>`, `YOUR_API_KEY`, `your-token-here`. */
const places = /<[A-Za-z][\w .-]{1,60}>|\byour[_-]?[\w-]{0,40}(?:key|token|secret|password|id|here)\b/gi;
/** A variable without a default. */
const variables = /\$\{([A-Za-z_]\w*)\}/g;
/** Members of an entry that may name values. */
const members = ['command', 'args', 'cwd', 'env', 'url', 'headers'] as const;

/**
 * The values that an imported entry lacks: variables that are not set, places of a README, and environment variables
 * that are empty. The key of each is how it is written, for a variable its name.
 */
export function missingValues(config: ServerEntry, isSet: (variable: string) => boolean): RequiredConfig[] {
  const keys = new Set<string>();
  for (const text of textsOf(config)) {
    for (const [, name = ''] of text.matchAll(variables)) if (!isSet(name)) keys.add(name);
    for (const [place] of text.matchAll(places)) keys.add(place);
  }
  for (const [name, value] of Object.entries(config.env ?? {})) if (value === '') keys.add(name);
  return [...keys].map((key) => ({ key, title: key, type: 'string', description: '', sensitive: true }));
}

/** The entry with these values in their places, exactly as they are; what is not given stays as it is. */
export function withGivenValues(config: ServerEntry, values: ReadonlyMap<string, string>): ServerEntry {
  if (values.size === 0) return config;
  const fill = (text: string): string =>
    text
      .replace(variables, (whole, name: string) => given(values, name) ?? whole)
      .replace(places, (place) => given(values, place) ?? place);
  const filled: Record<string, unknown> = { ...config };
  for (const member of members) if (filled[member] !== undefined) filled[member] = deep(filled[member], fill);
  const env = Object.entries((filled['env'] ?? {}) as Record<string, unknown>);
  if (env.length > 0)
    filled['env'] = Object.fromEntries(
      env.map(([name, value]) => [name, value === '' ? (given(values, name) ?? value) : value]),
    );
  return filled;
}

function given(values: ReadonlyMap<string, string>, key: string): string | undefined {
  const value = values.get(key);
  return value === undefined || value === '' ? undefined : literal(value);
}

function textsOf(config: ServerEntry): string[] {
  const texts: string[] = [];
  for (const member of members)
    deep((config as Record<string, unknown>)[member], (text) => {
      texts.push(text);
      return text;
    });
  return texts;
}

function deep(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => (typeof each === 'string' ? change(each) : each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, typeof each === 'string' ? change(each) : each]),
  );
}
