/**
 * JSON as a person is shown it before it is sent: laid out, with numbers as they are written (`JSON.parse` would round
 * them, or take `1.0` for `1`), and with characters that are not seen, or that change the order of others, as escapes.
 * What it gives means the same JSON. The text may be cut anywhere.
 */
export function shownJson(text: string): string {
  let depth = 0;
  let shown = '';
  let before = '';
  for (const [token] of text.matchAll(tokens)) {
    const isEnd = token === '}' || token === ']';
    if (isEnd) depth -= 1;
    const isEmpty = isEnd && (before === '{' || before === '[');
    if (!isEmpty && (isEnd || before === '{' || before === '[' || before === ',')) shown += line(depth);
    shown += token.startsWith('"') ? shownString(token) : token === ':' ? ': ' : visible(token);
    if (token === '{' || token === '[') depth += 1;
    before = token;
  }
  return shown;
}

/** The text with every character that is not seen, or changes how others are seen, as an escape of JSON. */
export function visible(text: string): string {
  return text.replace(unseen, (character) =>
    Array.from({ length: character.length }, (_, i) => escaped(character.charCodeAt(i))).join(''),
  );
}

const tokens = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s"{}[\],:]+/gs;

/** Deeper than this, lines are not moved further: what is nested a thousand times would be mostly spaces. */
const deepest = 20;

function line(depth: number): string {
  return `\n${'  '.repeat(Math.max(0, Math.min(depth, deepest)))}`;
}

/** Without escapes of characters that are seen as well without: `\u0064rop` hides what it says. */
function shownString(token: string): string {
  try {
    return visible(JSON.stringify(JSON.parse(token)));
  } catch {
    // It is cut.
    return visible(token);
  }
}

/** Controls, format characters, private and unassigned ones, halves of characters, and blanks that are no space. */
const unseen =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00A0\u1680\u2000-\u200A\u202F\u205F\u2800]/gu;

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
