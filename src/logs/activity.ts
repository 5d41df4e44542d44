import { randomUUID } from 'node:crypto';
import type { Activity, ActivitySink, NewActivity, SearchUseRecord } from '../core/activity.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type {
  ActivityAnswers,
  ActivityChoices,
  ActivityPage,
  ActivityStats,
  SeenActivity,
  ActivityBucket,
  TimelineListing,
} from './activity-answers.ts';
import type { ActivityFilter, ActivityListing, OwnCalls } from './activity-filter.ts';
import { createActivityMemory } from './activity-memory.ts';
import { activityTable, insertActivities } from './activity-table.ts';
import { keepPruned } from './prune.ts';
import { createWriter } from './writer.ts';
import type { WriteCounts } from './writer.ts';

/**
 * One record per tool call: in the database, or without one the newest `limits.activityRing` in memory. Listings include every call recorded before them and never fail: memory
 * answers while the database cannot.
 */
export interface ActivityLog extends ActivitySink {
  list(listing: ActivityListing): Promise<ActivityPage>;
  stats(filter: ActivityFilter): Promise<ActivityStats>;
  /** The calls over time. */
  timeline(listing: TimelineListing): Promise<readonly ActivityBucket[]>;
  /** `mine`: only from this account's calls. */
  choices(mine?: OwnCalls): Promise<ActivityChoices>;
  /** Undefined when there is no such record, or it is not this account's. */
  get(id: string, mine?: OwnCalls): Promise<SeenActivity | undefined>;
  /** Removes records older than so many days. HubError `not_ready` when the database should be there and is not. */
  cleanup(daysOld: number): Promise<{ deletedCount: number; cutoffDate: string }>;
  counts(): WriteCounts;
  close(): Promise<void>;
}

export interface ActivityOptions {
  readonly database: DatabaseHandle;
  readonly log: Logger;
  readonly now?: () => number;
}

export function createActivityLog({ database, log, now = Date.now }: ActivityOptions): ActivityLog {
  const memory = createActivityMemory();
  const nextId = createIds(now);
  const isOff = database.state().state === 'off';
  const writer = createWriter<Activity>({
    database,
    log,
    rows: 'activity records',
    limit: limits.activityQueue,
    write: insertActivities,
  });
  const retention = { table: 'toolhub.activity', rows: limits.activityRows, ageMs: limits.activityAgeMs } as const;
  const stopPruning = keepPruned(database, retention);

  /** The table's answer when it can be had, else memory's. */
  async function ask<T>(question: (answers: ActivityAnswers) => Promise<T>): Promise<T> {
    if (await writer.flush(limits.databaseReadMs)) {
      // Wrapped, for undefined is an answer too.
      const stored = await database.attempt(async (open) => ({ answer: await question(activityTable(open)) }));
      if (stored !== undefined) return stored.answer;
    }
    return question(memory);
  }

  return {
    record(activity) {
      const kept: Activity = {
        kind: 'call',
        ...bounded(activity),
        id: nextId(),
        timestamp: new Date(now()).toISOString(),
      };
      memory.add(kept);
      if (!isOff) writer.add(kept);
    },
    list: (listing) =>
      ask(async (answers) => {
        const page = await answers.list(listing);
        return { ...page, data: await withUses(answers, page.data) };
      }),
    stats: (filter) => ask((answers) => answers.stats(filter)),
    timeline: (listing) => ask((answers) => answers.timeline(listing)),
    choices: (mine) => ask((answers) => answers.choices(mine)),
    async get(id, mine) {
      if (!uuid.test(id)) return undefined;
      return ask(async (answers) => {
        const found = await answers.get(id.toLowerCase(), mine);
        return found && (await withUses(answers, [found]))[0];
      });
    },
    async cleanup(daysOld) {
      const before = new Date(now() - daysOld * 24 * 60 * 60_000);
      let deletedCount = await memory.remove(before);
      if (!isOff) {
        const open = await database.whenReady(limits.databaseReadMs);
        await writer.flush(limits.databaseReadMs);
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

/** Searches with what was done with their results; whoever may see a search made those calls too. */
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

/** UUIDs version 7: the time in front, then a counter, so that they sort in the order of the calls even within a millisecond. */
function createIds(now: () => number): () => string {
  let lastMs = 0;
  let count = 0;
  return () => {
    const ms = now();
    if (ms > lastMs) [lastMs, count] = [ms, 0];
    else count += 1;
    if (count > 0xfff) [lastMs, count] = [lastMs + 1, 0];
    const time = lastMs.toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, '0')}-${randomUUID().slice(19)}`;
  };
}

/** The record with every text cut to its bound; names come from clients. */
function bounded(activity: NewActivity): NewActivity {
  const { errorMessage, input, output, query, results } = activity;
  return {
    ...activity,
    tool: cut(activity.tool, limits.filterChars),
    ...(errorMessage !== undefined && { errorMessage: cut(errorMessage, limits.logLineChars) }),
    ...(input !== undefined && { input: cut(input, limits.activityPayloadChars) }),
    ...(output !== undefined && { output: cut(output, limits.activityPayloadChars) }),
    ...(query !== undefined && { query: cut(query, limits.searchEchoChars) }),
    ...(results !== undefined && {
      results: results
        .slice(0, limits.activityResults)
        .map((one) => ({ ...one, tool: cut(one.tool, limits.filterChars) })),
    }),
  };
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;
}
