import { type ActivityStatus, type NewActivity, unknownServer } from '../core/activity.ts';
import { Durations, type Exemplar } from './durations.ts';

/** The calls of one server since the hub started, or since the server was set up. */
export interface ServerCalls {
  readonly outcomes: Readonly<Record<ActivityStatus, number>>;
  /** Of those that reached the server: the time of a refusal is not the server's. */
  readonly durations: Durations;
  readonly resultBytes: number;
}

/** What was called and searched for, in numbers. */
export interface CallCounts {
  /** Counts what an activity record is of. O(1), never throws. `ms` is not rounded, as that of the record is. */
  count(record: NewActivity, ms: number, span?: Pick<Exemplar, 'traceId' | 'spanId'>): void;
  /** Undefined while there was no call. */
  of(server: string): ServerCalls | undefined;
  readonly searches: Durations;
  /** Forgets the servers that are not there any more. */
  prune(): void;
}

/** `knows` says whether there is such a server now: a call may end after its server was removed. */
export function createCallCounts(knows: (server: string) => boolean): CallCounts {
  const servers = new Map<string, Counted>();
  const searches = new Durations();
  const isKept = (server: string): boolean => server === unknownServer || knows(server);

  return {
    count({ kind, server, status, resultBytes }, ms, span) {
      if (kind === 'search') searches.add(ms);
      if (kind !== undefined && kind !== 'call') return;
      let calls = servers.get(server);
      if (!calls) {
        if (!isKept(server)) return;
        calls = new Counted();
        servers.set(server, calls);
      }
      calls.outcomes[status] += 1;
      calls.resultBytes += resultBytes;
      if (status !== 'refused') calls.durations.add(ms, span);
    },
    of: (server) => servers.get(server),
    searches,
    prune() {
      for (const server of servers.keys()) if (!isKept(server)) servers.delete(server);
    },
  };
}

class Counted implements ServerCalls {
  readonly outcomes: Record<ActivityStatus, number> = { success: 0, error: 0, cancelled: 0, timeout: 0, refused: 0 };
  readonly durations = new Durations();
  resultBytes = 0;
}
