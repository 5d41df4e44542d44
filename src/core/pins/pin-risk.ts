import { isObject } from '../protocol/rpc.ts';
import type { PinKind } from './pin-item.ts';

export type Risk = 'none' | 'low' | 'high';

export interface RiskReport {
  readonly risk: Risk;
  /** In sentences, the grave ones first. */
  readonly reasons: readonly string[];
}

/**
 * What a change means for a model and for the one who answers for it. `before` is undefined for what is new. Both are
 * JSON texts. It finds what is plainly there; it is no proof that nothing else is.
 */
export function riskOf(kind: PinKind, before: string | undefined, now: string): RiskReport {
  const [old, next] = [before === undefined ? undefined : parsed(before), parsed(now)];
  const high = [...newSigns(old, next), ...(kind === 'tool' ? lostPromises(old, next) : [])];
  const low = old === undefined ? newThing(kind, next) : changes(kind, old, next);
  const reasons = [...new Set([...high, ...low])];
  return { risk: high.length > 0 ? 'high' : low.length > 0 ? 'low' : 'none', reasons };
}

function parsed(text: string): unknown {
  return JSON.parse(text) as unknown;
}

/** Signs of a text that is written for the model against its user, as far as the text before did not have them. */
function newSigns(old: unknown, next: unknown): string[] {
  const [before, now] = [textsIn(old), textsIn(next)];
  return signs.flatMap(({ says, test }) => (now.some(test) && !before.some(test) ? [says] : []));
}

function textsIn(value: unknown, found: string[] = []): string[] {
  if (typeof value === 'string') found.push(value);
  else if (Array.isArray(value)) for (const one of value) textsIn(one, found);
  else if (isObject(value))
    for (const [name, one] of Object.entries(value)) {
      found.push(name);
      textsIn(one, found);
    }
  return found;
}

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);

