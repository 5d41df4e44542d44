/**
 * JSON compared by meaning without losing any of it: numbers by their digits (1.0 is not 1, 64-bit integers stay), keys
 * by their characters (`__proto__` is a key like any other), no member dropped because it occurs twice. Only white
 * space, the way a string is escaped, and the order of members do not count.
 */
export function exact(text: string): string {
  let at = 0;
  const space = /[ \t\r\n]*/y;
  const scalar = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
  const skip = () => {
    space.lastIndex = at;
    at += space.exec(text)?.[0].length ?? 0;
  };
  const expect = (char: string) => {
    skip();
    if (text[at] !== char)
      throw new Error(`Not JSON: expected ${char} at ${at} in ${text.slice(Math.max(0, at - 40), at + 40)}`);
    at++;
  };
  const next = () => {
    skip();
    return text[at];
  };
  const readScalar = () => {
    skip();
    scalar.lastIndex = at;
    const token = scalar.exec(text)?.[0];
    if (token === undefined) throw new Error(`Not JSON at ${at}: ${text.slice(at, at + 40)}`);
    at += token.length;
    return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
  };
  const members = (close: string, one: () => string): string[] => {
    const found: string[] = [];
    at++;
    if (next() !== close) {
      do found.push(one());
      while (next() === ',' && ++at > 0);
    }
    expect(close);
    return found;
  };
  const value = (): string => {
    switch (next()) {
      case '{': {
        const pairs = members('}', () => {
          const key = readScalar();
          expect(':');
          return `${key}:${value()}`;
        });
        return `{${pairs.sort().join(',')}}`;
      }
      case '[':
        return `[${members(']', value).join(',')}]`;
      default:
        return readScalar();
    }
  };
  const result = value();
  skip();
  if (at !== text.length) throw new Error(`Not JSON: more follows at ${at}`);
  return result;
}

/** The exact text of a member of a JSON object, found by path; array positions are numbers. */
export function exactAt(text: string, ...path: (string | number)[]): string {
  let current = exact(text);
  for (const step of path) {
    const found = parts(current).find(([key], index) =>
      typeof step === 'number' ? index === step : key === JSON.stringify(step),
    );
    if (found === undefined) throw new Error(`Nothing at ${path.join('.')} in ${text.slice(0, 300)}`);
    current = found[1];
  }
  return current;
}

/** Members of an already exact text: key text (empty for arrays) and value text. */
function parts(text: string): [string, string][] {
  const found: [string, string][] = [];
  const inArray = text.startsWith('[');
  let depth = 0;
  let start = 1;
  let colon = -1;
  for (let at = 1; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      for (at++; text[at] !== '"'; at++) if (text[at] === '\\') at++;
    } else if (char === '{' || char === '[') depth++;
    else if (depth === 0 && char === ':' && colon < 0) colon = at;
    else if (depth === 0 && (char === ',' || char === '}' || char === ']')) {
      if (at > start)
        found.push(inArray ? ['', text.slice(start, at)] : [text.slice(start, colon), text.slice(colon + 1, at)]);
      start = at + 1;
      colon = -1;
    } else if (char === '}' || char === ']') depth--;
  }
  return found;
}
