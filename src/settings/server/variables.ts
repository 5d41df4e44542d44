/**
 * Text that stays as it is when a server is connected, whatever it contains. The variables of settings (`${VAR}`,
 * `${VAR:-default}`) have no escape sign, but they have defaults: the dollar of `${` is written as a variable that is
 * never set and whose default is a dollar.
 */
export function literal(text: string): string {
  return text.replaceAll('${', () => '${DOLLAR:-$}{');
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
