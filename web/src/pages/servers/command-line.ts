import { rowOf } from '../../ui/key-values.tsx';
import type { Draft } from './config.ts';

/** What starts servers, as the first word of a command line. */
const programs =
  /^(npx|bunx|pnpx|uvx|uv|pipx|pnpm|yarn|npm|bun|deno|node|tsx|python[\d.]*|docker|podman|java|dotnet|go|cargo|ruby|php|sh|bash|cmd)(\.exe|\.cmd)?$/;

/**
 * The fields for a whole command line, with variables before the program; undefined for what is a program alone. A path
 * may have blanks in it: it is split only where an option follows, or where it is in quotes.
 */
export function fieldsOf(line: string): Pick<Draft, 'command' | 'args' | 'env'> | undefined {
  const text = line.trim().replace(/^\$ /, '');
  const words = wordsOf(text) ?? [];
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const [command = '', ...args] = first === -1 ? [] : words.slice(first);
  if (command === '' || (args.length === 0 && first === 0)) return undefined;
  const isWhole = first > 0 || programs.test(command) || /^["']/.test(text) || args[0]?.startsWith('-') === true;
  if (!isWhole) return undefined;
  const env = words
    .slice(0, first)
    .map((word) => rowOf(word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)));
  return { command, args: args.join('\n'), env };
}

/** The words as a POSIX shell has them, without its variables; undefined where a quote does not end. */
function wordsOf(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (quote !== '') {
      if (char === quote) quote = '';
      else word = `${word ?? ''}${char === '\\' && quote === '"' ? line.charAt(++at) : char}`;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${char === '\\' && /[\s"'\\]/.test(line.charAt(at + 1)) ? line.charAt(++at) : char}`;
  }
  if (quote !== '') return undefined;
  if (word !== undefined) words.push(word);
  return words;
}
