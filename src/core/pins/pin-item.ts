import type { Offer } from '../catalogue.ts';
import { type Member, members, membersUpTo, skipString } from '../json/text.ts';
import { isObject } from '../protocol/rpc.ts';

/** What of a server is pinned (CONTRACT §9, Pins). */
export const pinKinds = ['tool', 'prompt', 'resource', 'resourceTemplate', 'instructions'] as const;
export type PinKind = (typeof pinKinds)[number];

/** One thing as a server offers it now. */
export interface Pinnable {
  /** `pinId`: made once, since ten thousand are looked up in several maps. */
  readonly id: string;
  readonly kind: PinKind;
  /** Name, URI or template; of instructions `instructions`. */
  readonly name: string;
  /** JSON text as the server sent it; of instructions a JSON string. */
  readonly text: string;
}

const listOf = { tool: 'tools', prompt: 'prompts', resource: 'resources', resourceTemplate: 'templates' } as const;

/** Everything of an offer that is pinned. */
export function pinnables(offer: Offer): Pinnable[] {
  const items: Pinnable[] = [];
  for (const kind of Object.keys(listOf) as (keyof typeof listOf)[])
    for (const { key: name, text } of offer[listOf[kind]]) items.push({ id: pinId({ kind, name }), kind, name, text });
  const { instructions } = offer.about;
  if (instructions === undefined) return items;
  const named = { kind: 'instructions', name: 'instructions' } as const;
  return [...items, { id: pinId(named), ...named, text: JSON.stringify(instructions) }];
}

/** One text per thing of a server. */
export function pinId({ kind, name }: Pick<Pinnable, 'kind' | 'name'>): string {
  return `${kind}\n${name}`;
}

/**
 * What counts of a thing, in one spelling: members sorted, without titles, icons, and what says when or how large
 * something is. Two with the same text are the same to a model.
 */
export function plainText({ kind, text }: Pick<Pinnable, 'kind' | 'text'>): string {
  const value: unknown = JSON.parse(text);
  return JSON.stringify(sorted(kind === 'instructions' || !isObject(value) ? value : counting(value)));
}

/**
 * Whether two JSON texts of a thing have the same `plainText`, and no name twice with another value. Of ten thousand
 * tools that all changed none is parsed for it: only members whose texts differ are looked at, and of those a text
 * without escapes differs as it stands.
 */
export function isAlike(kind: PinKind, a: string, b: string): boolean {
  if (a === b) return true;
  const first = firstDifference(a, b);
  if (first && !countedInPart.has(first.key) && isPlainString(first.a) && isPlainString(first.b)) return false;
  const [before, now] = [members(a), members(b)];
  if (kind === 'instructions' || before.length === 0 || now.length === 0)
    return plainText({ kind, text: a }) === plainText({ kind, text: b });
  return [...before, ...now].every(({ key }) => isMemberAlike(key, lastText(a, before, key), lastText(b, now, key)));
}

interface Difference {
  readonly key: string;
  /** The value in either text, and where it ends. */
  readonly a: string;
  readonly b: string;
  readonly endA: number;
  readonly endB: number;
}

/** The first member in which two objects differ, where that is a string in both; what is before it is the same. */
function firstDifference(a: string, b: string): Difference | undefined {
  let at = 0;
  // Behind its end a text has NaN, which is not even the same as itself.
  while (a.charCodeAt(at) === b.charCodeAt(at)) at++;
  const last = membersUpTo(a, at).at(-1);
  if (!last || a[last.start] !== '"' || at <= last.start || at >= last.end) return undefined;
  const endB = skipString(b, last.start);
  const { key, start, end: endA } = last;
  return { key, a: a.slice(start, endA), b: b.slice(start, endB), endA, endB };
}

/** Whether two things differ in nothing but one of their names: of two that do, this may be false all the same. */
export function isRenamed(a: Pick<Pinnable, 'kind' | 'text'>, b: Pick<Pinnable, 'kind' | 'text'>): boolean {
  const first = a.kind === b.kind ? firstDifference(a.text, b.text) : undefined;
  return first !== undefined && names.has(first.key) && a.text.slice(first.endA) === b.text.slice(first.endB);
}

/** Of duplicates the last, as `JSON.parse` has it. */
function lastText(text: string, all: readonly Member[], key: string): string | undefined {
  const member = all.findLast((one) => one.key === key);
  return member && text.slice(member.start, member.end);
}

function isMemberAlike(key: string, a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true;
  if (!countedInPart.has(key) && (a === undefined || b === undefined || (isPlainString(a) && isPlainString(b))))
    return false;
  return countedText(key, a) === countedText(key, b);
}

const countedInPart: ReadonlySet<string> = new Set(['title', 'icons', 'size', 'annotations', '_meta']);

/** Two such texts that differ are different strings. */
function isPlainString(text: string): boolean {
  return text.startsWith('"') && !text.includes('\\');
}

function countedText(key: string, text: string | undefined): string {
  return JSON.stringify(text === undefined ? {} : sorted(counting({ [key]: JSON.parse(text) as unknown })));
}

/** Without its name too: two with the same text do the same under other names. */
export function textWithoutName({ kind, text }: Pick<Pinnable, 'kind' | 'text'>): string {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) return JSON.stringify([kind, value]);
  const { name: _, uri: _uri, uriTemplate: _template, ...rest } = counting(value);
  return JSON.stringify([kind, sorted(rest)]);
}

/**
 * A text for each of these things: two have the same where their `textWithoutName` is the same. Parsed are only those
 * with a description that another one has too, which differs in something else.
 */
export function textsWithoutNames(things: readonly Pick<Pinnable, 'kind' | 'text'>[]): string[] {
  const spelt = things.map(({ kind, text }) => {
    const all = members(text);
    const description = all.findLast(({ key }) => key === 'description');
    return {
      about: `${kind}\n${description ? plainOf(text.slice(description.start, description.end)) : ''}`,
      rest:
        all.length === 0 ? text : all.map((one) => (names.has(one.key) ? '' : text.slice(one.from, one.end))).join(),
    };
  });
  const spellings = new Map<string, string | undefined>();
  for (const { about, rest } of spelt)
    if (!spellings.has(about)) spellings.set(about, rest);
    else if (spellings.get(about) !== rest) spellings.set(about, undefined);
  return things.map((one, i) => {
    const { about = '' } = spelt[i] ?? {};
    return spellings.get(about) === undefined ? textWithoutName(one) : about;
  });
}

const names: ReadonlySet<string> = new Set(['name', 'uri', 'uriTemplate']);

/** The same for two JSON texts of one value. */
function plainOf(text: string): string {
  return isPlainString(text) ? text : JSON.stringify(sorted(JSON.parse(text)));
}

/** What a model reads, and what a client acts by. */
function counting(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { title: _title, icons: _icons, size: _size, _meta: meta, annotations, ...rest } = value;
  const ui = isObject(meta) ? meta['ui'] : undefined;
  const {
    title: _annotated,
    lastModified: _modified,
    priority: _priority,
    ...hints
  } = isObject(annotations) ? annotations : {};
  return {
    ...rest,
    ...(Object.keys(hints).length > 0 && { annotations: hints }),
    ...(ui !== undefined && { _meta: { ui } }),
  };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  // No member can take the place of a prototype: `fromEntries` defines its members.
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
