import { elements, members } from './text.ts';

/**
 * The name of a member that an object in this JSON text has twice, anywhere in it; undefined where there is none.
 * Readers differ in which of the two they take, so nothing can be said of such a text. `depth`: what is nested deeper
 * is not looked at.
 */
export function duplicateName(text: string, depth: number): string | undefined {
  const at = text.trimStart();
  if (depth <= 0) return undefined;
  if (at.startsWith('[')) {
    for (const element of elements(text)) {
      const found = duplicateName(element, depth - 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!at.startsWith('{')) return undefined;
  const all = members(text);
  const seen = all.length > 1 ? new Set<string>() : undefined;
  for (const { key, start, end } of all) {
    if (seen?.has(key)) return key;
    seen?.add(key);
    const isNested = text[start] === '{' || text[start] === '[';
    const found = isNested ? duplicateName(text.slice(start, end), depth - 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
