import type { Activity, ActivitySink, SearchUseRecord } from '../core/activity.ts';
import { HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { databaseLimits } from '../database/limits.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type {
  ActivityAnswers,
  ActivityChoices,
  ActivityPage,
  ActivityStats,
  MaybeIncomplete,
  SeenActivity,
  ActivityBucket,
  TimelineListing,
} from './activity-answers.ts';
import { causesOf, type FailureCause } from './activity-failures.ts';
import type { ActivityFilter, ActivityListing, OwnCalls } from './activity-filter.ts';
import type { ActivityGroups, GroupListing } from './activity-groups.ts';
import { createActivityMemory } from './activity-memory.ts';
import { type ReusedActivity, ActivityRingBuffer } from './activity-ring-buffer.ts';
import { activityTable, insertActivities } from './activity-table.ts';
import { logLimits } from './limits.ts';
import { keepPruned, prune } from './prune.ts';
import { createStamps } from './record-ids.ts';
import { activityJournal } from './activity-journal.ts';
import type { ActivityNews } from './activity-news.ts';
import { createWriter } from './writer.ts';
import type { JournalSite } from './journal.ts';
import type { RowQueue, WriteCounts } from './writer.ts';

/**
 * One record per tool call: in the database, or without one the newest `logLimits.activityRing` in memory. Listings
 * include every call recorded before them and never fail: memory answers while the database cannot.
 */
export interface ActivityLog extends ActivitySink {
  list(listing: ActivityListing): Promise<ActivityPage & MaybeIncomplete>;
  stats(filter: ActivityFilter): Promise<ActivityStats & MaybeIncomplete>;
  /** The calls over time. */
  timeline(listing: TimelineListing): Promise<{ readonly buckets: readonly ActivityBucket[] } & MaybeIncomplete>;
  /** The calls by what is alike in them; `since`: the oldest record, before which nothing is known. */
  groups(listing: GroupListing): Promise<ActivityGroups & { readonly since: string | undefined } & MaybeIncomplete>;
  /** What calls failed for. */
  failures(filter: ActivityFilter): Promise<{ readonly causes: readonly FailureCause[] } & MaybeIncomplete>;
  /** `mine`: only from this account's calls. */
  choices(mine?: OwnCalls): Promise<ActivityChoices & MaybeIncomplete>;
  /**
   * Undefined when there is no such record, or it is not this account's; HubError `not_ready` when that cannot be told
   * now.
   */
  get(id: string, mine?: OwnCalls): Promise<SeenActivity | undefined>;
  /** Removes records older than so many days. HubError `not_ready` when the database should be there and is not. */
  cleanup(daysOld: number): Promise<{ deletedCount: number; cutoffDate: string }>;
  counts(): WriteCounts;
  close(): Promise<void>;
}

export interface ActivityOptions {
  readonly database: DatabaseHandle;
  readonly log: Logger;
  /** Where records outlive the process that could not write them to the database. */
  readonly journal?: JournalSite | undefined;
  /** Hears of each record. */
  readonly news?: Pick<ActivityNews, 'recorded' | 'written'> | undefined;
  readonly now?: () => number;
}

