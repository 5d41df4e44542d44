import type { AuditEvent, AuditRecord, AuditSink } from '../../core/audit.ts';
import type { Logger } from '../../core/logger.ts';
import type { Database } from '../../database/database.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import type { JournalSite } from '../journal.ts';
import { createWriter, type WriteCounts } from '../writer.ts';
import { type Broken, createChainCheck, type Whole } from './chain.ts';
import { auditJournal, type KeptEvent, keptEvent } from './event.ts';
import { auditLimits } from './limits.ts';
import { countRepeats } from './repeats.ts';
import {
  appendEvents,
  type AuditListing,
  expireRecords,
  type Head,
  readRecords,
  selectHead,
  selectRecords,
} from './table.ts';

/** Who did what, as a chain of records (CONTRACT §9, Audit). */
export interface AuditLog extends AuditSink {
  /**
   * Newest first, with all that was recorded before. Throws HubError `not_ready` without a database; so do the two
   * below.
   */
  list(listing: AuditListing): Promise<AuditRecord[]>;
  head(): Promise<Head>;
  /** Whether the chain holds now. Those who ask while it is looked at get the same answer. */
  check(): Promise<Broken | Whole>;
  /** The JSON texts of all records that there are now, oldest first, some at a time. */
  read(): Promise<AsyncGenerator<readonly string[]>>;
  /**
   * Hands on the records that this hub has just put into the chain: `send` must not wait, and `close` is called after
   * the last of them.
   */
  handOn(to: AuditReceiver): void;
  counts(): WriteCounts;
  close(): Promise<void>;
}

interface AuditReceiver {
  send(records: readonly AuditRecord[]): void;
  close(): Promise<void>;
}

export interface AuditOptions {
  readonly database: DatabaseHandle;
  /** Where what the database has not taken outlives the process. */
  readonly journal?: JournalSite | undefined;
  /** Takes known secrets and control characters out of a text, and cuts it. */
  readonly clean: (text: string) => string;
  readonly log: Logger;
  readonly now?: () => number;
}

export function openAudit({ database, journal, clean, log, now = Date.now }: AuditOptions): AuditLog {
  let receiver: AuditReceiver | undefined;
  const told = (records: readonly AuditRecord[]): void => receiver?.send(records);
  const writer = createWriter<KeptEvent>({
    database,
    write: async (open, events) => told(await appendEvents(open, events)),
    limit: auditLimits.auditQueue,
    journal: journal && { ...journal, name: 'audit', codec: auditJournal },
    log,
    rows: 'records of the audit log',
  });
  const add = (event: AuditEvent, count: number) => writer.add(keptEvent(event, count, new Date(now()), clean));
  const repeats = countRepeats(add);
  const stopExpiring = keepExpired(database, now, told);

  async function upToDate(): Promise<Database> {
    const open = await database.whenReady(auditLimits.auditReadMs);
    repeats.flush(true);
    await writer.flush(auditLimits.auditReadMs);
    return open;
  }

  async function read(): Promise<AsyncGenerator<readonly string[]>> {
    const { id } = await selectHead(await upToDate());
    return readRecords(() => database.whenReady(auditLimits.auditReadMs), id);
  }

  let checking: Promise<Broken | Whole> | undefined;
  async function check(): Promise<Broken | Whole> {
    const chain = createChainCheck();
    for await (const page of await read()) for (const text of page) chain.take(JSON.parse(text));
    return chain.done();
  }

  return {
    record: (event) => add(event, 1),
    counted: (event) => repeats.count(event),
    afterKeeping: writer.afterKeeping,
    list: async (listing) => selectRecords(await upToDate(), listing),
    head: async () => selectHead(await upToDate()),
    check() {
      checking ??= check().finally(() => (checking = undefined));
      return checking;
    },
    read,
    counts: () => writer.counts(),
    handOn(to) {
      receiver = to;
    },
    async close() {
      repeats.flush(true);
      stopExpiring();
      await writer.close();
      await receiver?.close();
    },
  };
}

/** Removes what is too old, now and then; gives the function that ends it. */
function keepExpired(
  database: DatabaseHandle,
  now: () => number,
  told: (records: readonly AuditRecord[]) => void,
): () => void {
  const run = async () => {
    const at = now();
    const cutoff = new Date(at - auditLimits.auditAgeMs);
    const made = await database.attempt((open) => expireRecords(open, cutoff, new Date(at)), auditLimits.auditReadMs);
    if (made && made.length > 0) told(made);
  };
  const timer = setInterval(() => void run(), auditLimits.auditExpireEveryMs).unref();
  const stopWatching = database.onChange(({ state }) => {
    if (state === 'ready') void run();
  });
  return () => {
    clearInterval(timer);
    stopWatching();
  };
}
