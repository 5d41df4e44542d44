import { join } from 'node:path';
import { consentOf, principalFromId } from '../core/access/principal.ts';
import { isGone } from '../core/access/identity.ts';
import type { ToldConsents } from '../auth/oauth/consents.ts';
import type { AuditSink } from '../core/audit.ts';
import type { Catalogue } from '../core/catalogue.ts';
import type { Closers } from '../core/closers.ts';
import type { LoggerFor } from '../core/logger.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type { Env } from '../env/env.ts';
import { createApprovalWebhook } from '../governance/approval-webhook.ts';
import { approvalsInMemory } from '../governance/approval-store.ts';
import { approvalsInTable } from '../governance/approvals-in-table.ts';
import { type Approvals, createApprovals } from '../governance/approvals.ts';
import type { Pins } from '../governance/pins.ts';
import { createCallCounts } from '../governance/call-counts.ts';
import { daysInFile } from '../governance/day-counts.ts';
import { createGuards, type Guards } from '../governance/guards.ts';
import { governanceLimits } from '../governance/limits.ts';
import { sharedCallCounts } from '../governance/shared-call-counts.ts';
import type { Governance } from '../mcp/relay/admission.ts';
import { type RecordOptions, withoutSecrets } from '../mcp/records.ts';
import { approvalWebhook } from './audit-outputs.ts';
import { guardAddress } from './guard-address.ts';
import type { SettingsStore } from '../settings/store.ts';
import type { SecretFiles } from './secret-files.ts';

export interface OpenGovernance {
  readonly store: Pick<SettingsStore, 'subscribe'>;
  readonly env: Pick<Env, 'database' | 'basePath' | 'variables'>;
  readonly files: Pick<SecretFiles, 'tryRead'>;
  /** The address of the hub for people, without `BASE_PATH`. */
  readonly address: () => string;
  readonly hide: RecordOptions['hide'];
  /** As the views have them. */
  readonly settings: () => Settings;
  readonly catalogue: () => Catalogue;
  readonly pins: Pins;
  readonly dataDir: { readonly path: string };
  readonly database: DatabaseHandle;
  readonly audit: Pick<AuditSink, 'record' | 'counted'>;
  readonly consents: Pick<ToldConsents, 'onEnd'>;
  /** Open pages are told that there is something new. */
  readonly changes: { announce(): void };
  readonly log: LoggerFor;
}

/** What decides about calls besides access: counts and questions, of this hub or of all on one database. */
export function openGovernance(
  {
    store,
    env,
    files,
    address,
    hide,
    settings,
    catalogue,
    pins,
    dataDir,
    database,
    audit,
    consents,
    changes,
    log,
  }: OpenGovernance,
  closers: Closers,
): Governance & { readonly approvals: Approvals; readonly pins: Pins; readonly guards: Guards } {
  const isShared = env.database.kind === 'postgres';
  const days = isShared ? undefined : daysInFile(join(dataDir.path, 'day-counts.json'), log('gateway'));
  if (days) closers.add(() => days.close());
  const alone = createCallCounts(Date.now, () => performance.now(), days);
  const together = isShared ? sharedCallCounts(database, alone, log('gateway')) : undefined;
  if (together) closers.add(() => together.close());
  const security = log('approvals');
  const webhook = createApprovalWebhook({
    target: () => approvalWebhook(settings(), env, files),
    page: () => `${address()}${env.basePath}/approvals`,
    hide: (args, chars) => withoutSecrets(args, hide, chars),
    log: security,
  });
  closers.add(() => webhook.close());
  const approvals = createApprovals({
    store: isShared ? approvalsInTable(database) : approvalsInMemory(),
    lifeMs: () => settings().system.approvalMs ?? governanceLimits.approvalMs,
    asked(approval) {
      const { id, who, policy, server, tool, caller } = approval;
      security.info('a call waits for approval', { id, who, policy, server, tool, caller });
      webhook.tell(approval);
    },
    decided(approval) {
      const { id, state, decidedBy, server, tool, caller } = approval;
      security.info(`a call was ${state}`, { id, by: decidedBy, server, tool, caller });
      webhook.tell(approval);
    },
    expired(approval) {
      const { id, server, tool, caller } = approval;
      security.info('a call was not approved in time', { id, server, tool, caller });
      webhook.tell(approval);
    },
  });
  closers.add(() => approvals.close());
  approvals.onChange(() => changes.announce());
  // With the database away they end when they expire.
  const endOf = (isOfGone: (principal: string) => boolean): void =>
    void approvals.endGone(isOfGone).catch(() => undefined);
  const unsubscribe = store.subscribe((now) =>
    endOf((principal) => {
      const who = principalFromId(principal);
      return who !== undefined && who.kind !== 'anonymous' && isGone(now, who);
    }),
  );
  closers.add(unsubscribe);
  closers.add(consents.onEnd((ids) => endOf((principal) => ids.includes(consentOf(principal) ?? ''))));
  const guards = createGuards({ address: (guard) => guardAddress(guard, env, files), log: log('guards') });
  closers.add(() => guards.close());
  return { settings, catalogue, counts: together ?? alone, approvals, pins, audit, guards };
}