export function createActivityLog({ database, log, journal, news, now = Date.now }: ActivityOptions): ActivityLog {
  const memory = createActivityMemory();
  const nextStamp = createStamps(now);
  const isOff = database.state().state === 'off';
  const retention = {
    table: 'toolhub.activity',
    rows: logLimits.activityRows,
    ageMs: logLimits.activityAgeMs,
  } as const;
  const writer = createWriter<ReusedActivity>({
    database,
    log,
    rows: 'activity records',
    limit: logLimits.activityQueue,
    queue: slotQueue(logLimits.activityQueue),
    journal: isOff
      ? undefined
      : journal && { ...journal, name: 'activity', codec: activityJournal, worthWriting: logLimits.activityRows },
    // Others that read the table would not see what waits here.
    mayWait: ({ kind }) => kind === 'embedded',
    async write(open, rows) {
      await insertActivities(open, rows);
      news?.written(rows);
    },
    trim: (open) => prune(open, retention),
  });
  const stopPruning = keepPruned(database, retention);

  /** The table's answer when it can be had, else memory's. */
  async function ask<T extends object>(
    question: (answers: ActivityAnswers) => Promise<T>,
  ): Promise<T & MaybeIncomplete> {
    if (!isOff) await database.firstAttempt(logLimits.databaseFirstReadMs);
    if (await writer.flush(databaseLimits.databaseReadMs)) {
      // Wrapped, for undefined is an answer too.
      const stored = await database.attempt(async (open) => ({ answer: await question(activityTable(open)) }));
      if (stored !== undefined) return stored.answer;
    }
    return { ...(await question(memory)), ...(!isOff && { incomplete: true as const }) };
  }

  return {
    record(activity) {
      const slot = memory.next();
      slot.write(nextStamp(), activity);
      if (!isOff) writer.add(slot);
      news?.recorded(slot);
    },
    afterKeeping: writer.afterKeeping,
    list: (listing) =>
      ask(async (answers) => {
        const page = await answers.list(listing);
        return { ...page, data: await withUses(answers, page.data) };
      }),
    stats: (filter) => ask((answers) => answers.stats(filter)),
    timeline: (listing) => ask(async (answers) => ({ buckets: await answers.timeline(listing) })),
    groups: (listing) =>
      ask(async (answers) => ({ ...(await answers.groups(listing)), since: await answers.oldest(listing.mine) })),
    failures: (filter) => ask(async (answers) => ({ causes: causesOf(await answers.failures(filter)) })),
    choices: (mine) => ask((answers) => answers.choices(mine)),
    async get(id, mine) {
      if (!uuid.test(id)) return undefined;
      const { found, incomplete } = await ask(async (answers) => {
        const one = await answers.get(id.toLowerCase(), mine);
        return { found: one && (await withUses(answers, [one]))[0] };
      });
      if (found === undefined && incomplete)
        throw new HubError(
          'not_ready',
          'The database cannot be read right now, and it may have this record. Try again in a moment.',
          {
            retryAfterMs: databaseLimits.databaseRetryMaxMs,
          },
        );
      return found;
    },
    async cleanup(daysOld) {
      const before = new Date(now() - daysOld * 24 * 60 * 60_000);
      let deletedCount = await memory.remove(before);
      if (!isOff) {
        const open = await database.whenReady(databaseLimits.databaseReadMs);
        await writer.flush(databaseLimits.databaseReadMs);
        deletedCount = await activityTable(open).remove(before);
      }
      return { deletedCount, cutoffDate: before.toISOString() };
    },
    counts: () => writer.counts(),
    async close() {
      stopPruning();
      await writer.close();
    },
  };
}

/**
 * Searches with what was done with their results; those calls are by the same account, so a user who may see the search
 * may see them.
 */
async function withUses(answers: ActivityAnswers, data: readonly Activity[]): Promise<SeenActivity[]> {
  const ids = data.flatMap(({ kind, searchId }) => (kind === 'search' && searchId !== undefined ? [searchId] : []));
  if (ids.length === 0) return [...data];
  const uses = new Map<string, SearchUseRecord[]>(ids.map((id) => [id, []]));
  for (const { searchId, ...use } of await answers.uses(ids)) uses.get(searchId)?.push(use);
  return data.map((one) => {
    const own = one.kind === 'search' ? uses.get(one.searchId ?? '') : undefined;
    return own ? { ...one, uses: own } : one;
  });
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Records that wait for the database, in a ring buffer of their own: the one of the memory soon writes over them. */
function slotQueue(capacity: number): RowQueue<ReusedActivity> {
  const slots = new ActivityRingBuffer(capacity);
  return {
    get size() {
      return slots.size;
    },
    add: (slot) => slots.next().write(slot, slot),
    oldest: (count) => slots.oldest(count),
    drop: (count) => slots.drop(count),
  };
}
