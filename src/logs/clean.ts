/* oxlint-disable no-control-regex -- control characters are what this file is about */
import { coreLimits } from '../core/limits.ts';
import { mask } from '../core/mask.ts';
import { logLimits } from './limits.ts';

export interface Cleaner {
  /**
   * The text without secrets, without anything a terminal would obey, on one line, at most `coreLimits.logLineChars`
   * long.
   */
  clean: (text: string) => string;
  /** The first so many characters of the text, without secrets; they end with a mark where there were more. */
  hide: (text: string, chars: number) => string;
  /** Replaces the values to hide. */
  setSecrets: (values: Iterable<string>) => void;
}

/** Makes text from servers and clients fit for a log. Cheap when there is nothing to clean. */
export function createCleaner(secrets: Iterable<string> = []): Cleaner {
  let pattern: RegExp | undefined;
  let longest = 0;

  function setSecrets(values: Iterable<string>): void {
    const texts = spellings(values);
    longest = texts[0]?.length ?? 0;
    pattern = texts.length > 0 ? new RegExp(texts.map(escapeRegExp).join('|'), 'g') : undefined;
  }

  function hideSecrets(text: string): string {
    if (pattern === undefined) return text;
    // Longer text is cut anyway, so most of it need not be searched. A secret cut in two at the end of what is searched
    // would not be recognised, hence that end is dropped.
    const searched = coreLimits.logLineChars * 4 + longest;
    if (text.length <= searched) return text.replace(pattern, mask);
    return text.slice(0, searched).replace(pattern, mask).slice(0, -longest) + '…';
  }

  function hide(text: string, chars: number): string {
    // A secret that begins in what is kept is searched whole.
    const searched = text.slice(0, chars + longest);
    const hidden = pattern === undefined ? searched : searched.replace(pattern, mask);
    return text.length <= chars ? hidden : `${hidden.slice(0, chars - 1)}…`;
  }

  setSecrets(secrets);
  return { clean: (text) => cut(makeHarmless(hideSecrets(text))), hide, setSecrets };
}

/**
 * Every form in which a secret is likely to turn up: as it is, its lines (stderr arrives line by line), the token of an
 * `Authorization` value, inside JSON, inside a URL. Longest first, so that a secret that contains another is hidden
 * whole.
 */
function spellings(values: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const value of values) {
    const scheme = /^[A-Za-z]+ +(\S+)$/.exec(value);
    for (const part of [value, value.trim(), ...value.split(/\r?\n/), scheme?.[1] ?? '']) {
      if (part.length < logLimits.secretChars) continue;
      found.add(part);
      found.add(JSON.stringify(part).slice(1, -1));
      found.add(encodeURIComponent(part.replace(/\p{Surrogate}/gu, '�')));
    }
  }
  return [...found].sort((a, b) => b.length - a.length);
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Colour and cursor sequences (CSI), titles and links (OSC … BEL or ST), and two-character escapes. */
const terminalSequence =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-~]/g;

/** C0 and C1 controls, line separators, and the marks that reverse the direction of text. */
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
const controls = new RegExp(control, 'g');

/** A server's stderr must not be able to clear the operator's screen, fake another log line or hide one. */
function makeHarmless(text: string): string {
  if (!control.test(text)) return text;
  return text
    .replace(terminalSequence, '')
    .trimEnd()
    .replace(/\r\n|[\n\r\u2028\u2029]/g, ' ↵ ')
    .replaceAll('\t', ' ')
    .replace(controls, (char) => (char < ' ' ? String.fromCharCode(0x2400 + char.charCodeAt(0)) : '�'));
}

function cut(text: string): string {
  if (text.length <= coreLimits.logLineChars) return text;
  const end = coreLimits.logLineChars - 1;
  // Not between the two halves of one character.
  const split = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end;
  return `${text.slice(0, split)}…`;
}
