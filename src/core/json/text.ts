/**
 * Editing JSON as text. What the hub relays is never re-serialised: the members that must change are replaced at their
 * spans and every other byte stays, so 64-bit numbers, number spelling, member order and unknown members arrive as they
 * were sent (CONTRACT §5; decisions/0002). Every function here expects text that `JSON.parse` accepts; parse first.
 */

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;

/** Where a member of an object lies: its value is `text.slice(start, end)`; `from` is where its key begins. */
export interface Member {
  readonly key: string;
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

/** A long text whose members are known, so that it need not be gone through again. */
let known: { readonly text: string; readonly members: readonly Member[] } | undefined;

/** The text begins with its object. Gives the function that forgets it: it must not be kept for long. */
export function rememberMembers(text: string, found: readonly Member[]): () => void {
  const own = { text, members: found };
  known = own;
  return () => {
    if (known === own) known = undefined;
  };
}

/** The members of the object that begins at or after `at`, in order, duplicates included. Not an object: none. */
export function members(text: string, at = 0): readonly Member[] {
  if (known !== undefined && at === 0 && text === known.text) return known.members;
  return membersUpTo(text, text.length, at);
}

/** Those that begin before the index `to`: what comes behind is not gone through. */
export function membersUpTo(text: string, to: number, at = 0): Member[] {
  const found: Member[] = [];
  let i = skipSpace(text, at);
  if (text.charCodeAt(i) !== openBrace) return found;
  i = skipSpace(text, i + 1);
  while (i < to && text.charCodeAt(i) === quote) {
    const from = i;
    const keyEnd = skipString(text, i);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    found.push({ key: keyAt(text, from, keyEnd), from, start, end });
    i = skipSpace(text, end);
    if (text.charCodeAt(i) !== comma) break;
    i = skipSpace(text, i + 1);
  }
  return found;
}

/** The elements of the array that begins at or after `at`, as text. Not an array: none. */
export function elements(text: string, at = 0): string[] {
  const found: string[] = [];
  let i = skipSpace(text, at);
  if (text.charCodeAt(i) !== openBracket) return found;
  i = skipSpace(text, i + 1);
  while (i < text.length && text.charCodeAt(i) !== closeBracket) {
    const end = skipValue(text, i);
    found.push(text.slice(i, end));
    i = skipSpace(text, end);
    if (text.charCodeAt(i) !== comma) break;
    i = skipSpace(text, i + 1);
  }
  return found;
}

/** The value of one member as text; of duplicates the last, as `JSON.parse` has it. */
export function memberText(text: string, key: string, at = 0): string | undefined {
  let last: Member | undefined;
  for (const member of members(text, at)) if (member.key === key) last = member;
  return last && text.slice(last.start, last.end);
}

/** What to do with members of an object: replace the value by this JSON text, or (`null`) take the member out. */
export type Edits = Readonly<Record<string, string | null>>;

/**
 * The object with some members replaced, added or taken out; the rest byte for byte. Every duplicate of an edited
 * member is edited, so that a reader who takes the first and one who takes the last agree. A member that is not there
 * is added in front, unless its edit is `null`. `front`: members that the object has not yet, as text; they come first.
 */
export function editObject(text: string, edits: Edits, front = ''): string {
  const open = skipSpace(text, 0);
  if (text.charCodeAt(open) !== openBrace) return text;
  const edited = Object.keys(edits);
  const seen: string[] = [];
  let body = '';
  let kept = 0;
  for (const { key, from, start, end } of members(text, open)) {
    // Few members are edited: to look for each of a text in an object, or in a set, takes V8 far longer.
    const edit = edited.includes(key) ? edits[key] : undefined;
    if (edit !== undefined) seen.push(key);
    if (edit === null) continue;
    if (kept++ > 0) body += ',';
    body += edit === undefined ? text.slice(from, end) : text.slice(from, start) + edit;
  }
  for (const key of edited) {
    const edit = edits[key];
    if (typeof edit !== 'string' || seen.includes(key)) continue;
    body = `${JSON.stringify(key)}:${edit}${kept++ > 0 ? ',' : ''}${body}`;
  }
  return front === '' || body === '' ? `{${front}${body}}` : `{${front},${body}}`;
}

/** An object with one more member, the first, given as text. What is no object stays as it is. */
export function inFront(object: string, member: string): string {
  const open = skipSpace(object, 0) + 1;
  if (object.charCodeAt(open - 1) !== openBrace) return object;
  const isEmpty = object.charCodeAt(skipSpace(object, open)) === closeBrace;
  return `{${member}${isEmpty ? '' : ','}${object.slice(open)}`;
}

/** The object without white space between its tokens. */
export function compact(text: string): string {
  return text.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+/g, (_, string: string | undefined) => string ?? '');
}

/** Index of the first character at or after `i` that is not JSON white space. */
export function skipSpace(text: string, i: number): number {
  let at = i;
  for (;;) {
    const c = text.charCodeAt(at);
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return at;
    at++;
  }
}

/** Index after the string that begins at `i`. `indexOf` runs natively, which is what makes long strings cheap. */
export function skipString(text: string, i: number): number {
  let end = text.indexOf('"', i + 1);
  while (end !== -1 && text.charCodeAt(end - 1) === backslash && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++;
  return slashes % 2 === 1;
}

/** Index after the value that begins at `i`. Iterative: depth is the sender's to choose. */
function skipValue(text: string, i: number): number {
  const first = text.charCodeAt(i);
  if (first === quote) return skipString(text, i);
  if (first !== openBrace && first !== openBracket) return skipScalar(text, i);
  let depth = 0;
  let at = i;
  while (at < text.length) {
    const c = text.charCodeAt(at);
    if (c === quote) {
      at = skipString(text, at);
      continue;
    }
    at++;
    if (c === openBrace || c === openBracket) depth++;
    else if ((c === closeBrace || c === closeBracket) && --depth === 0) return at;
  }
  return at;
}

function skipScalar(text: string, i: number): number {
  let at = i;
  while (at < text.length) {
    const c = text.charCodeAt(at);
    if (c === comma || c === closeBrace || c === closeBracket || c <= 0x20) break;
    at++;
  }
  return at;
}

/** A key as JSON means it: `"na\u006de"` is `name`. */
export function keyAt(text: string, from: number, end: number): string {
  const raw = text.slice(from + 1, end - 1);
  return raw.includes('\\') ? (JSON.parse(text.slice(from, end)) as string) : raw;
}
