import { Hono } from 'hono';
import { z } from 'zod';
import type { Activity } from '../../core/activity.ts';
import type {
  Activity as ActivityAnswer,
  ActivityChoices,
  ActivityFailure,
  ActivityStatistics,
  ActivityTimeline,
} from '../../core/answers/records.ts';
import { HubError } from '../../core/errors.ts';
import { saying } from '../../core/sentences.ts';
import { parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import { type OwnCalls, parseActivityListing, parseDaysOld } from '../../logs/activity-filter.ts';
import { type ActivityGroups, parseGrouping } from '../../logs/activity-groups.ts';
import type { ActivityLog } from '../../logs/activity.ts';
import { logLimits } from '../../logs/limits.ts';
import { adminOnly, type ApiEnv, type Caller, editorOf } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';
import { visibleCalls } from '../frame/visible-calls.ts';

export interface ActivitiesOptions {
  readonly activity: Pick<
    ActivityLog,
    'list' | 'stats' | 'timeline' | 'groups' | 'failures' | 'choices' | 'get' | 'cleanup'
  >;
  readonly log: Logger;
}

/**
 * `/activities`, the tool calls that were made (reference: MCPHub §1.12): all of them for admins, for other callers
 * their own.
 */
export function activitiesRoutes({ activity, log }: ActivitiesOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  // MCPHub has none without a database; this hub has the newest ones in memory.
  routes.get('/activities/available', (c) => ok(c, { available: true }));

  routes.get('/activities', async (c) => {
    const listing = { ...parseActivityListing(c.req.query()), ...mineOf(c.var.caller) };
    const { data, pagination, incomplete } = await activity.list(listing);
    return c.json({ success: true, data: data.map(shown), pagination, ...(incomplete && { incomplete }) });
  });

  routes.get('/activities/stats', async (c) => {
    const [{ page: _page, limit: _limit, ...filter }, grouping] = parseStatistics(c.req.query());
    const listing = { ...filter, ...mineOf(c.var.caller) };
    const { incomplete, ...stats } = await activity.stats(listing);
    const groups = grouping && (await activity.groups({ ...listing, grouping }));
    return ok(c, { ...stats, ...inGroups(groups) } satisfies ActivityStatistics, {
      incomplete: incomplete ?? groups?.incomplete,
    });
  });

  routes.get('/activities/timeline', async (c) => {
    const { buckets: wanted, totals: withTotals, ...query } = c.req.query();
    const input = { buckets: wanted, totals: withTotals };
    const { buckets, totals } = parseInput(timelineInput, input, 'Cannot list the activities over time');
    const [{ page: _page, limit: _limit, ...filter }, grouping] = parseStatistics(query, buckets);
    const { end = new Date() } = filter;
    const { start = new Date(end.getTime() - dayMs) } = filter;
    const bucketMs = Math.max(1, Math.ceil((end.getTime() - start.getTime() + 1) / buckets));
    const over = { start, bucketMs, buckets };
    const listing = { ...filter, end, ...over, ...mineOf(c.var.caller) };
    const { incomplete, ...timeline } = await activity.timeline(listing);
    const all = totals ? await activity.stats(listing) : undefined;
    const groups = grouping && (await activity.groups({ ...listing, grouping, over }));
    const answer = { bucketMs, ...timeline, ...inGroups(groups), ...(all && { totals: totalsOf(all) }) };
    return ok(c, answer satisfies ActivityTimeline, {
      incomplete: incomplete ?? groups?.incomplete ?? all?.incomplete,
    });
  });

  routes.get('/activities/failures', async (c) => {
    const { page: _page, limit: _limit, ...filter } = parseActivityListing(c.req.query());
    const { causes, incomplete } = await activity.failures({ ...filter, ...mineOf(c.var.caller) });
    return ok(c, causes satisfies readonly ActivityFailure[], { incomplete });
  });

  routes.get('/activities/filters', async (c) => {
    const { incomplete, ...choices } = await activity.choices(mineOf(c.var.caller).mine);
    return ok(c, choices satisfies ActivityChoices, { incomplete });
  });

  routes.get('/activities/:id', async (c) => {
    const id = c.req.param('id');
    const found = await activity.get(id, mineOf(c.var.caller).mine);
    if (!found) throw saying('not_found', 'no_activity', { name: id.slice(0, 100) });
    return ok(c, shown(found));
  });

  routes.delete('/activities/cleanup', adminOnly, async (c) => {
    const { username: by } = editorOf(c.var.caller);
    const daysOld = parseDaysOld(c.req.query());
    const removed = await activity.cleanup(daysOld);
    log.info('activity removed', { daysOld, count: removed.deletedCount, by });
    return ok(c, removed, { message: `${removed.deletedCount} activities removed.` });
  });

  return routes;
}

function totalsOf(stats: Awaited<ReturnType<ActivityLog['stats']>>) {
  const { incomplete: _, ...totals } = stats;
  return totals;
}

const dayMs = 24 * 60 * 60_000;

const timelineInput = z.object({
  buckets: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, `must be a whole number from 1 to ${logLimits.activityBuckets}`)
    .default('48')
    .transform(Number)
    .refine((buckets) => buckets <= logLimits.activityBuckets, `must be ${logLimits.activityBuckets} at most`),
  totals: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .transform((value) => value === 'true'),
});

/** Which calls, and how they are grouped. */
function parseStatistics({ groupBy, groups, sort, ...query }: Record<string, string>, buckets?: number) {
  return [parseActivityListing(query), parseGrouping({ groupBy, groups, sort }, buckets)] as const;
}

function inGroups(found: (ActivityGroups & { readonly since: string | undefined }) | undefined) {
  return found && { groups: found.groups, others: found.others, since: found.since };
}

/** The record with its time under MCPHub's name too. */
function shown(activity: Activity): ActivityAnswer {
  return { ...activity, duration: activity.durationMs };
}

/** Whose calls are listed. Throws HubError `forbidden` for a key without an owner. */
function mineOf(caller: Caller): { mine?: OwnCalls } {
  const visible = visibleCalls(caller);
  if (visible === 'none')
    throw new HubError('forbidden', 'An access key of the system made no calls as anybody. Log in as a user.');
  return visible === 'all' ? {} : { mine: visible };
}
