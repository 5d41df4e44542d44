import { skipString } from './text.ts';

/**
 * True when objects and arrays of a JSON text are nested deeper than `most`. One pass without recursion, before
 * anything is made of the text: a text that is not JSON may get either answer. One that is too short for such a depth,
 * as nearly all are, is not looked at.
 */
export function isNestedDeeperThan(text: string, most: number): boolean {
  if (text.length <= 2 * most) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = skipString(text, at) - 1;
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > most) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
  }
  return false;
}
