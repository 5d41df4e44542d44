import { HubError } from '../../core/errors.ts';
import type { Problem } from '../../core/errors.ts';
import { settingsLimits } from '../limits.ts';
import type { Path } from './report.ts';
import { pathText } from './report.ts';

export interface ParsedText {
  readonly value: unknown;
  /**
   * What `JSON.parse` passes over in silence and would be lost at the next write: double members, numbers that do not
   * fit.
   */
  readonly notes: readonly Problem[];
}

/** Parses JSON that people edit. Throws HubError `invalid_input` with line, column and what to do about it. */
export function parseJsonText(text: string): ParsedText {
  // Windows editors put a byte order mark in front.
  const json = text.startsWith('\ufeff') ? text.slice(1) : text;
  const { fault, notes } = scan(json);
  if (fault === undefined) return { value: JSON.parse(json), notes };
  throw notJson(json, fault.offset, fault.message);
}

/** The refusal of a text: the line and column of `offset` (in UTF-16 units), and what is wrong there. */
export function notJson(text: string, offset: number, message: string): HubError {
  const before = text.slice(0, offset).split('\n');
  const where = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
  const problems = [{ path: where, message }];
  return new HubError('invalid_input', `Not valid JSON at ${where}: ${message}`, { problems });
}

class Fault extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Walks the text by the rules of RFC 8259; `JSON.parse` itself tells neither the line nor, often, the place. */
function scan(text: string): { fault: Fault | undefined; notes: Problem[] } {
  const notes: Problem[] = [];
  let at = 0;

  const fail = (message: string, offset = at): never => {
    throw new Fault(offset, message);
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const space = () => match(/[ \t\r\n]*/y);

  const value = (path: Path): void => {
    space();
    if (path.length > settingsLimits.settingsDepth) fail('nested too deeply');
    const first = text[at];
    if (first === '{') object(path);
    else if (first === '[') array(path);
    else if (first === '"') string();
    else if (match(/(?:true|false|null)(?![\w$])/y) === undefined && !number(path))
      fail(unexpected(text, at, 'a value'));
  };
  const number = (path: Path): boolean => {
    const digits = match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.$])/y);
    if (digits !== undefined && !isKept(digits)) {
      notes.push({ path: pathText(path), message: 'this number is too long to be kept exactly; put it in quotes' });
    }
    return digits !== undefined;
  };
  const string = (): string => {
    const from = at;
    at = stringStop(text, from);
    if (text[at] !== '"') fail(badString(text[at]));
    at++;
    return JSON.parse(text.slice(from, at)) as string;
  };
  const object = (path: Path): void => {
    at++;
    space();
    if (match(/\}/y) !== undefined) return;
    const seen = new Set<string>();
    for (;;) {
      space();
      if (text[at] !== '"') fail(unexpected(text, at, 'a name in double quotes'));
      const key = string();
      if (seen.has(key))
        notes.push({ path: pathText([...path, key]), message: 'is there twice; only the last one counts' });
      seen.add(key);
      space();
      if (match(/:/y) === undefined) fail(unexpected(text, at, '":" after the name'));
      value([...path, key]);
      space();
      if (match(/\}/y) !== undefined) return;
      if (match(/,/y) === undefined) fail(unexpected(text, at, '"," or "}"'));
    }
  };
  const array = (path: Path): void => {
    at++;
    space();
    if (match(/\]/y) !== undefined) return;
    for (let i = 0; ; i++) {
      value([...path, i]);
      space();
      if (match(/\]/y) !== undefined) return;
      if (match(/,/y) === undefined) fail(unexpected(text, at, '"," or "]"'));
    }
  };

  try {
    value([]);
    space();
    if (at < text.length) fail(unexpected(text, at, 'nothing more'));
    return { fault: undefined, notes };
  } catch (error) {
    if (error instanceof Fault) return { fault: error, notes };
    throw error;
  }
}

/**
 * What stands where something else should, with the mistake that usually explains it. Shows one character at most: text
 * may be a secret.
 */
function unexpected(text: string, at: number, expected: string): string {
  const rest = text.slice(at, at + 2);
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if (text.trim() === '') return 'the file is empty; write {} for no settings at all';
  if (rest === '') return `expected ${expected}, but the text ends here: something is not closed`;
  if (rest === '//' || rest === '/*' || char === '#') return 'comments are not allowed in JSON';
  if ((char === '}' || char === ']') && /,\s*$/.test(text.slice(Math.max(0, at - 1_000), at))) {
    return `expected another entry, found "${char}": remove the comma before it`;
  }
  if (/['‘’“”`]/.test(char)) return `expected ${expected}, found ${char}: JSON takes straight double quotes only`;
  if (char === '"' && expected.startsWith('","')) return `expected ${expected}: a comma is missing before this`;
  if (/[^\x20-\x7e]/.test(char)) return `expected ${expected}, found the character U+${hex(char)}: remove it`;
  return `expected ${expected}, found ${JSON.stringify(char)}`;
}

/**
 * Where the string that begins at `from` ends or goes wrong. In pieces: one pattern over a string of megabytes exhausts
 * the stack.
 */
function stringStop(text: string, from: number): number {
  // oxlint-disable-next-line no-control-regex -- JSON forbids control characters in strings
  const piece = /[^"\\\0-\x1f]{1,4096}|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
  let at = from + 1;
  for (;;) {
    piece.lastIndex = at;
    const found = piece.exec(text);
    if (found === null) return at;
    at += found[0].length;
  }
}

function badString(char: string | undefined): string {
  if (char === undefined) return 'a string is not closed: a " is missing';
  if (char === '\\') return 'a backslash in a string is written twice: \\\\';
  if (char === '\n' || char === '\r')
    return 'a string ends in the same line: a " is missing, or write \\n for a line break';
  return `a string cannot contain the character U+${hex(char)}; write \\u${hex(char)}`;
}

function hex(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

/** False for a number that reading and writing would change in value. */
function isKept(digits: string): boolean {
  const number = Number(digits);
  if (!Number.isFinite(number)) return false;
  return /^-?\d+$/.test(digits) ? BigInt(digits) === BigInt(number) && Number.isSafeInteger(number) : true;
}
