export const activityStatuses = ['success', 'error', 'cancelled', 'timeout'] as const;
export type ActivityStatus = (typeof activityStatuses)[number];

/** One finished tool call (reference: `/api/activities`). */
export interface NewActivity {
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly durationMs: number;
  readonly status: ActivityStatus;
  readonly errorMessage?: string;
  readonly principal: 'anonymous' | 'user' | 'key';
  /** The user, or the owner of the key. */
  readonly username?: string;
  readonly keyId?: string;
  readonly keyName?: string;
  /** The group the call came through. */
  readonly group?: string;
  /** The endpoint's scope as text, e.g. `$smart/dev`. */
  readonly scope?: string;
  readonly sourceIp?: string;
  readonly resultBytes: number;
  readonly traceId?: string;
  /** JSON texts, given only where storing payloads is switched on; cut to `limits.activityPayloadChars`. */
  readonly input?: string;
  readonly output?: string;
}

export interface Activity extends NewActivity {
  /** UUID version 7: sorts by time. */
  readonly id: string;
  /** ISO 8601, UTC, milliseconds; when the call ended. */
  readonly timestamp: string;
}

/** Where finished calls are noted: O(1), never throws, never waits. */
export interface ActivitySink {
  record(activity: NewActivity): void;
}
