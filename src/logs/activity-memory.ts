import { type Activity, searchServer } from '../core/activity.ts';
import { paginationOf } from '../core/pagination.ts';
import { everyBucket, searchStats } from './activity-answers.ts';
import type { ActivityAnswers, ActivityChoices, SearchCounts } from './activity-answers.ts';
import type { FailedCalls } from './activity-failures.ts';
import { groupsOf } from './activity-groups.ts';
import { type ReusedActivity, ActivityRingBuffer } from './activity-ring-buffer.ts';
import { activityMatcher } from './activity-filter.ts';
import type { ActivityFilter, OwnCalls } from './activity-filter.ts';
import { logLimits } from './limits.ts';
import { percentile, roundMs } from './milliseconds.ts';

/** The newest calls in memory: all there is without a database, and the answer while it is away. */
export interface ActivityMemory extends ActivityAnswers {
  /** The place of the newest record, to be written to. */
  next(): ReusedActivity;
}

export function createActivityMemory(): ActivityMemory {
  const ring = new ActivityRingBuffer(logLimits.activityRing);
  const records = (): Activity[] => ring.oldest(ring.size).map((slot) => slot.copy());
  const matching = (filter: ActivityFilter): Activity[] => records().filter(activityMatcher(filter));
  const ofUser = (mine: OwnCalls | undefined): ActivityFilter => (mine === undefined ? {} : { mine });

  return {
    next() {
      if (ring.isFull) ring.drop(1);
      return ring.next();
    },
    async list(listing) {
      const found = matching(listing).reverse();
      const from = (listing.page - 1) * listing.limit;
      const data = found.slice(from, from + listing.limit);
      return { data, pagination: paginationOf(listing.page, listing.limit, found.length) };
    },
    async stats(filter) {
      const all = matching(filter);
      const found = all.filter(({ kind }) => kind === 'call');
      const successCount = found.filter(({ status }) => status === 'success').length;
      const sum = found.reduce((total, { durationMs }) => total + durationMs, 0);
      return {
        totalCalls: found.length,
        successCount,
        errorCount: found.length - successCount,
        avgDuration: found.length === 0 ? 0 : roundMs(sum / found.length),
        search: searchStats(countSearches(all, records())),
      };
    },
    async timeline(listing) {
      const byBucket = new Map<number, Activity[]>();
      for (const activity of matching(listing)) {
        if (activity.kind !== 'call') continue;
        const index = Math.floor((Date.parse(activity.timestamp) - listing.start.getTime()) / listing.bucketMs);
        const before = byBucket.get(index);
        if (before) before.push(activity);
        else byBucket.set(index, [activity]);
      }
      return everyBucket(listing, new Map([...byBucket].map(([index, calls]) => [index, sumOf(calls)])));
    },
    groups: async (listing) => groupsOf(matching(listing), listing),
    oldest: async (mine) => matching(ofUser(mine))[0]?.timestamp,
    async failures(filter) {
      const found = new Map<string, FailedCalls>();
      for (const one of matching({ ...filter, kind: 'call', failed: true })) {
        const { server, tool, status, errorMessage: error = '', timestamp, id } = one;
        const key = JSON.stringify([server, tool, status, error]);
        const { first = timestamp, calls = 0 } = found.get(key) ?? {};
        found.set(key, { server, tool, status, error, calls: calls + 1, first, last: timestamp, latest: id });
      }
      return [...found.values()];
    },
    async uses(searchIds) {
      const wanted = new Set(searchIds);
      const used = records().filter(({ kind, searchId = '' }) => kind !== 'search' && wanted.has(searchId));
      return used
        .slice(0, logLimits.activityUses)
        .map(({ searchId = '', searchRank: rank = 0, kind, server, tool, status, timestamp }) => ({
          searchId,
          kind,
          server,
          tool,
          status,
          timestamp,
          rank,
        }));
    },
    choices: async (mine) => choicesOf(matching(ofUser(mine))),
    async get(id, mine) {
      return matching(ofUser(mine)).find((activity) => activity.id === id);
    },
    async remove(before) {
      const firstKept = ring.oldest(ring.size).findIndex(({ atMs }) => atMs >= before.getTime());
      const removed = firstKept === -1 ? ring.size : firstKept;
      ring.drop(removed);
      return removed;
    },
  };
}

function sumOf(calls: readonly Activity[]) {
  const times = calls.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  return {
    calls: calls.length,
    errors: calls.filter(({ status }) => status !== 'success').length,
    p50: roundMs(percentile(times, 0.5)),
    p95: roundMs(percentile(times, 0.95)),
  };
}

function choicesOf(all: readonly Activity[]): ActivityChoices {
  const found = all.filter(({ status }) => status !== 'refused');
  const ofServers = found.filter(({ server }) => server !== searchServer);
  const values = (name: 'server' | 'tool' | 'group' | 'username' | 'keyName' | 'client', of = found): string[] =>
    mostFrequent(of.flatMap((activity) => activity[name] || []))
      .slice(0, logLimits.activityChoices)
      .sort();
  return {
    servers: values('server', ofServers),
    tools: values('tool', ofServers),
    groups: values('group'),
    usernames: values('username'),
    keyNames: values('keyName'),
    clients: values('client'),
  };
}

/** Each value once, those that occur most first. */
function mostFrequent(values: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value);
}

function countSearches(found: readonly Activity[], all: readonly Activity[]): SearchCounts {
  const searches = found.filter(({ kind }) => kind === 'search');
  const ranks = found.flatMap(({ kind, searchRank }) =>
    kind === 'call' && searchRank !== undefined ? [searchRank] : [],
  );
  const used = new Set(all.flatMap(({ kind, searchId }) => (kind === 'call' ? [searchId] : [])));
  return {
    searches: searches.length,
    empty: searches.filter(({ results }) => results?.length === 0).length,
    used: searches.filter(({ searchId }) => used.has(searchId)).length,
    usedResults: ranks.length,
    ranks: ranks.reduce((sum, rank) => sum + rank, 0),
    first: ranks.filter((rank) => rank === 1).length,
  };
}
