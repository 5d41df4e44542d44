/** `refused`: it was not allowed, or not right, and no server has seen it. */
export const activityStatuses = ['success', 'error', 'cancelled', 'timeout', 'refused'] as const;
export type ActivityStatus = (typeof activityStatuses)[number];

/** What was done: a tool was called, or by smart routing searched for or described. */
export const activityKinds = ['call', 'search', 'describe'] as const;
export type ActivityKind = (typeof activityKinds)[number];

/** The `server` of a search, which is about no server; none can have this name. */
export const searchServer = '$smart';

/** The `server` of a refused call of a tool that, for who asked, is nowhere; none can have this name. */
export const unknownServer = '$unknown';

/** One finished tool call, search or description (reference: `/api/activities`). */
export interface NewActivity {
  /** `call` when absent. */
  readonly kind?: ActivityKind | undefined;
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly durationMs: number;
  readonly status: ActivityStatus;
  readonly errorMessage?: string | undefined;
  readonly principal: 'anonymous' | 'user' | 'key';
  /** The user, or the owner of the key. */
  readonly username?: string | undefined;
  readonly keyId?: string | undefined;
  readonly keyName?: string | undefined;
  /** The group the call came through. */
  readonly group?: string | undefined;
  /** The endpoint's scope as text, e.g. `$smart/dev`. */
  readonly scope?: string | undefined;
  readonly sourceIp?: string | undefined;
  readonly resultBytes: number;
  /**
   * Of `durationMs`, what the call waited in the hub before it was sent: for a server that was not connected, a person
   * or a limit. Only of calls.
   */
  readonly queueMs?: number | undefined;
  /** Of `durationMs`, what passed from then until the answer, with what the server asked meanwhile. Only of calls. */
  readonly serverMs?: number | undefined;
  readonly traceId?: string | undefined;
  /** What the AI client calls itself, as plain text; absent for calls over REST. Strangers choose it. */
  readonly client?: string | undefined;
  /** JSON texts, given only where storing payloads is switched on; cut to `logLimits.activityPayloadChars`. */
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  /** A UUID: the same in the record of a search and in those of what was then called or described of its results. */
  readonly searchId?: string | undefined;
  /**
   * What was searched for, cut to `logLimits.searchEchoChars`; in the record of a later call too. Absent where storing
   * queries is switched off.
   */
  readonly query?: string | undefined;
  /** From 1: the place among the results of the tool that was called or described. */
  readonly searchRank?: number | undefined;
  /** Of a search, what it found: best first, the first `logLimits.activityResults`. */
  readonly results?: readonly SearchResultRecord[] | undefined;
}

export interface SearchResultRecord {
  readonly server: string;
  readonly tool: string;
  readonly score: number;
}

/** What was done with a result of a search. */
export interface SearchUseRecord extends Pick<Activity, 'kind' | 'server' | 'tool' | 'status' | 'timestamp'> {
  readonly rank: number;
}

export interface Activity extends NewActivity {
  readonly kind: ActivityKind;
  /** UUID version 7: sorts by time. */
  readonly id: string;
  /** ISO 8601, UTC, milliseconds; when the call ended. */
  readonly timestamp: string;
}

/** Where finished calls are noted: O(1), never throws, never waits. */
export interface ActivitySink {
  record(activity: NewActivity): void;
  /**
   * Calls back when what was recorded before outlives this process: at once, or at the end of this turn of the event
   * loop.
   */
  readonly afterKeeping: (done: () => void) => void;
}
