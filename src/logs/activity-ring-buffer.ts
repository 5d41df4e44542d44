import type { Activity, ActivityKind, ActivityStatus, NewActivity, SearchResultRecord } from '../core/activity.ts';
import { coreLimits } from '../core/limits.ts';
import { logLimits } from './limits.ts';
import { idOf } from './record-ids.ts';
import type { Stamp } from './record-ids.ts';

/**
 * Records in the order they came, kept in place: each has an object that is written over when its turn comes again.
 * Objects of their own would all outlive the young generation and be moved by two collections before they go, which
 * took a fifth of the time of a call.
 */
export class ActivityRingBuffer {
  readonly #slots: ReusedActivity[] = [];
  readonly #capacity: number;
  #first = 0;
  #size = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  get isFull(): boolean {
    return this.#size === this.#capacity;
  }

  /** A place behind the last record, to be written to. Must not be called when it is full. */
  next(): ReusedActivity {
    const at = (this.#first + this.#size) % this.#capacity;
    this.#size += 1;
    return (this.#slots[at] ??= new ReusedActivity());
  }

  /** The oldest records. They are as they are until they are dropped. */
  oldest(count: number): ReusedActivity[] {
    const found: ReusedActivity[] = [];
    for (let i = 0; i < Math.min(count, this.#size); i++) found.push(this.#at(i));
    return found;
  }

  /** Forgets the oldest records. */
  drop(count: number): void {
    for (let i = 0; i < count; i++) this.#at(i).empty();
    this.#size -= count;
    // From the start again: a queue that is emptied in time then uses the same few.
    this.#first = this.#size === 0 ? 0 : (this.#first + count) % this.#capacity;
  }

  #at(i: number): ReusedActivity {
    const slot = this.#slots[(this.#first + i) % this.#capacity];
    if (slot === undefined) throw new Error(`There are ${this.#size} records, not ${i + 1}`);
    return slot;
  }
}

/** One record. Every text is cut to its bound; names come from clients. */
export class ReusedActivity implements Activity, Stamp {
  atMs = 0;
  idMs = 0;
  count = 0;
  high = 0;
  low = 0;
  kind: ActivityKind = 'call';
  server = '';
  tool = '';
  durationMs = 0;
  status: ActivityStatus = 'success';
  errorMessage: string | undefined;
  principal: Activity['principal'] = 'anonymous';
  username: string | undefined;
  keyId: string | undefined;
  keyName: string | undefined;
  group: string | undefined;
  scope: string | undefined;
  sourceIp: string | undefined;
  resultBytes = 0;
  queueMs: number | undefined;
  serverMs: number | undefined;
  traceId: string | undefined;
  client: string | undefined;
  input: string | undefined;
  output: string | undefined;
  searchId: string | undefined;
  query: string | undefined;
  searchRank: number | undefined;
  results: readonly SearchResultRecord[] | undefined;

  get id(): string {
    return idOf(this);
  }

  get timestamp(): string {
    return new Date(this.atMs).toISOString();
  }

  write(stamp: Stamp, activity: NewActivity): void {
    this.atMs = stamp.atMs;
    this.idMs = stamp.idMs;
    this.count = stamp.count;
    this.high = stamp.high;
    this.low = stamp.low;
    this.kind = activity.kind ?? 'call';
    this.server = activity.server;
    this.tool = cut(activity.tool, logLimits.filterChars);
    this.durationMs = activity.durationMs;
    this.status = activity.status;
    this.errorMessage = cutIfAny(activity.errorMessage, coreLimits.logLineChars);
    this.principal = activity.principal;
    this.username = activity.username;
    this.keyId = activity.keyId;
    this.keyName = activity.keyName;
    this.group = activity.group;
    this.scope = activity.scope;
    this.sourceIp = activity.sourceIp;
    this.resultBytes = activity.resultBytes;
    this.queueMs = activity.queueMs;
    this.serverMs = activity.serverMs;
    this.traceId = activity.traceId;
    this.client = cutIfAny(activity.client, logLimits.filterChars);
    this.input = cutIfAny(activity.input, logLimits.activityPayloadChars);
    this.output = cutIfAny(activity.output, logLimits.activityPayloadChars);
    this.searchId = activity.searchId;
    this.query = cutIfAny(activity.query, logLimits.searchEchoChars);
    this.searchRank = activity.searchRank;
    this.results = activity.results
      ?.slice(0, logLimits.activityResults)
      .map((one) => ({ ...one, tool: cut(one.tool, logLimits.filterChars) }));
  }

  /** Lets go of what may be long. */
  empty(): void {
    this.errorMessage = undefined;
    this.input = undefined;
    this.output = undefined;
    this.query = undefined;
    this.results = undefined;
  }

  /** The record as an object of its own. */
  copy(): Activity {
    const { id, timestamp } = this;
    const { atMs: _at, idMs: _ms, count: _count, high: _high, low: _low, ...fields } = this;
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    return { id, timestamp, ...(given as unknown as Omit<Activity, 'id' | 'timestamp'>) };
  }
}

function cutIfAny(text: string | undefined, chars: number): string | undefined {
  return text === undefined ? undefined : cut(text, chars);
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;
}
