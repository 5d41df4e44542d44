import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { HubError } from '../core/errors.ts';

/** Controls but line breaks and tabs, and the marks that hide text or turn its direction. Joiners belong to letters. */
const unsafe = /[^\P{Cc}\n\t]|[^\P{Cf}\u200c\u200d]|[\u2028\u2029]/gu;

/**
 * Text of a hub, a server or a file, in which a terminal finds nothing to obey: what it would is shown as a sign in its
 * place.
 */
export function disarmed(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (char) => (char < ' ' ? String.fromCharCode(0x2400 + char.charCodeAt(0)) : '\ufffd'));
}

/** The same on one line, cut. */
export function oneLine(text: string, most = 300): string {
  const line = disarmed(text.length > most * 4 ? text.slice(0, most * 4) : text)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

/** A line on stderr, for people; what programs read is on stdout. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Whether a person can be asked. */
export function isTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks on the terminal; `hidden` shows nothing of what is typed. Throws HubError `cancelled` where input ends. */
export async function ask(
  question: string,
  { hidden = false, signal }: { hidden?: boolean; signal?: AbortSignal } = {},
) {
  // readline echoes what is typed to its output.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  if (hidden) process.stderr.write(question);
  const lines = createInterface({ input: process.stdin, output: hidden ? silent : process.stderr, terminal: true });
  const stopped = new AbortController();
  lines.once('close', () => stopped.abort());
  lines.once('SIGINT', () => lines.close());
  try {
    const signals = AbortSignal.any([stopped.signal, ...(signal ? [signal] : [])]);
    return await lines.question(hidden ? '' : question, { signal: signals });
  } catch (error) {
    throw new HubError('cancelled', 'Stopped.', { cause: error });
  } finally {
    if (hidden) process.stderr.write('\n');
    lines.close();
  }
}
