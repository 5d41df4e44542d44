/**
 * The words of a command line, as a POSIX shell splits them; variables stay as they are written. A quote that is never
 * closed ends with the text.
 */
export function splitWords(text: string): string[] {
  return splitLines(text).flat();
}

/**
 * The command lines of a text, each as its words. A backslash (or `^`, or a backtick: Windows) at the end of a line
 * joins it with the next.
 */
export function splitLines(text: string): string[][] {
  const lines: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endLine = () => {
    endWord();
    if (words.length > 0) lines.push(words);
    words = [];
  };

  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    const joins = /^[\\^`][ \t]*\r?\n/.exec(text.slice(i, i + 80));
    if (joins !== null) {
      i += joins[0].length - 1;
      endWord();
    } else if (char === '\n') endLine();
    else if (/\s/.test(char)) endWord();
    else if (char === '#' && word === undefined) i = endOf(text, '\n', i) - 1;
    else if (char === "'") {
      const end = endOf(text, "'", i + 1);
      word = (word ?? '') + text.slice(i + 1, end);
      i = end;
    } else if (char === '"') {
      const { inside, end } = doubleQuoted(text, i + 1);
      word = (word ?? '') + inside;
      i = end;
    } else if (char === '\\' && /[\s"'\\$`&|;<>()*?#]/.test(text[i + 1] ?? '')) word = (word ?? '') + (text[++i] ?? '');
    else word = (word ?? '') + char;
  }
  endLine();
  return lines;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end === -1 ? text.length : end;
}

function doubleQuoted(text: string, from: number): { inside: string; end: number } {
  let inside = '';
  let i = from;
  for (; i < text.length && text[i] !== '"'; i++) {
    const next = text[i + 1] ?? '';
    if (text[i] === '\\' && ['"', '\\', '$', '`'].includes(next)) inside += text[++i] ?? '';
    else inside += text[i] ?? '';
  }
  return { inside, end: i };
}
