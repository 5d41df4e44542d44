import { type Activity, activityKinds, activityStatuses } from '../core/activity.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { isAlike, sharedMembers } from './activity-copy.ts';
import { ReusedActivity } from './activity-ring-buffer.ts';
import type { JournalCodec } from './journal.ts';

/**
 * Activity records as lines: `[idMs, atMs - idMs, count, high, low, durationMs, resultBytes, queueMs, serverMs,
 * the other members, traceId]`; -1 is none, and a call that is in no trace has no `traceId`. A record whose other
 * members are those of the line before, as for most calls, leaves them out, and its `idMs` is what has passed since
 * that one: long numbers and texts are most of the work, on the thread that relays calls.
 */
export const activityJournal: JournalCodec<ReusedActivity> = {
  encoder() {
    /** A record of its own: those that come are written over. */
    const before = new ReusedActivity();
    let isFirst = true;
    let idMs = 0;
    // Written for many records, and made once: two long numbers are a third of what writing a record takes.
    let random = { high: NaN, low: NaN, text: '' };
    return (row) => {
      const { count, high, low, durationMs, resultBytes, queueMs = -1, serverMs = -1, traceId } = row;
      const isShort = !isFirst && isAlike(row, before);
      const since = isShort ? row.idMs - idMs : row.idMs;
      idMs = row.idMs;
      if (random.high !== high || random.low !== low) random = { high, low, text: [high, low].join() };
      const numbers = `[${since},${row.atMs - idMs},${count},${random.text},${durationMs},${resultBytes},${queueMs},${serverMs}`;
      const end = traceId === undefined ? ']' : `,${JSON.stringify(traceId)}]`;
      if (isShort) return numbers + end;
      isFirst = false;
      before.write(row, row);
      return `${numbers},${JSON.stringify(sharedOf(row))}${end}`;
    };
  },
  decoder() {
    let before: { readonly idMs: number; readonly members: ReusedActivity } | undefined;
    return (line) => {
      const earlier = before;
      // Lines after one that cannot be read must not take anything from the line before it.
      before = undefined;
      const parsed: unknown = JSON.parse(line);
      const values: readonly unknown[] = Array.isArray(parsed) ? parsed : [];
      const [since, ahead, count, high, low, durationMs, resultBytes] = values;
      // Lines of earlier versions have nothing of the parts, and the trace among the members.
      const hasParts = typeof values[7] === 'number';
      const textsAt = hasParts ? 9 : 7;
      const given = typeof values[textsAt] === 'string' ? undefined : values[textsAt];
      const trace = values.length > textsAt ? values.at(-1) : undefined;
      const members = given === undefined ? earlier?.members : membersOf(given);
      if (!members) throw new TypeError('Not an activity record');
      if (typeof durationMs !== 'number') throw new TypeError('Not a duration');
      const idMs = whole(since) + (given === undefined ? (earlier?.idMs ?? 0) : 0);
      const stamp = { atMs: idMs + whole(ahead), idMs, count: whole(count), high: whole(high), low: whole(low) };
      const slot = new ReusedActivity();
      slot.write(stamp, members);
      slot.durationMs = durationMs;
      slot.resultBytes = whole(resultBytes);
      slot.queueMs = hasParts ? partOf(values[7]) : undefined;
      slot.serverMs = hasParts ? partOf(values[8]) : undefined;
      if (typeof trace === 'string') slot.traceId = trace;
      before = { idMs, members };
      return slot;
    };
  },
};

/**
 * Checked once for all lines that have the same, and kept in the form of a record: to put the members of each line
 * together again took most of the time of reading it. Undefined where it is none.
 */
function membersOf(given: unknown): ReusedActivity | undefined {
  if (!isShared(given)) return undefined;
  const members = new ReusedActivity();
  members.write(members, { ...given, durationMs: 0, resultBytes: 0 });
  return members;
}

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
    traceId: _trace,
    ...members
  } = row;
  return members;
}

/** `traceId`: of earlier versions. */
type SharedMembers = Pick<Activity, (typeof sharedMembers)[number] | 'traceId'>;

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
    [...sharedMembers, 'traceId'].every(
      (name) => noTexts.has(name) || value[name] === undefined || typeof value[name] === 'string',
    )
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
