import { readFileSync } from 'node:fs';
import { invalid } from '../core/input.ts';
import { coreLimits } from '../core/limits.ts';
import type { PasswordPolicy } from '../core/settings/login.ts';
import { shipped } from '../core/shipped.ts';
import { authLimits } from './limits.ts';
import { problemText } from '../core/problems.ts';

/** Why a password is weak: what programs that guess passwords try first. */
export type Weakness = 'short' | 'common' | 'name' | 'product' | 'repeated' | 'sequence';

export interface Judged {
  readonly strength: 'weak' | 'fair' | 'good' | 'strong';
  readonly weakness?: Weakness;
  /** Why the policy refuses it, in words that follow the name of the field; undefined when it may be set. */
  readonly refusal?: string;
}

const least: PasswordPolicy = { minLength: coreLimits.passwordMinChars, refuseCommon: false };

/** Throws HubError `invalid_input` at `path` for a password that the policy refuses. Gives how it is judged. */
export function checkPassword(
  password: string,
  whose: { readonly username: string; readonly policy: PasswordPolicy | undefined },
  sent: { readonly attempt: string; readonly path: string },
): Judged {
  const judged = judgePassword(password, whose.username, whose.policy);
  if (judged.refusal === undefined) return judged;
  throw invalid(sent.attempt, [{ path: sent.path, message: judged.refusal }]);
}

/** Judges a password that is to be set. `username` is whose it will be. */
export function judgePassword(password: string, username: string, policy: PasswordPolicy = least): Judged {
  const weakness = weaknessOf(password, username, policy);
  const refusal = refusalOf(password, weakness, policy);
  return {
    strength: weakness === undefined ? strengthOf(password) : 'weak',
    ...(weakness !== undefined && { weakness }),
    ...(refusal !== undefined && { refusal }),
  };
}

/** Why a password is weak, whether or not the policy refuses it; undefined when nothing is known against it. */
export function weaknessOf(password: string, username: string, { minLength }: PasswordPolicy): Weakness | undefined {
  const text = plain(password);
  const letters = text.replace(/[^\p{L}\p{N}]/gu, '');
  if (isRepeated(text)) return 'repeated';
  if (isNearly(letters, plain(username).replace(/[^\p{L}\p{N}]/gu, ''))) return 'name';
  if (products.some((product) => isNearly(letters, product))) return 'product';
  if (isSequence(letters === '' ? text : letters)) return 'sequence';
  if (isCommon(text)) return 'common';
  return Array.from(password).length < Math.max(minLength, authLimits.passwordShortChars) ? 'short' : undefined;
}

function refusalOf(password: string, weakness: Weakness | undefined, policy: PasswordPolicy): string | undefined {
  if (Array.from(password).length < policy.minLength) return problemText('at_least', { least: `${policy.minLength}` });
  if (!policy.refuseCommon || weakness === undefined || weakness === 'short') return undefined;
  return problemText(`password_${weakness}`);
}

/** Of a password against which nothing is known: how many there are of its length and kind. */
function strengthOf(password: string): Judged['strength'] {
  const kinds: readonly (readonly [RegExp, number])[] = [
    [/\p{Ll}/u, 26],
    [/\p{Lu}/u, 26],
    [/\p{N}/u, 10],
    [/[^\p{L}\p{N}]/u, 33],
    [/\p{Lo}/u, 2_000],
  ];
  const alphabet = kinds.reduce((sum, [kind, size]) => sum + (kind.test(password) ? size : 0), 0);
  // A character that was there before adds little.
  const different = new Set(password).size;
  const bits = (different + (password.length - different) / 2) * Math.log2(Math.max(2, alphabet));
  return bits < 50 ? 'fair' : bits < 75 ? 'good' : 'strong';
}

const products = ['toolhub', 'mcphub', 'mcpserver'];

/** A word with some characters around it, or backwards. */
function isNearly(text: string, word: string): boolean {
  if (word.length < 3) return false;
  const backwards = Array.from(word).toReversed().join('');
  return [word, backwards].some((one) => text.includes(one) && text.length - one.length <= authLimits.passwordAround);
}

/** At most two characters, or a few of them again and again. */
function isRepeated(text: string): boolean {
  return new Set(text).size <= 2 || /^(.{1,4}?)\1{2,}$/u.test(text) || /^(.{3,})\1+$/u.test(text);
}

const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
].flatMap((row) => [row, Array.from(row).toReversed().join('')]);

/** One row, or a row and a few characters. */
function isSequence(text: string): boolean {
  const core = text.length > 4 ? text : '';
  return core !== '' && rows.some((row) => row.includes(core) || isRowAnd(core, row));
}

function isRowAnd(text: string, row: string): boolean {
  for (let length = text.length - 1; length >= Math.max(5, text.length - authLimits.passwordAround); length--)
    if (row.includes(text.slice(0, length)) || row.includes(text.slice(-length))) return true;
  return false;
}

/** In the list as it is, with the usual digits for letters, or with digits and signs around it. */
function isCommon(text: string): boolean {
  const known = commonPasswords();
  const bare = text.replace(/^[^\p{L}]{0,4}|[^\p{L}]{0,4}$/gu, '');
  return [text, letterFor(text), bare, letterFor(bare)].some((one) => known.has(one));
}

const digits: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'l',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

function letterFor(text: string): string {
  return text.replace(/[013457@$!]/g, (sign) => digits[sign] ?? sign);
}

function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

let loaded: ReadonlySet<string> | undefined;

/** Lower case, each of six characters or more. Read when the first password is judged. */
function commonPasswords(): ReadonlySet<string> {
  return (loaded ??= new Set(readFileSync(shipped('models/common-passwords.txt'), 'utf8').split('\n').filter(Boolean)));
}
