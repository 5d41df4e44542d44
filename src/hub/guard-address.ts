import type { GuardSettings } from '../core/settings/governance.ts';
import type { Env } from '../env/env.ts';
import { expandText } from '../settings/server/placeholders.ts';
import type { SecretFiles } from './secret-files.ts';

/** Where a guard is asked, with the variables of its texts filled in. */
export function guardAddress(
  { url, secret }: Pick<GuardSettings, 'url' | 'secret'>,
  { variables }: Pick<Env, 'variables'>,
  { tryRead }: Pick<SecretFiles, 'tryRead'>,
): { url: string; secret: string | undefined } {
  const filled = (text: string) => expandText(text, [variables], new Set(), tryRead).trim();
  return { url: filled(url), secret: secret === undefined ? undefined : filled(secret) };
}
