import { createHash } from 'node:crypto';
import { HubError } from '../../../core/errors.ts';
import type { ServerSettings } from '../../../core/settings/server.ts';
import { SignInRequired } from '../../channels/credential.ts';
import { HttpAnswer } from '../../channels/http-errors.ts';
import { upstreamLimits } from '../../limits.ts';

/** How a server is spoken to: after a handshake, or request by request since 2026-07-28 (there: legacy and modern). */
export type Era = 'session' | 'stateless';

/** What was found out about a server, and when. */
export interface Verdict {
  readonly era: Era;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** A hash of its `serverInfo`: another one means another version of the server. */
  readonly info: string;
}

/** What is known of servers from earlier connections and runs. The same server set up differently is another one. */
export interface EraMemory {
  recall(server: ServerSettings): Verdict | undefined;
  /** `undefined`: what was known is not believed any more. */
  learn(server: ServerSettings, verdict: Verdict | undefined): void;
}

/** How the era of a server was found out in a successful negotiation. */
export type Evidence =
  /** It answered in the way of its era, after it was asked in the other way or at once. */
  | 'certain'
  /** It was not asked in the newer way. */
  | 'unasked'
  /** Something else may have been in the way: the older era works, and that is all that is known. */
  | 'doubtful';

/**
 * In which way a server is asked first, from one attempt to connect to the next. What is remembered decides, and what
 * turns out to be wrong is put right: by the other way at once where the server answers, at the next attempt where it
 * does not.
 */
export class Eras {
  /** False where there is nothing to find out: the settings say it, or the transport is older than the question. */
  readonly both: boolean;
  /** True while a server may be at odds with a first request that it does not know. */
  probing = false;
  readonly #server: ServerSettings;
  readonly #memory: EraMemory;
  readonly #only: Era | undefined;
  /** How the next attempt begins, against what is remembered. */
  #next: Era | undefined;
  #startedAgain = false;
  #wasMet = false;

  constructor(server: ServerSettings, memory: EraMemory) {
    this.#server = server;
    this.#memory = memory;
    const { type } = server.transport;
    this.#only = type === 'sse' || type === 'openapi' ? 'session' : server.era;
    this.both = this.#only === undefined;
  }

  /**
   * The way to begin with. A verdict for the older era ends after a while: a server that learned the newer one still
   * answers in the older.
   */
  get first(): Era {
    return this.#only ?? this.#next ?? this.#known?.era ?? 'stateless';
  }

  /** Whether the server is known to speak without sessions: then its answer is worth waiting for. */
  get isStateless(): boolean {
    return this.#only === 'stateless' || this.#known?.era === 'stateless';
  }

  get #known(): Verdict | undefined {
    const known = this.#memory.recall(this.#server);
    return known?.era === 'session' && Date.now() - known.at > upstreamLimits.eraTrustMs ? undefined : known;
  }

  /** An attempt to connect begins. */
  begin(): void {
    this.probing = false;
    this.#wasMet = false;
  }

  /** The protocol was negotiated with the server. `info` is its `serverInfo` as text. */
  negotiated(era: Era, info: string, evidence: Evidence): void {
    const known = this.#memory.recall(this.#server);
    const hash = createHash('sha256').update(info).digest('hex').slice(0, 16);
    const diedOfIt = this.#startedAgain && era === 'session';
    this.probing = false;
    this.#wasMet = true;
    this.#next = undefined;
    this.#startedAgain = false;
    if (!this.both) return;
    if (evidence === 'certain' || diedOfIt) this.#memory.learn(this.#server, { era, at: Date.now(), info: hash });
    else if (known && (known.era !== era || known.info !== hash)) this.#memory.learn(this.#server, undefined);
  }

  /**
   * A process ended, or would not go on, after a first request that it may not know: true when it should be started
   * once more, at once, and be asked in the older way (some libraries end the process at anything before `initialize`).
   */
  startAgain(failure: HubError): boolean {
    if (!this.probing || this.#startedAgain || !this.both || this.#server.transport.type !== 'stdio') return false;
    if (failure.code === 'timeout' || neverRan(failure)) return false;
    this.probing = false;
    this.#startedAgain = true;
    this.#next = 'session';
    return true;
  }

  /**
   * An attempt failed. Where the server was reached and did not answer, or not as it should, the next one begins the
   * other way.
   */
  failed(failure: HubError): void {
    const answered = failure.cause instanceof HttpAnswer && !saysNothing(failure);
    const reached = answered || failure.code === 'timeout' || wasCut(failure) || this.#startedAgain || this.#wasMet;
    if (this.both && reached && !(failure.cause instanceof SignInRequired)) this.#next = other(this.first);
    this.probing = false;
  }

  /** The server does not speak any more as it did. */
  changed(from: Era): void {
    if (!this.both) return;
    this.#next = other(from);
    this.#memory.learn(this.#server, undefined);
  }
}

/**
 * True when a failure says nothing about the era of a server: it was not reached, is overloaded, or wants a credential
 * first (2026-07-28, Versioning).
 */
export function saysNothing(failure: unknown): boolean {
  if (!(failure instanceof HubError)) return false;
  const { cause, code } = failure;
  if (cause instanceof HttpAnswer) return cause.status === 401 || cause.status === 429 || cause.status === 503;
  return code === 'upstream_unavailable' || cause instanceof SignInRequired;
}

/** A memory that ends with the process. */
export function shortMemory(): EraMemory {
  const verdicts = new Map<string, Verdict>();
  return {
    recall: (server) => verdicts.get(eraKey(server)),
    learn(server, verdict) {
      if (verdict) verdicts.set(eraKey(server), verdict);
      else verdicts.delete(eraKey(server));
    },
  };
}

/** Tells servers apart, and the same server set up differently. Nothing can be read from it. */
export function eraKey({ name, transport }: ServerSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([name, transport]))
    .digest('hex')
    .slice(0, 32);
}

function other(era: Era): Era {
  return era === 'session' ? 'stateless' : 'session';
}

/** The system could not even start the process. */
function neverRan({ cause }: HubError): boolean {
  return cause instanceof Error && 'code' in cause;
}

/** The connection was there, and broke before the answer. */
function wasCut({ cause }: HubError): boolean {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET';
}
