import { HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { readSecretFile } from '../disk/secret-file.ts';
import type { ReadFile } from '../settings/server/placeholders.ts';
import { hubLimits } from './limits.ts';

/** What the settings take from files (`${file:/path}`). */
export interface SecretFiles {
  /** The file's text, read now. Throws HubError `misconfigured`. */
  readonly read: ReadFile;
  /** The same, but empty when the file cannot be used, which is logged once. */
  readonly tryRead: ReadFile;
  /** What was last read of it, without looking at the file; empty when it was not. */
  readonly known: ReadFile;
  /** Every text that was read, also those that newer ones have replaced: no log may show them. */
  readonly values: () => Iterable<string>;
}

/** `learned` is called after a text was read that is new. */
export function createSecretFiles(log: Logger, learned: () => void): SecretFiles {
  const newest = new Map<string, string>();
  const values = new Set<string>();
  const said = new Map<string, string>();

  function read(path: string): string {
    const text = readSecretFile(path);
    newest.set(path, text);
    if (!values.has(text)) {
      values.add(text);
      for (const oldest of values) if (values.size > hubLimits.secretFileValues) values.delete(oldest);
      learned();
    }
    return text;
  }

  return {
    read,
    tryRead(path) {
      try {
        const text = read(path);
        said.delete(path);
        return text;
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        if (said.get(path) !== error.message)
          log.warn(
            `A secret is taken as empty: ${error.message}. Correct \${file:${path}} in the settings, or the file.`,
          );
        said.set(path, error.message);
        return '';
      }
    },
    known: (path) => newest.get(path) ?? '',
    values: () => values,
  };
}
