import { elements, members } from '../json/text.ts';
import { isObject } from '../protocol/rpc.ts';

/**
 * JSON text of `value`, which was made from `original` by converting some parts of it: what is still the same part is
 * taken from `text`, the JSON that `original` was read from. So a 64-bit number that was not converted keeps all its
 * digits.
 */
export function exactText(value: unknown, original: unknown, text: string): string {
  if (value === original) return text;
  if (Array.isArray(value) && Array.isArray(original)) {
    const texts = elements(text);
    return `[${value.map((element, i) => part(element, original[i], texts[i])).join(',')}]`;
  }
  if (isObject(value) && isObject(original)) {
    // Of duplicates the last counts, as for JSON.parse.
    const texts = new Map(members(text).map(({ key, start, end }) => [key, text.slice(start, end)]));
    const entries = Object.entries(value).map(([key, member]) => {
      const before = Object.hasOwn(original, key) ? original[key] : undefined;
      return `${JSON.stringify(key)}:${part(member, before, texts.get(key))}`;
    });
    return `{${entries.join(',')}}`;
  }
  return JSON.stringify(value);
}

function part(value: unknown, original: unknown, text: string | undefined): string {
  return text === undefined ? JSON.stringify(value) : exactText(value, original, text);
}
