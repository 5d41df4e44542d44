/**
 * The same text with memory of its own: a part of a string keeps the whole of it, and takes two bytes for each
 * character where any character of the whole does.
 */
export function detached(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the characters of one byte
  const encoding = /^[\0-\xff]*$/.test(text) ? 'latin1' : 'utf16le';
  return Buffer.from(text, encoding).toString(encoding);
}
