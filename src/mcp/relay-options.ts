import type { HubError } from '../core/errors.ts';
import type { Target, Views } from '../core/access/view.ts';
import type { LargeText } from '../core/json/large-text.ts';
import type { Logger } from '../core/logger.ts';
import type { ServerRequest } from '../core/protocol/server-requests.ts';
import type { LargeAnswer } from '../core/protocol/large-answer.ts';
import type { RpcMessage } from '../core/protocol/rpc.ts';
import type { RequestFacts } from '../core/protocol/stateless.ts';
import type { ServerRequests } from './server-requests/server-requests.ts';
import type { ClientRequest } from './request.ts';

/** The part of a connection to a server that relaying needs; `upstream/connections/connection.ts` is one. */
export interface RelayConnection {
  readonly status: { readonly kind: string; readonly phase?: string };
  /** What it offered at its last handshake; says which revision it speaks. */
  readonly offer: { readonly about: { readonly protocolVersion: string } } | undefined;
  available(waitMs: number): Promise<void>;
  takeId(): number;
  send(id: number, method: string, params: string | undefined, exchange: RelayExchange, facts?: RequestFacts): void;
  cancel(id: number, reason: string): void;
}

/** What a server sends for one relayed request; `upstream/connections/exchange.ts` says when. */
export interface RelayExchange {
  notified(method: string, message: RpcMessage, text: string): void;
  answered(message: RpcMessage, text: string): void;
  answeredLarge(answer: LargeAnswer): void;
  failed(error: HubError): void;
  asked(ask: ServerRequest): void;
  readonly asker: string | undefined;
  readonly task: string | undefined;
  readonly tool: string | undefined;
}

/** What relaying is given. */
export interface RelayOptions {
  /** What a principal sees now: it may change while a request waits. */
  readonly views: Views;
  /**
   * The connection that this request goes through to the server of its target; undefined when that is not there any
   * more. May throw HubError.
   */
  readonly connection: (target: Target, request: ClientRequest) => RelayConnection | undefined;
  /** Called once for each request that went to a server, when it is over. Must be quick. */
  readonly finished: (call: FinishedCall) => void;
  /**
   * Calls back once the record of `finished`, of `refused` or of a search outlives this process: at once, or at the end
   * of this turn of the event loop. Answers wait for it.
   */
  readonly afterKeeping?: (done: () => void) => void;
  /** Server requests to clients in the middle of their calls. */
  readonly serverRequests: ServerRequests;
  readonly log: Logger;
}

/** What is known of a relayed request once it is over, for the activity log. */
export interface FinishedCall {
  readonly request: ClientRequest;
  readonly target: Target;
  /** Milliseconds from the client's request to its answer. */
  readonly ms: number;
  readonly outcome: 'ok' | 'tool_error' | 'error' | 'cancelled' | 'timeout';
  readonly error: string | undefined;
  /** The result or error as JSON text; undefined when the server gave none. */
  readonly answer: string | LargeText | undefined;
}
