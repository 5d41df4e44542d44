import { skipString } from '../json/text.ts';
import { hideSecrets, mayHoldSecrets } from './secret-forms.ts';

/** What is left of a JSON text without its secrets. */
export interface WithoutSecrets {
  readonly text: string;
  /** What was found, each kind once. */
  readonly kinds: readonly string[];
}

/**
 * Hides the secrets in the strings of a JSON text, as its readers parse them: however they are escaped. Every
 * other byte stays. Undefined where there is none. Expects text that `JSON.parse` accepts.
 */
export function withoutSecretsInJson(text: string): WithoutSecrets | undefined {
  // An escape can stand for any character, and PHP writes `\/`.
  if (!mayHoldSecrets(text) && !/\\[u/]/.test(text)) return undefined;
  const kinds = new Set<string>();
  const found = (kind: string): void => void kinds.add(kind);
  const pieces: string[] = [];
  let kept = 0;
  for (let from = text.indexOf('"'); from !== -1;) {
    const end = skipString(text, from);
    const literal = text.slice(from, end);
    const value = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
    const hidden = hideSecrets(value, { found });
    if (hidden !== value) {
      pieces.push(text.slice(kept, from), JSON.stringify(hidden));
      kept = end;
    }
    from = text.indexOf('"', end);
  }
  if (kinds.size === 0) return undefined;
  pieces.push(text.slice(kept));
  return { text: pieces.join(''), kinds: [...kinds] };
}
