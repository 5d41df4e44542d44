import { activityKinds, activityStatuses } from '../../core/activity.ts';
import { activityChoices, activityFailure, activityTimeline } from '../../core/answers/records.ts';
import { count, flag, listOf, object, ref, type Schema, text, time } from '../../core/answers/schema.ts';
import { groupedBys, groupOrders } from '../../logs/activity-groups.ts';
import { logLimits } from '../../logs/limits.ts';
import type { Subject } from '../frame/operation.ts';

/** Said of each listing. */
const incomplete =
  'While the database cannot be read, the memory of this hub answers, and `incomplete: true` beside `data` says so: what was before its start, and what other hubs have, is missing.';

const logFilter: Record<string, Schema> = {
  level: { type: 'string', description: 'One or more of debug, info, warn, error, separated by commas.' },
  service: text,
  q: { type: 'string', maxLength: logLimits.filterChars, description: 'Part of the message.' },
};
const entryId: Schema = { type: 'integer', description: 'The id of an entry; only older ones.' };
const most: Schema = { type: 'integer', minimum: 1, maximum: logLimits.logPageMost, default: logLimits.logPage };

export const logs: Subject = {
  name: 'Logs',
  operations: {
    'GET /logs': {
      summary: 'The newest log entries, oldest first',
      description: `Admins see all entries, others those of the servers within reach. ${incomplete}`,
      query: {
        ...logFilter,
        limit: most,
        before: entryId,
        startDate: { type: 'string', description: 'A date or a time (ISO 8601).' },
        endDate: { type: 'string', description: 'A date or a time (ISO 8601), inclusive.' },
      },
      answer: { data: listOf(ref('LogEntry')) },
    },
    'DELETE /logs': { summary: 'Delete all log entries', admin: true },
    'GET /logs/stream': {
      summary: 'The log as it is written (server-sent events)',
      description:
        'The data of each event is JSON: `{type:"initial", logs}` first (with `incomplete: true` as `GET /logs` has it), then `{type:"log", log}` and `{type:"clear"}`. An `initial` that goes on after `Last-Event-ID` has `resumed: true`; any other has all there is. `?token=` stands for the Authorization header.',
      query: { ...logFilter, token: text },
      headers: { 'Last-Event-ID': { type: 'string', description: 'Go on after this event.' } },
      answer: { bare: text, type: 'text/event-stream' },
    },
  },
};

const activityFilter: Record<string, Schema> = {
  kind: { enum: activityKinds },
  searchId: { type: 'string', description: 'A search, and what was then described and called of its results.' },
  server: text,
  tool: text,
  status: { enum: activityStatuses },
  failed: { type: 'boolean', description: 'Only what did not succeed, however it ended.' },
  group: text,
  scope: text,
  username: text,
  keyId: text,
  keyName: text,
  client: { type: 'string', description: 'What the AI client calls itself.' },
  without: {
    type: 'string',
    description: 'Only what has none of these: one or more of group, scope, username, keyName, client.',
  },
  startDate: { type: 'string', description: 'A date or a time (ISO 8601).' },
  endDate: { type: 'string', description: 'A date or a time (ISO 8601), inclusive.' },
};

const activityGrouping: Record<string, Schema> = {
  groupBy: { type: 'string', description: `Tells calls in groups too: by one or more of ${groupedBys.join(', ')}.` },
  groups: {
    type: 'integer',
    minimum: 1,
    maximum: logLimits.activityGroupsMost,
    default: logLimits.activityGroups,
    description: 'How many groups at most; all others are told together.',
  },
  sort: { enum: groupOrders, default: 'calls', description: 'The groups that have the most of this, in this order.' },
};

export const activity: Subject = {
  name: 'Activity',
  operations: {
    'GET /activities/available': {
      summary: 'Whether calls are recorded',
      answer: { data: object({ available: flag }) },
    },
    'GET /activities': {
      summary: 'Tool calls, searches and descriptions, newest first',
      description: `Admins see all, users their own. A search has in \`uses\` what was done with its results. ${incomplete}`,
      query: {
        ...activityFilter,
        page: { type: 'integer', minimum: 1, default: 1 },
        limit: { type: 'integer', minimum: 1, maximum: logLimits.activityPageMost, default: logLimits.activityPage },
      },
      answer: { data: listOf(ref('Activity')), beside: { pagination: ref('Pagination') } },
    },
    'GET /activities/stats': {
      summary: 'How many calls, how many failed, how long they took, and how much use the searches were',
      query: { ...activityFilter, ...activityGrouping },
      answer: { data: ref('ActivityStatistics') },
    },
    'GET /activities/timeline': {
      summary: 'Calls, errors and times in equal stretches of time; of the last day without dates',
      description: `With \`groupBy\` each group over time; then groups × buckets is ${logLimits.activityGroupCells} at most.`,
      query: {
        ...activityFilter,
        ...activityGrouping,
        buckets: { type: 'integer', minimum: 1, maximum: logLimits.activityBuckets, default: 48 },
        totals: { type: 'boolean', description: 'True: with what `GET /activities/stats` says of the same calls.' },
      },
      answer: {
        data: activityTimeline,
      },
    },
    'GET /activities/failures': {
      summary: 'What calls failed for, the most frequent cause first',
      description: `Of the newest ${logLimits.failures.toLocaleString('en')} failed calls that fit.`,
      query: activityFilter,
      answer: { data: listOf(activityFailure) },
    },
    'GET /activities/filters': {
      summary: 'The values that occur',
      answer: { data: activityChoices },
    },
    'GET /activities/:id': { summary: 'One call', answer: { data: ref('Activity') } },
    'DELETE /activities/cleanup': {
      summary: 'Remove old records',
      admin: true,
      query: { daysOld: { type: 'integer', minimum: 0, default: 30 } },
      answer: { data: object({ deletedCount: count, cutoffDate: time }) },
    },
  },
};
