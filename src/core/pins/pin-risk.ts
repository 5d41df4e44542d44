import { coreLimits } from '../limits.ts';
import { isObject } from '../protocol/rpc.ts';
import { cut, type NamedRemark, type Remark, remark, type RemarkCode } from '../remarks.ts';
import type { PinKind } from './pin-item.ts';

export type Risk = 'none' | 'low' | 'high';

export interface RiskReport {
  readonly risk: Risk;
  /** In sentences, the grave ones first. */
  readonly reasons: readonly string[];
  /** The same by name, in the same order. */
  readonly said: readonly NamedRemark[];
}

/**
 * What a change means for a model and for the one who answers for it. `before` is undefined for what is new. Both are
 * JSON texts. It finds what is plainly there; it is no proof that nothing else is.
 */
export function riskOf(kind: PinKind, before: string | undefined, now: string): RiskReport {
  const [old, next] = [before === undefined ? undefined : parsed(before), parsed(now)];
  const high = [...newSigns(old, next), ...(kind === 'tool' ? lostPromises(old, next) : [])];
  const low = old === undefined ? newThing(kind, next) : changes(kind, old, next);
  const reasons = [...high, ...low];
  return {
    risk: high.length > 0 ? 'high' : low.length > 0 ? 'low' : 'none',
    reasons: reasons.map(({ text }) => text),
    said: reasons.map(({ said }) => said),
  };
}

function parsed(text: string): unknown {
  return JSON.parse(text) as unknown;
}

/** Signs of a text that is written for the model against its user, as far as the text before did not have them. */
function newSigns(old: unknown, next: unknown): Remark[] {
  const [before, now] = [textsIn(old), textsIn(next)];
  return signs.flatMap(({ says, test }) => (now.some(test) && !before.some(test) ? [remark(says)] : []));
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

const signs: readonly { readonly says: RemarkCode; readonly test: (text: string) => boolean }[] = [
  {
    says: 'pin_unseen',
    test: (text) =>
      matches(/[\u{E0000}-\u{E007F}\u{200B}-\u{200F}\u{202A}-\u{202E}\u{2060}-\u{2069}\u{FEFF}\u{00AD}]/u)(
        withoutEmoji(text),
      ),
  },
  {
    says: 'pin_scripts',
    test: (text) => (text.match(/[\p{L}\p{M}]+/gu) ?? []).some(mixesScripts),
  },
  {
    says: 'pin_overrules',
    test: matches(
      /\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:previous|prior|earlier|above|other|all|system|safety)\b[^.]{0,30}\b(?:instruction|prompt|rule|message|guideline|polic|tool)/i,
    ),
  },
  {
    says: 'pin_hides',
    test: matches(
      /\b(?:do not|don['’]t|never|without)\b[^.]{0,30}\b(?:tell|telling|mention|mentioning|inform|informing|notify|reveal|show|asking)\b[^.]{0,30}\b(?:user|person|human|anyone|anybody)/i,
    ),
  },
  {
    says: 'pin_tags',
    test: matches(
      /<\/?\s*(?:important|system|instructions?|secret|admin|assistant|hidden)\b[^>]{0,40}>|\[\/?(?:INST|SYSTEM)\]|<\|im_(?:start|end)\|>/i,
    ),
  },
  {
    says: 'pin_files',
    test: matches(
      /~\/\.(?:ssh|aws|config|cursor|claude|npmrc|netrc|kube)\b|\bid_rsa\b|\/etc\/(?:passwd|shadow)\b|\bmcp\.json\b|(?:^|[\s"'`/])\.env\b/i,
    ),
  },
  {
    says: 'pin_conversation',
    test: matches(
      /\b(?:entire|whole|full|complete|all)\b[^.]{0,20}\b(?:conversation|chat history|system prompt|context window)|\b(?:your|the) system prompt\b/i,
    ),
  },
  {
    says: 'pin_first',
    test: matches(
      /\b(?:always|must|first)\b[^.]{0,40}\b(?:call|use|run|invoke)\b[^.]{0,30}\b(?:before|instead of)\b[^.]{0,30}\b(?:any|other|every|each)\b/i,
    ),
  },
  {
    says: 'pin_base64',
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
function lostPromises(old: unknown, next: unknown): Remark[] {
  const hint = (value: unknown, name: string): unknown => memberOf(memberOf(value, 'annotations'), name);
  return [
    ...(hint(old, 'readOnlyHint') === true && hint(next, 'readOnlyHint') !== true ? [remark('pin_not_reading')] : []),
    ...(hint(old, 'destructiveHint') === false && hint(next, 'destructiveHint') !== false
      ? [remark('pin_destroying')]
      : []),
  ];
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function newThing(kind: PinKind, next: unknown): Remark[] {
  const reads = memberOf(memberOf(next, 'annotations'), 'readOnlyHint') === true;
  return kind === 'tool' && !reads ? [remark('pin_new')] : [];
}

function changes(kind: PinKind, old: unknown, next: unknown): Remark[] {
  if (kind === 'instructions') return old === next ? [] : [remark('pin_instructions')];
  const differs = (name: string): boolean =>
    JSON.stringify(memberOf(old, name)) !== JSON.stringify(memberOf(next, name));
  const openWorld = (value: unknown): unknown => memberOf(memberOf(value, 'annotations'), 'openWorldHint');
  return [
    ...(differs('description') ? [remark('pin_description')] : []),
    ...(openWorld(old) === false && openWorld(next) !== false ? [remark('pin_world')] : []),
    ...(kind === 'tool' ? argumentChanges(memberOf(old, 'inputSchema'), memberOf(next, 'inputSchema')) : []),
    ...(differs('outputSchema') ? [remark('pin_output')] : []),
    ...(kind === 'prompt' && differs('arguments') ? [remark('pin_prompt_arguments')] : []),
    ...(differs('_meta') ? [remark('pin_page')] : []),
  ];
}

/** The names in quotes, each as long as leaves room for the others: a long one hides none of them. */
function quoted(names: readonly string[]): string {
  const named = names.slice(0, 10);
  // Beside each name its quotes and a comma with a blank, which the dots of what is left out take at the end.
  const most = Math.floor((coreLimits.saidValueChars - 1) / named.length) - 4;
  const rest = names.length > named.length ? ', …' : '';
  return `${named.map((name) => `"${cut(name, most)}"`).join(', ')}${rest}`;
}

/** What of the arguments became wider, or other. */
function argumentChanges(old: unknown, next: unknown): Remark[] {
  const [before, now] = [propertiesOf(old), propertiesOf(next)];
  const added = [...now.keys()].filter((name) => !before.has(name));
  const removed = [...before.keys()].filter((name) => !now.has(name));
  const kept = [...now.keys()].filter((name) => before.has(name));
  const wider = kept.filter((name) => isWider(before.get(name), now.get(name)));
  const other = kept.filter(
    (name) => !wider.includes(name) && JSON.stringify(before.get(name)) !== JSON.stringify(now.get(name)),
  );
  const opened = memberOf(old, 'additionalProperties') === false && memberOf(next, 'additionalProperties') !== false;
  return [
    ...(added.length > 0 ? [remark('pin_arguments_new', { names: quoted(added) })] : []),
    ...(wider.length > 0 ? [remark('pin_arguments_wider', { names: quoted(wider) })] : []),
    ...(other.length > 0 ? [remark('pin_arguments_changed', { names: quoted(other) })] : []),
    ...(removed.length > 0 ? [remark('pin_arguments_gone', { names: quoted(removed) })] : []),
    ...(opened ? [remark('pin_arguments_any')] : []),
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
