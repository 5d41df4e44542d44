import { type Activity, activityKinds, activityStatuses } from '../core/activity.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { isAlike, sharedMembers } from './activity-copy.ts';
import { ReusedActivity } from './activity-ring-buffer.ts';
import type { JournalCodec } from './journal.ts';

/**
 * Activity records as lines: `[idMs, atMs - idMs, count, high, low, durationMs, resultBytes, queueMs, serverMs,
 * the other members]`; -1 is none. A record whose other members are those of the line before, as for most calls,
 * leaves them out, and its `idMs` is what has passed since that one: long numbers and texts are most of the work, on
 * the thread that relays calls.
 */
export const activityJournal: JournalCodec<ReusedActivity> = {
  encoder() {
    /** A record of its own: those that come are written over. */
    const before = new ReusedActivity();
    let isFirst = true;
    let idMs = 0;
    return (row) => {
      const { count, high, low, durationMs, resultBytes, queueMs = -1, serverMs = -1 } = row;
      const isShort = !isFirst && isAlike(row, before);
      const since = isShort ? row.idMs - idMs : row.idMs;
      idMs = row.idMs;
      const numbers = `[${since},${row.atMs - idMs},${count},${high},${low},${durationMs},${resultBytes},${queueMs},${serverMs}`;
      if (isShort) return `${numbers}]`;
      isFirst = false;
      before.write(row, row);
      return `${numbers},${JSON.stringify(sharedOf(row))}]`;
    };
  },
  decoder() {
    let before: { readonly idMs: number; readonly members: SharedMembers } | undefined;
    return (line) => {
      const earlier = before;
      // Lines after one that cannot be read must not take anything from the line before it.
      before = undefined;
      const parsed: unknown = JSON.parse(line);
      const [since, ahead, count, high, low, durationMs, resultBytes, ...rest] = Array.isArray(parsed)
        ? (parsed as unknown[])
        : [];
      // Lines of earlier versions have nothing of the parts.
      const [queueMs, serverMs, given] = typeof rest[0] === 'number' ? rest : [-1, -1, rest[0]];
      const members = given ?? earlier?.members;
      if (!isShared(members)) throw new TypeError('Not an activity record');
      if (typeof durationMs !== 'number') throw new TypeError('Not a duration');
      const idMs = whole(since) + (given === undefined ? (earlier?.idMs ?? 0) : 0);
      const stamp = { atMs: idMs + whole(ahead), idMs, count: whole(count), high: whole(high), low: whole(low) };
      const slot = new ReusedActivity();
      const parts = { queueMs: partOf(queueMs), serverMs: partOf(serverMs) };
      slot.write(stamp, { ...members, durationMs, resultBytes: whole(resultBytes), ...parts });
      before = { idMs, members };
      return slot;
    };
  },
};

function sharedOf(row: ReusedActivity): SharedMembers {
  const {
    atMs: _at,
    idMs: _ms,
    count: _count,
    high: _high,
    low: _low,
    durationMs: _,
    resultBytes: __,
    queueMs: _queue,
    serverMs: _server,
    ...members
  } = row;
  return members;
}

type SharedMembers = Pick<Activity, (typeof sharedMembers)[number]>;

const texts = ['server', 'tool', 'principal'] as const;
const noTexts: ReadonlySet<string> = new Set([...texts, 'kind', 'status', 'searchRank', 'results']);

function isShared(value: unknown): value is SharedMembers {
  if (!isObject(value)) return false;
  const { kind, status, searchRank, results } = value;
  return (
    texts.every((name) => typeof value[name] === 'string') &&
    activityKinds.some((one) => one === kind) &&
    activityStatuses.some((one) => one === status) &&
    (searchRank === undefined || Number.isSafeInteger(searchRank)) &&
    (results === undefined || (Array.isArray(results) && results.every(isResult))) &&
    sharedMembers.every((name) => noTexts.has(name) || value[name] === undefined || typeof value[name] === 'string')
  );
}

function isResult(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value['server'] === 'string' &&
    typeof value['tool'] === 'string' &&
    typeof value['score'] === 'number'
  );
}

function partOf(value: unknown): number | undefined {
  const ms = whole(value);
  return ms < 0 ? undefined : ms;
}

function whole(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new TypeError('Not a whole number');
  return value;
}
