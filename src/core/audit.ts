import type { Principal } from './access/principal.ts';
import { userOf } from './access/identity.ts';
import type { Settings } from './settings/settings.ts';

/** How something was done (CONTRACT §9, Audit). */
export const auditWays = ['api', 'dashboard', 'mcp', 'oauth', 'cli', 'file', 'hub'] as const;
export type AuditWay = (typeof auditWays)[number];

/** Who did it. `provider`: a company's login. `file`: a person who edited the settings file. */
export const actorKinds = ['user', 'key', 'app', 'issued', 'anonymous', 'provider', 'file', 'hub'] as const;
export interface Actor {
  readonly kind: (typeof actorKinds)[number];
  /** The user's name; of a key its name. Empty where there is none. */
  readonly name: string;
}

export const auditResults = ['success', 'refused', 'failed'] as const;
export type AuditResult = (typeof auditResults)[number];

/** Who does something, from where, and how. */
export interface Origin {
  readonly actor: Actor;
  readonly address?: string | undefined;
  readonly via: AuditWay;
}

/** What there is to record. Secrets are masked already; texts may be of any length and have any characters. */
export interface AuditEvent extends Origin {
  /** Like `server.update`. */
  readonly action: string;
  /** The name of what it was done to. */
  readonly target?: string | undefined;
  /** The members that changed, as they were and as they are. */
  readonly before?: Readonly<Record<string, unknown>> | undefined;
  readonly after?: Readonly<Record<string, unknown>> | undefined;
  /** `success` when absent. */
  readonly result?: AuditResult | undefined;
}

/** Where it is recorded who did what. Its functions need no `this`, never throw and never wait. */
export interface AuditSink {
  readonly record: (event: AuditEvent) => void;
  /**
   * For what a caller can do as often as it likes: refusals, failed logins. What one address (of anonymous callers) or
   * one caller repeats is one record with a count, and how many records there are is bounded.
   */
  readonly counted: (event: AuditEvent) => void;
  /** Calls back once what was recorded before outlives this process. An answer to a change waits for it. */
  readonly afterKeeping: (done: () => void) => void;
}

/** A request that may change something: its record is made where that is known best, and once. */
export interface AuditedRequest extends Origin {
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** Set once there is a record. */
  isRecorded: boolean;
}

/** One record as the API, the export and the sinks have it. */
export interface AuditRecord {
  /** From 1, without gaps. */
  readonly id: number;
  readonly time: string;
  readonly actor: Actor;
  readonly address: string;
  readonly via: AuditWay;
  readonly action: string;
  readonly target: string;
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  readonly result: AuditResult;
  readonly count: number;
  /** The hash of the record before. */
  readonly prev: string;
  /** SHA-256, in hexadecimal digits, of the record without this member as canonical JSON. */
  readonly hash: string;
}

/** What the hub does by itself. */
export const byHub: Origin = { actor: { kind: 'hub', name: '' }, via: 'hub' };

/** A command on the machine of the hub, by a person who can read its data folder: no account is known. */
export const byMachine: Origin = { actor: { kind: 'hub', name: '' }, via: 'cli' };

/** The actor that a principal is. */
export function actorOf(settings: Settings, principal: Principal): Actor {
  switch (principal.kind) {
    case 'user':
      return { kind: principal.app === undefined ? 'user' : 'app', name: principal.username };
    case 'app':
      return { kind: 'app', name: principal.username };
    case 'key': {
      const name = settings.keys.find(({ id }) => id === principal.id)?.name;
      return { kind: 'key', name: name ?? userOf(settings, principal)?.username ?? principal.id };
    }
    case 'issued':
      return { kind: 'issued', name: principal.name };
    case 'anonymous':
      return { kind: 'anonymous', name: '' };
  }
}
