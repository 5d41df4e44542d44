import { rowOf, type Row } from '../../ui/key-values.tsx';
import type { Draft } from './config.ts';

/** A value that a new server still lacks. */
export interface Ask {
  /** As it is written in the configuration: `<folder>`, `${NAME}` as its name, or the name of a variable or header. */
  readonly key: string;
  /** Its name, where the key says little. */
  readonly label?: string;
  readonly hint?: string;
  /** The page where a key or token is made. */
  readonly from?: string;
  readonly secret: boolean;
  readonly required: boolean;
}

/** What is in the form of a new server: by hand, pasted, or filled in from the catalogue. */
export interface NewServer {
  readonly name: string;
  readonly draft: Draft;
  /** The values that it lacks, which are asked for beside its name. */
  readonly asks?: readonly Ask[];
  /** How it is started is known: only its name and its values are asked for. */
  readonly isKnown?: true;
}

export type Given = Readonly<Record<string, string>>;

/** Where a README leaves a place for a value, as the hub finds them too (`settings/import/missing-values.ts`). */
const places = /<[A-Za-z][^<>\s][^<>]{0,60}>|\byour[_-]?[\w-]{0,40}(?:key|token|secret|password|id|here)\b/gi;
/** A variable without a default. */
const variables = /\$\{([A-Za-z_]\w*)\}/g;

/** What a configuration leaves open. A variable may be set for the hub, so that no value is required. */
export function asksIn(draft: Draft): readonly Ask[] {
  const { env, headers } = draft;
  const texts = [...textsOf(draft), ...env.map(({ value }) => value), ...headers.map(({ value }) => value)];
  const open = texts.flatMap((text) => [
    ...[...text.matchAll(variables)].map(([, name = '']) => name),
    ...[...text.matchAll(places)].map(([place]) => place),
  ]);
  const empty = [...env, ...headers].flatMap(({ key, value }) => (value === '' && key !== '' ? [key] : []));
  return [...new Set([...open, ...empty])].map((key) => ({ key, secret: true, required: false }));
}

/**
 * The draft with these values in their places, exactly as they were typed. Variables and headers that were left empty
 * are not sent: many programs take an empty one for a value.
 */
export function withGiven(draft: Draft, asks: readonly Ask[], given: Given): Draft {
  const values = new Map(
    asks.flatMap(({ key }) => {
      const value = given[key]?.trim() ?? '';
      return value === '' ? [] : [[key, value.replaceAll('${', () => '${DOLLAR:-$}{')] as const];
    }),
  );
  const fill = (text: string): string =>
    [...values].reduce(
      (filled, [key, value]) =>
        /^\w+$/.test(key) && !isPlace(key)
          ? filled.replaceAll(`\${${key}}`, () => value)
          : filled.replaceAll(key, () => value),
      text,
    );
  const asked = new Set(asks.map(({ key }) => key));
  const rows = (list: readonly Row[]): readonly Row[] =>
    list.flatMap((row) => {
      const value = row.value === '' ? (values.get(row.key) ?? '') : fill(row.value);
      return value === '' && asked.has(row.key) ? [] : [{ ...row, value }];
    });
  const { command, args, url, apiUrl, env, headers } = draft;
  return {
    ...draft,
    command: fill(command),
    args: fill(args),
    url: fill(url),
    apiUrl: fill(apiUrl),
    env: rows(env),
    headers: rows(headers),
  };
}

function isPlace(key: string): boolean {
  return new RegExp(`^(?:${places.source})$`, 'i').test(key);
}

function textsOf({ type, command, args, url, apiUrl }: Draft): readonly string[] {
  return type === 'stdio' ? [command, args] : [url, apiUrl];
}

/** `github` is taken: `github-2`, or the next number that is not. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  const base = name.replace(/-\d+$/, '');
  for (let number = 2; ; number++) if (!taken.has(`${base}-${number}`)) return `${base}-${number}`;
}

/** Rows of names without values. */
export function openRows(values: Readonly<Record<string, string>> = {}): readonly Row[] {
  return Object.entries(values).map(([key, value]) => rowOf(key, value));
}
