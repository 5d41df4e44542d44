import { errorText, HubError } from '../core/errors.ts';
import { type Edits, editObject, memberText } from '../core/json-text.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { errorResponseText, isObject, resultText, type RpcMessage, rpcErrors, toRpcError } from '../core/rpc.ts';
import type { Target } from '../core/view.ts';
import { type Addressed, addressed, unknownTarget } from './address.ts';
import { wantsLog } from './log-level.ts';
import type { ClientRequest } from './request.ts';
import { metaKeys } from './revisions.ts';
import type { Cancellable } from './sessions.ts';

/** The part of a connection to a server that relaying needs; `upstream/connection.ts` is one. */
export interface RelayConnection {
  readonly status: { readonly kind: string };
  available(waitMs: number): Promise<void>;
  takeId(): number;
  send(id: number, method: string, params: string | undefined, exchange: RelayExchange): void;
  cancel(id: number, reason: string): void;
}

interface RelayExchange {
  notified(method: string, message: RpcMessage, text: string): void;
  answered(message: RpcMessage, text: string): void;
  failed(error: HubError): void;
}

export interface RelayOptions {
  /** The connection of a server that this request goes through; undefined when it is not there any more. May throw HubError. */
  readonly connection: (server: string, request: ClientRequest) => RelayConnection | undefined;
  /** Called once for each request that went to a server, when it is over. Must be quick. */
  readonly finished: (call: FinishedCall) => void;
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
  readonly answer: string | undefined;
}

/**
 * Sends a request on to the server it names and its answer back. Of the request only the target's name, the progress token and the hop-by-hop `_meta`
 * keys change; of the answer only the id. Throws HubError `not_found` when the view holds no such target.
 */
export function relay(request: ClientRequest, options: RelayOptions): void {
  relayTo(request, addressed(request), options);
}

/** The same for a request whose server is known already. */
export function relayTo(request: ClientRequest, { target, edits }: Addressed, options: RelayOptions): void {
  const connection = options.connection(target.server, request);
  if (!connection) throw unknownTarget(request);
  const exchange = new RelayedCall(request, target, connection, options);
  request.reply.gone = () => exchange.cancel('client disconnected');
  request.session?.inFlight.set(requestKey(request), exchange);
  if (connection.status.kind === 'connected') exchange.start(edits);
  else void exchange.startWhenAvailable(edits);
}

/** Under what a call is found again by `notifications/cancelled`. */
function requestKey({ message }: ClientRequest): string {
  return JSON.stringify(message.id);
}

class RelayedCall implements RelayExchange, Cancellable {
  readonly #request: ClientRequest;
  readonly #target: Target;
  readonly #connection: RelayConnection;
  readonly #options: RelayOptions;
  readonly #startedAt = performance.now();
  /** The client's progress token as JSON text; undefined when it wants no progress. */
  #progressToken: string | undefined;
  #id: number | undefined;
  #over = false;

  constructor(request: ClientRequest, target: Target, connection: RelayConnection, options: RelayOptions) {
    this.#request = request;
    this.#target = target;
    this.#connection = connection;
    this.#options = options;
  }

