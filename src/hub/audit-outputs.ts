import type { AuditOutputs, WebhookTarget } from '../core/settings/governance.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { Env } from '../env/env.ts';
import { expandText } from '../settings/server/placeholders.ts';
import type { SecretFiles } from './secret-files.ts';

/** Where the audit log goes besides, with the variables of its texts filled in. */
export function auditOutputs({ system }: Settings, ...from: From): AuditOutputs | undefined {
  const { webhook, syslog } = system.audit ?? {};
  return webhook === undefined ? system.audit : { syslog, webhook: filled(webhook, ...from) };
}

/** Who is told of questions to people, in the same way. */
export function approvalWebhook({ system }: Settings, ...from: From): WebhookTarget | undefined {
  return system.approvalWebhook && filled(system.approvalWebhook, ...from);
}

type From = [env: Pick<Env, 'variables'>, files: Pick<SecretFiles, 'tryRead'>];

/** A signature with an empty secret proves nothing: there is no signature then. */
function filled({ url, secret }: WebhookTarget, ...[{ variables }, { tryRead }]: From): WebhookTarget {
  const fill = (text: string) => expandText(text, [variables], new Set(), tryRead).trim();
  const key = secret === undefined ? '' : fill(secret);
  return { url: fill(url), ...(key !== '' && { secret: key }) };
}
