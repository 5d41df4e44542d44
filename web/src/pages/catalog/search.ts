/** Longer texts are no words to search for, and may be something that must not leave the hub. */
const longest = 80;
const longestWord = 32;

/**
 * Whether the registry, which is a machine of others, may be asked for this text. Only for words and names:
 * addresses, options, assignments and long words may be or carry a key.
 */
export function isForRegistry(text: string): boolean {
  const words = text.trim().split(/\s+/);
  return text.trim().length <= longest && words.every((word) => isWord(word));
}

function isWord(word: string): boolean {
  // The names of the registry have a slash: `io.github.someone/notes`.
  return /^[\p{L}\p{N}][\p{L}\p{N}@._/-]*$/u.test(word) && (word.length <= longestWord || word.includes('/'));
}