  start(edits: Edits): void {
    if (this.#over) return;
    const id = this.#connection.takeId();
    this.#id = id;
    this.#connection.send(id, this.#request.method, this.#paramsFor(id, edits), this);
  }

  async startWhenAvailable(edits: Edits): Promise<void> {
    try {
      await this.#connection.available(limits.waitForConnectionMs);
    } catch (error) {
      if (error instanceof HubError) return this.failed(error);
      throw error;
    }
    this.start(edits);
  }

  notified(method: string, message: RpcMessage, text: string): void {
    if (this.#over) return;
    if (method === 'notifications/message' && wantsLog(this.#request, message)) this.#request.reply.notify(text);
    if (method !== 'notifications/progress' || this.#progressToken === undefined) return;
    const params = editObject(memberText(text, 'params') ?? '{}', { progressToken: this.#progressToken });
    this.#request.reply.notify(editObject(text, { params }));
  }

  answered(message: RpcMessage, text: string): void {
    if (this.#end()) this.#safely(() => this.#deliver(message, text));
  }

  failed(error: HubError): void {
    if (this.#end()) this.#safely(() => this.#refuse(error));
  }

  /** The client no longer wants it: the server is told, and the request ends without a result (2025-11-25, Cancellation). */
  cancel(reason: string): void {
    if (!this.#end()) return;
    this.#safely(() => {
      if (this.#id !== undefined) this.#connection.cancel(this.#id, reason);
      this.#report('cancelled', reason, undefined);
      const { reply, id } = this.#request;
      const text = `Request cancelled: ${reason}`;
      if (reply.refused) return reply.refused(new HubError('cancelled', text));
      reply.answer(errorResponseText(id, rpcErrors.invalidRequest, text));
    });
  }

  #deliver(message: RpcMessage, text: string): void {
    const { id, reply } = this.#request;
    const result = message.result === undefined ? undefined : memberText(text, 'result');
    if (result !== undefined) {
      const toolFailed = isObject(message.result) && message.result['isError'] === true;
      this.#report(toolFailed ? 'tool_error' : 'ok', undefined, result);
      return reply.answer(resultText(id, this.#stamped(message.result, result)));
    }
    const error = memberText(text, 'error');
    if (error === undefined || !isObject(message.error)) {
      return this.#refuse(
        new HubError('upstream_failed', `Server "${this.#target.server}" sent an answer without result or error.`),
      );
    }
    this.#report('error', String(message.error['message']).slice(0, 500), error);
    reply.answer(`{"jsonrpc":"2.0","id":${id},"error":${this.#errorFor(error, message.error['code'])}}`);
  }

  #refuse(error: HubError): void {
    const { code, message, data } = toRpcError(error);
    this.#report(error.code === 'timeout' ? 'timeout' : 'error', message, undefined);
    const { reply, id } = this.#request;
    if (reply.refused) return reply.refused(error);
    reply.answer(errorResponseText(id, code, message, data));
  }

  #paramsFor(id: number, edits: Edits): string {
    const { params = '{}', message, stateless } = this.#request;
    if (!isObject(message.params) || !isObject(message.params['_meta'])) return editObject(params, edits);
    const meta = memberText(params, '_meta') ?? '{}';
    const token = memberText(meta, 'progressToken');
    this.#progressToken = token;
    const metaEdits = { ...(stateless && hopByHop), ...(token !== undefined && { progressToken: String(id) }) };
    return editObject(params, { ...edits, _meta: editObject(meta, metaEdits) });
  }

  /** What the stateless revision wants in every result and an older server does not know of (2026-07-28, Results). */
  #stamped(parsed: unknown, result: string): string {
    if (!this.#request.stateless || !isObject(parsed) || parsed['resultType'] !== undefined) return result;
    const isRead = this.#request.method === 'resources/read';
    const hints = isRead && parsed['ttlMs'] === undefined ? { ttlMs: '0', cacheScope: '"private"' } : {};
    return editObject(result, { resultType: '"complete"', ...hints });
  }

  /** `-32002` is not part of the stateless revision: there it is `-32602`. */
  #errorFor(text: string, code: unknown): string {
    if (!this.#request.stateless || code !== rpcErrors.resourceNotFound) return text;
    return editObject(text, { code: String(rpcErrors.invalidParams) });
  }

  /** Ends the call. It is told from inside an event, of a server or of a client, which is no place to throw. */
  #safely(act: () => void): void {
    try {
      act();
    } catch (error) {
      const { method, id, reply } = this.#request;
      this.#options.log.error('call could not be ended in order', { method, error: errorText(error) });
      if (reply.refused) return reply.refused(error);
      const { code, message } = toRpcError(error);
      reply.answer(errorResponseText(id, code, message));
    }
  }

  /** True the first time. */
  #end(): boolean {
    if (this.#over) return false;
    this.#over = true;
    const { session, reply } = this.#request;
    reply.gone = undefined;
    session?.settle({ call: this, id: requestKey(this.#request) });
    return true;
  }

  #report(outcome: FinishedCall['outcome'], error: string | undefined, answer: string | undefined): void {
    const ms = performance.now() - this.#startedAt;
    this.#options.finished({ request: this.#request, target: this.#target, ms, outcome, error, answer });
  }
}

/** `_meta` keys that speak of the hop between client and hub; a session-era server would take them for its own. */
const hopByHop: Readonly<Record<string, null>> = {
  [metaKeys.protocolVersion]: null,
  [metaKeys.clientCapabilities]: null,
  [metaKeys.clientInfo]: null,
  [metaKeys.logLevel]: null,
};