const signs: readonly { readonly says: string; readonly test: (text: string) => boolean }[] = [
  {
    says: 'It has characters that are not seen, which can hide instructions.',
    test: (text) =>
      matches(/[\u{E0000}-\u{E007F}\u{200B}-\u{200F}\u{202A}-\u{202E}\u{2060}-\u{2069}\u{FEFF}\u{00AD}]/u)(
        withoutEmoji(text),
      ),
  },
  {
    says: 'It mixes letters of several scripts in one word, which can look like another word.',
    test: (text) => (text.match(/[\p{L}\p{M}]+/gu) ?? []).some(mixesScripts),
  },
  {
    says: 'It tells the model to ignore, forget or overrule other instructions.',
    test: matches(
      /\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:previous|prior|earlier|above|other|all|system|safety)\b[^.]{0,30}\b(?:instruction|prompt|rule|message|guideline|polic|tool)/i,
    ),
  },
  {
    says: 'It tells the model to hide something from the user.',
    test: matches(
      /\b(?:do not|don['’]t|never|without)\b[^.]{0,30}\b(?:tell|telling|mention|mentioning|inform|informing|notify|reveal|show|asking)\b[^.]{0,30}\b(?:user|person|human|anyone|anybody)/i,
    ),
  },
  {
    says: 'It has tags that look like instructions of the system.',
    test: matches(
      /<\/?\s*(?:important|system|instructions?|secret|admin|assistant|hidden)\b[^>]{0,40}>|\[\/?(?:INST|SYSTEM)\]|<\|im_(?:start|end)\|>/i,
    ),
  },
  {
    says: 'It sends the model to files that hold secrets.',
    test: matches(
      /~\/\.(?:ssh|aws|config|cursor|claude|npmrc|netrc|kube)\b|\bid_rsa\b|\/etc\/(?:passwd|shadow)\b|\bmcp\.json\b|(?:^|[\s"'`/])\.env\b/i,
    ),
  },
  {
    says: 'It wants the conversation, or the instructions of the model, as an argument.',
    test: matches(
      /\b(?:entire|whole|full|complete|all)\b[^.]{0,20}\b(?:conversation|chat history|system prompt|context window)|\b(?:your|the) system prompt\b/i,
    ),
  },
  {
    says: 'It tells the model to call this tool before, or in place of, others.',
    test: matches(
      /\b(?:always|must|first)\b[^.]{0,40}\b(?:call|use|run|invoke)\b[^.]{0,30}\b(?:before|instead of)\b[^.]{0,30}\b(?:any|other|every|each)\b/i,
    ),
  },
  {
    says: 'It has a long text in Base64.',
    test: matches(/(?:^|[^A-Za-z0-9+/])[A-Za-z0-9+/]{120,}={0,2}(?:$|[^A-Za-z0-9+/=])/),
  },
];

/** Joiners and variation selectors belong to many emoji. */
function withoutEmoji(text: string): string {
  return text.replace(
    /\p{Extended_Pictographic}(?:\u{FE0F}|\u{200D}|\p{Emoji_Modifier}|\p{Extended_Pictographic})*/gu,
    '',
  );
}

function mixesScripts(word: string): boolean {
  const has = (script: RegExp): boolean => script.test(word);
  return (
    has(/\p{Script=Latin}/u) && (has(/\p{Script=Cyrillic}/u) || has(/\p{Script=Greek}/u) || has(/\p{Script=Armenian}/u))
  );
}

/** Annotations by which clients and policies decide, and that a tool no longer has. */
function lostPromises(old: unknown, next: unknown): string[] {
  const hint = (value: unknown, name: string): unknown => memberOf(memberOf(value, 'annotations'), name);
  return [
    ...(hint(old, 'readOnlyHint') === true && hint(next, 'readOnlyHint') !== true
      ? ['It no longer says that it only reads.']
      : []),
    ...(hint(old, 'destructiveHint') === false && hint(next, 'destructiveHint') !== false
      ? ['It no longer says that it destroys nothing.']
      : []),
  ];
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function newThing(kind: PinKind, next: unknown): string[] {
  const reads = memberOf(memberOf(next, 'annotations'), 'readOnlyHint') === true;
  return kind === 'tool' && !reads ? ['It is new, and does not say that it only reads.'] : [];
}

function changes(kind: PinKind, old: unknown, next: unknown): string[] {
  if (kind === 'instructions') return old === next ? [] : ['The instructions for the model have changed.'];
  const differs = (name: string): boolean =>
    JSON.stringify(memberOf(old, name)) !== JSON.stringify(memberOf(next, name));
  const openWorld = (value: unknown): unknown => memberOf(memberOf(value, 'annotations'), 'openWorldHint');
  return [
    ...(differs('description') ? ['The description has changed.'] : []),
    ...(openWorld(old) === false && openWorld(next) !== false
      ? ['It no longer says that it stays within its own world.']
      : []),
    ...(kind === 'tool' ? argumentChanges(memberOf(old, 'inputSchema'), memberOf(next, 'inputSchema')) : []),
    ...(differs('outputSchema') ? ['What it answers has changed.'] : []),
    ...(kind === 'prompt' && differs('arguments') ? ['Its arguments have changed.'] : []),
    ...(differs('_meta') ? ['The page that it shows has changed.'] : []),
  ];
}

/** What of the arguments became wider, or other. */
function argumentChanges(old: unknown, next: unknown): string[] {
  const [before, now] = [propertiesOf(old), propertiesOf(next)];
  const quoted = (names: readonly string[]): string =>
    names
      .slice(0, 10)
      .map((name) => `"${name}"`)
      .join(', ');
  const added = [...now.keys()].filter((name) => !before.has(name));
  const removed = [...before.keys()].filter((name) => !now.has(name));
  const kept = [...now.keys()].filter((name) => before.has(name));
  const wider = kept.filter((name) => isWider(before.get(name), now.get(name)));
  const other = kept.filter(
    (name) => !wider.includes(name) && JSON.stringify(before.get(name)) !== JSON.stringify(now.get(name)),
  );
  const opened = memberOf(old, 'additionalProperties') === false && memberOf(next, 'additionalProperties') !== false;
  return [
    ...(added.length > 0 ? [`It has new arguments: ${quoted(added)}.`] : []),
    ...(wider.length > 0 ? [`It takes more than before in ${quoted(wider)}.`] : []),
    ...(other.length > 0 ? [`Arguments have changed: ${quoted(other)}.`] : []),
    ...(removed.length > 0 ? [`Arguments are gone: ${quoted(removed)}.`] : []),
    ...(opened ? ['It takes arguments of any name now.'] : []),
  ];
}

function propertiesOf(schema: unknown): Map<string, unknown> {
  const properties = memberOf(schema, 'properties');
  return new Map(isObject(properties) ? Object.entries(properties) : []);
}

/** A type, a list of values or a bound that is gone or longer. */
function isWider(old: unknown, next: unknown): boolean {
  if (!isObject(old) || !isObject(next)) return old !== next;
  const listed = (value: Record<string, unknown>, name: string): unknown[] | undefined => {
    const list = value[name];
    return list === undefined ? undefined : Array.isArray(list) ? list : [list];
  };
  const grew = ['type', 'enum', 'const'].some((name) => {
    const [before, now] = [listed(old, name), listed(next, name)];
    return before !== undefined && (now === undefined || now.some((value) => !before.includes(value)));
  });
  const loosened = ['pattern', 'format', 'maxLength', 'maximum', 'minimum', 'maxItems'].some(
    (name) => old[name] !== undefined && next[name] === undefined,
  );
  return grew || loosened;
}
