import type { Activity } from '../core/activity.ts';
import { ReusedActivity } from './activity-ring-buffer.ts';

/** A column, its type, and its value in a record. */
export type Column = readonly [name: string, type: string, value: (activity: Activity) => string | number | null];

/** Columns with another value in each record; they come first. */
const own = ['id', 'at', 'duration_ms', 'result_bytes', 'queue_ms', 'server_ms', 'trace_id'];
/** Before them and their lengths: how many columns there are. Without the text of the last. */
const ownBytes = 2 + 4 * own.length + 16 + 8 + 8 + 4 + 4 + 4;
const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const end = Buffer.from([0xff, 0xff]);
/** 2000-01-01, from which PostgreSQL counts. */
const epochMs = 946_684_800_000;

/** Every member but those of the own columns: most records have those of the one before. */
export const sharedMembers = [
  'server', 'tool', 'status', 'errorMessage', 'principal', 'username', 'keyId', 'keyName', 'group', 'scope', 'sourceIp', 'client', 'input', 'output', 'kind',
  'searchId', 'query', 'searchRank', 'results',
] as const satisfies readonly (keyof Activity)[]; // prettier-ignore
/** Fails to compile when a record has a member that is in neither list. */
type Missing = Exclude<
  keyof Activity,
  | (typeof sharedMembers)[number]
  | 'id'
  | 'timestamp'
  | 'durationMs'
  | 'resultBytes'
  | 'queueMs'
  | 'serverMs'
  | 'traceId'
>;
export const allMembersAreWritten: Missing extends never ? true : never = true;

/**
 * Writes records in the binary format of COPY (PostgreSQL, COPY, File Formats). Of a record that differs from the one
 * before in no more than its id, its times, its size and its trace, as most do, nothing else is written again: this
 * runs on the thread that relays calls.
 */
export function copyWriter(columns: readonly Column[]): {
  readonly names: string;
  rows(activities: readonly Activity[]): Uint8Array;
} {
  const rest = columns.filter(([name]) => !own.includes(name));
  let before: Activity | undefined;
  let tail: Buffer = Buffer.alloc(0);
  return {
    names: [...own, ...rest.map(([name]) => name)].join(', '),
    rows(activities) {
      let bytes = Buffer.allocUnsafeSlow(4_096 + activities.length * 256);
      let at = signature.copy(bytes);
      // A record is written over after its turn.
      before = undefined;
      for (const activity of activities) {
        if (before === undefined || !isAlike(activity, before)) tail = tailOf(activity, rest);
        before = activity;
        const most = ownBytes + mostBytes(activity.traceId) + tail.length;
        if (at + most + end.length > bytes.length) {
          const larger = Buffer.allocUnsafeSlow((bytes.length + most) * 2);
          bytes.copy(larger, 0, 0, at);
          bytes = larger;
        }
        at = writeOwn(bytes, at, activity, columns.length);
        at += tail.copy(bytes, at);
      }
      at += end.copy(bytes, at);
      return bytes.subarray(0, at);
    },
  };
}

/**
 * Whether two records differ in no shared member. Written out: by name it takes several times as long, for each call.
 */
export function isAlike(a: Activity, b: Activity): boolean {
  return (
    a.server === b.server &&
    a.tool === b.tool &&
    a.status === b.status &&
    a.errorMessage === b.errorMessage &&
    a.principal === b.principal &&
    a.username === b.username &&
    a.keyId === b.keyId &&
    a.keyName === b.keyName &&
    a.group === b.group &&
    a.scope === b.scope &&
    a.sourceIp === b.sourceIp &&
    a.client === b.client &&
    a.input === b.input &&
    a.output === b.output &&
    a.kind === b.kind &&
    a.searchId === b.searchId &&
    a.query === b.query &&
    a.searchRank === b.searchRank &&
    a.results === b.results
  );
}

function writeOwn(bytes: Buffer, from: number, activity: Activity, columns: number): number {
  let at = bytes.writeInt16BE(columns, from);
  at = writeId(bytes, bytes.writeInt32BE(16, at), activity);
  const atMs = activity instanceof ReusedActivity ? activity.atMs : Date.parse(activity.timestamp);
  at = writeInt64(bytes, bytes.writeInt32BE(8, at), (atMs - epochMs) * 1_000);
  at = bytes.writeDoubleBE(activity.durationMs, bytes.writeInt32BE(8, at));
  at = bytes.writeInt32BE(activity.resultBytes, bytes.writeInt32BE(4, at));
  at = writeMaybe(bytes, writeMaybe(bytes, at, activity.queueMs), activity.serverMs);
  return writeText(bytes, at, activity.traceId);
}

function writeText(bytes: Buffer, at: number, text: string | undefined): number {
  if (text === undefined) return bytes.writeInt32BE(-1, at);
  const written = bytes.write(text, at + 4);
  return bytes.writeInt32BE(written, at) + written;
}

function mostBytes(text: string | undefined): number {
  return text === undefined ? 0 : Buffer.byteLength(text);
}

function writeMaybe(bytes: Buffer, at: number, value: number | undefined): number {
  return value === undefined ? bytes.writeInt32BE(-1, at) : bytes.writeInt32BE(value, bytes.writeInt32BE(4, at));
}

function writeId(bytes: Buffer, at: number, activity: Activity): number {
  if (!(activity instanceof ReusedActivity)) return at + bytes.write(activity.id.replaceAll('-', ''), at, 'hex');
  // As `idOf` spells it.
  const { idMs, count, high, low } = activity;
  bytes.writeUIntBE(idMs, at, 6);
  bytes.writeUInt16BE(0x7000 | count, at + 6);
  bytes.writeUInt32BE(((high & 0x3fffffff) | 0x80000000) >>> 0, at + 8);
  return bytes.writeUInt32BE(low >>> 0, at + 12);
}

function writeInt64(bytes: Buffer, at: number, value: number): number {
  bytes.writeInt32BE(Math.floor(value / 2 ** 32), at);
  return bytes.writeUInt32BE(value >>> 0, at + 4);
}

function tailOf(activity: Activity, columns: readonly Column[]): Buffer {
  return Buffer.concat(columns.map(([, type, value]) => field(type, value(activity))));
}

function field(type: string, value: string | number | null): Buffer {
  if (value === null) return lengthOf(-1);
  const bytes = valueOf(type, value);
  return Buffer.concat([lengthOf(bytes.length), bytes]);
}

function valueOf(type: string, value: string | number): Buffer {
  switch (type) {
    case 'text':
      return Buffer.from(String(value));
    case 'uuid':
      return Buffer.from(String(value).replaceAll('-', ''), 'hex');
    case 'integer':
      return lengthOf(Number(value));
    default:
      throw new Error(`No column of type ${type} is written like this`);
  }
}

function lengthOf(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
