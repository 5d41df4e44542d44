/**
 * Variables in settings. `${NAME}` stands for a variable of the hub's environment and is filled in when a server is connected, never before; `$${` stands for
 * the two characters `${`. `$NAME` without braces is plain text: a password may contain it.
 */

const written = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Fills in what `lookup` knows; what it does not know becomes empty, as in MCPHub. */
export function expandVariables(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(written, (_, name?: string) => (name === undefined ? '${' : (lookup(name) ?? '')));
}

/** The names that `expandVariables` would ask for, each once. */
export function variablesIn(text: string): string[] {
  return [...new Set([...text.matchAll(written)].flatMap(([, name]) => (name === undefined ? [] : [name])))];
}

/** Text that `expandVariables` turns back into exactly this text, whatever it contains. */
export function literal(text: string): string {
  // A function, because in a replacement string `$$` means one dollar.
  return text.replaceAll('${', () => '$${');
}

/** A name for a variable, made of words: `github`, `api-key` → `GITHUB_API_KEY`. */
export function variableName(...words: readonly string[]): string {
  const name = words
    .map((word) => word.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, ''))
    .filter((word) => word !== '')
    .join('_')
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name : `VAR_${name}`;
}
