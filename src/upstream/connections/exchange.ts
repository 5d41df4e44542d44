import { asLost, errorText, HubError } from '../../core/errors.ts';
import type { ServerRequest } from '../../core/protocol/server-requests.ts';
import type { LargeAnswer } from '../../core/protocol/large-answer.ts';
import { isObject, type RpcMessage } from '../../core/protocol/rpc.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import { upstreamLimits } from '../limits.ts';

/**
 * One request and all that belongs to it, as its asker sees it. Exactly one of `answered` and `failed` is called, once.
 * None of them may throw.
 */
export interface Exchange {
  /**
   * A notification that belongs to this request: progress by its token, or anything on its own response stream. `text`
   * is exact.
   */
  notified(method: string, message: RpcMessage, text: string): void;
  /** The response, as sent: its id is the connection's, not the asker's. */
  answered(message: RpcMessage, text: string): void;
  /**
   * The response, when its result is too large for a text. Missing where only text will do: it comes as `answered`
   * then.
   */
  answeredLarge?(answer: LargeAnswer): void;
  failed(error: HubError): void;
  /**
   * The server sends a server request to the client while this request is open. Missing where there is no client: the
   * hub's own requests.
   */
  asked?(ask: ServerRequest): void;
  /**
   * Names the client among all; requests with the same one are the same client's. Undefined: it is not known to have
   * made any other.
   */
  readonly asker?: string | undefined;
  /**
   * What this request calls, as `ServerRequestHistory` knows it: a tool by the server's name for it, a prompt as
   * `prompts/get <name>`.
   */
  readonly called?: string | undefined;
  /** The task that this request is about, as the server calls it. */
  readonly task?: string | undefined;
}

/** How long a request may stay unanswered. */
export interface RequestTimeouts {
  readonly timeoutMs: number;
  readonly resetOnProgress: boolean;
  readonly maxTotalMs: number | undefined;
}

/** Those of calls to a server. */
export function timeoutsOf(
  server: Pick<ServerSettings, 'timeoutMs' | 'resetTimeoutOnProgress' | 'maxTotalTimeoutMs'>,
  requestTimeoutMs: number,
): RequestTimeouts {
  const timeoutMs = server.timeoutMs ?? requestTimeoutMs;
  const maxTotalMs = server.maxTotalTimeoutMs ?? Math.max(upstreamLimits.callTotalMs, timeoutMs);
  return { timeoutMs, resetOnProgress: server.resetTimeoutOnProgress, maxTotalMs };
}

/** A response, with its exact text. */
export interface Answer {
  readonly message: RpcMessage;
  readonly text: string;
}

/** Sends one of the hub's own requests to the server and waits for its answer. */
export type Ask = (method: string, params: string | undefined, timeoutMs: number) => Promise<Answer>;

/**
 * Awaits an answer as a promise: for what the hub itself asks, never for relayed calls. `start` is given the exchange
 * to send with.
 */
export function promised(start: (exchange: Exchange) => void): Promise<Answer> {
  return new Promise((resolve, reject) => {
    start({
      notified: ignored,
      answered: (message, text) => resolve({ message, text }),
      // It may become the reason why the connection ended, for calls that were never sent.
      failed: (error) => reject(asLost(error, false)),
    });
  });
}

/** Notifications about a request of the hub's own are dropped. */
export function ignored(): void {}

/** Keeps a HubError, and makes one of anything else. */
export function asHubError(error: unknown, what: string): HubError {
  if (error instanceof HubError) return error;
  return new HubError('upstream_failed', `${what}: ${errorText(error)}`, { cause: error });
}

/** The text of a JSON-RPC error as far as it can be shown. */
export function refusal(error: unknown): string {
  if (!isObject(error)) return 'the answer has neither result nor error';
  const message = typeof error['message'] === 'string' ? error['message'] : 'no message';
  return `${message.slice(0, 500)} (${String(error['code'])})`;
}
