import { mask } from '../../core/mask.ts';
import { oneLine } from '../terminal.ts';

/**
 * The lines that a change takes away and puts in. Files of clients hold keys: texts in quotes are hidden but for names
 * of members, plain addresses, and the texts in `known`.
 */
export function shownChange(before: string, after: string, known: ReadonlySet<string>): string[] {
  const [old, next] = [lines(before), lines(after)];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start++;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old.at(-1 - end) === next.at(-1 - end)) end++;
  const shown = (sign: string, from: readonly string[]) =>
    from.slice(start, from.length - end).map((line) => `${sign} ${oneLineKept(hidden(line, known))}`);
  return [`@@ line ${start + 1} @@`, ...shown('-', old), ...shown('+', next)];
}

function lines(text: string): string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function hidden(line: string, known: ReadonlySet<string>): string {
  return line.replace(/("(?:[^"\\]|\\.)*"|'[^']*')(\s*:)?/g, (whole, quoted: string, colon?: string) => {
    const text = quoted.slice(1, -1);
    const isAddress = /^https?:\/\/[^@?#"]*$/.test(text);
    return colon !== undefined || isAddress || known.has(text) ? whole : `${quoted[0] ?? ''}${mask}${quoted[0] ?? ''}`;
  });
}

/** Indentation says where a line belongs. */
function oneLineKept(line: string): string {
  const [indent = ''] = /^[ \t]*/.exec(line) ?? [];
  return `${indent.slice(0, 40)}${oneLine(line, 500)}`;
}
