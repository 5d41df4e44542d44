import stripJsonComments from 'strip-json-comments';
import { errorText } from '../../core/errors.ts';
import { isNestedDeeperThan } from '../../core/json/nesting.ts';
import { coreLimits } from '../../core/limits.ts';

/**
 * JSON as people paste it: comments, trailing commas, and members without the braces around them (`"github": {…}`, cut
 * out of a larger file). `error` says what is wrong and where.
 */
export function parseLoose(text: string): { value?: unknown; error?: string } {
  const strict = stripJsonComments(text, { trailingCommas: true });
  if (isNestedDeeperThan(strict, coreLimits.nesting))
    return { error: `it is nested more than ${coreLimits.nesting} levels deep` };
  try {
    return { value: JSON.parse(strict) };
  } catch (error) {
    if (/^\s*"/.test(strict)) {
      try {
        return { value: JSON.parse(stripJsonComments(`{${text}\n}`, { trailingCommas: true })) };
      } catch {
        // The first message is about the text as it was pasted.
      }
    }
    return { error: withPlace(errorText(error), strict) };
  }
}

/**
 * The message with the place as people count it, and without the piece of the text that it may quote: that may be a
 * secret.
 */
function withPlace(message: string, text: string): string {
  const at = faultAt(text);
  if (at === undefined) return 'it ends too early';
  const before = text.slice(0, at).split('\n');
  const what = message.replace(/( in JSON at position|, (\.\.\.)?").*$/s, '');
  return `${what} in line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/**
 * `JSON.parse` often does not tell the place: it is the end of the shortest beginning of the text that no longer could
 * become JSON.
 */
function faultAt(text: string): number | undefined {
  if (!isBroken(text)) return undefined;
  let whole = 0;
  let broken = text.length;
  while (broken - whole > 1) {
    const middle = (whole + broken) >> 1;
    if (isBroken(text.slice(0, middle))) broken = middle;
    else whole = middle;
  }
  return broken - 1;
}

/** Not JSON, however it were to go on. */
function isBroken(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return false;
  } catch (error) {
    const message = errorText(error);
    const isAtEnd = message.includes('end of JSON input') || message.includes(`at position ${beginning.length}`);
    return !isAtEnd;
  }
}
