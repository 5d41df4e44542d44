import type { AuditOutputs, Settings } from '../core/settings/types.ts';
import type { Env } from '../env/env.ts';
import { expandText } from '../settings/server/placeholders.ts';
import type { SecretFiles } from './secret-files.ts';

/** Where the audit log goes besides, with the variables of its texts filled in. */
export function auditOutputs(
  { system }: Settings,
  { variables }: Pick<Env, 'variables'>,
  { known }: Pick<SecretFiles, 'known'>,
): AuditOutputs | undefined {
  const { webhook, syslog } = system.audit ?? {};
  const filled = (text: string) => expandText(text, [variables], new Set(), known).trim();
  if (webhook === undefined) return system.audit;
  const { url, secret } = webhook;
  return { syslog, webhook: { url: filled(url), ...(secret !== undefined && { secret: filled(secret) }) } };
}
