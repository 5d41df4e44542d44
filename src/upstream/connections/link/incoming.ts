import type { ItemKind } from '../../../core/catalogue.ts';
import type { LargeAnswer } from '../../../core/protocol/large-answer.ts';
import { isObject, type RpcMessage, rpcErrors } from '../../../core/protocol/rpc.ts';
import { metaKeys } from '../../../core/protocol/stateless.ts';
import type { Exchange } from '../exchange.ts';
import { upstreamLimits } from '../../limits.ts';
import { logged } from '../../channels/messages.ts';
import { sessionRevisions } from '../../../core/protocol/revisions.ts';
import type { AbandonedRequests, Pending, PendingTable } from './pending.ts';
import type { LinkOptions } from './options.ts';
import type { ServerRequests } from './server-requests.ts';

/** What of a link the messages of its server concern. */
export interface IncomingParts {
  readonly pending: PendingTable;
  readonly givenUp: AbandonedRequests;
  readonly serverRequests: ServerRequests;
  readonly streams: ChangeStreams;
  readonly era: { readonly isStateless: boolean };
  /** Sends a request once more, when this is done. */
  readonly sendAfter: (done: Promise<void>, id: number, pending: Pending) => void;
}

/**
 * Decides where each message belongs: everything that a server says goes to the request, the stream of changes or the
 * listener it belongs to, or to none of them.
 */
export class Incoming {
  readonly #options: LinkOptions;
  readonly #pending: PendingTable;
  readonly #givenUp: AbandonedRequests;
  readonly #serverRequests: ServerRequests;
  readonly #streams: ChangeStreams;
  readonly #era: IncomingParts['era'];
  readonly #sendAfter: IncomingParts['sendAfter'];
  /** Answers to no request since they were last told, and when that was. */
  #strayAnswers = 0;
  #strayToldAt = -Infinity;

  constructor(options: LinkOptions, { pending, givenUp, serverRequests, streams, era, sendAfter }: IncomingParts) {
    this.#options = options;
    this.#pending = pending;
    this.#givenUp = givenUp;
    this.#serverRequests = serverRequests;
    this.#streams = streams;
    this.#era = era;
    this.#sendAfter = sendAfter;
  }

  /** Takes a message; false: it answers nothing that waits. What the exchange it belongs to throws is thrown. */
  received(message: RpcMessage, text: string, relatedTo: number | undefined): boolean {
    const { id, method } = message;
    if (method === undefined) return this.#answered(message, text);
    if (typeof method !== 'string') {
      this.#options.log.debug('message that is not JSON-RPC');
    } else if (id === undefined) {
      this.#notified(method, message, text, relatedTo);
    } else {
      this.#serverRequests.received(message, text, relatedTo);
    }
    return true;
  }

  /** The same for a large answer. */
  large(answer: LargeAnswer): boolean {
    const pending = this.#pending.get(answer.id);
    if (pending?.exchange.answeredLarge) {
      this.#pending.take(answer.id);
      this.#serverRequests.ended(answer.id);
      this.#options.requestHistory.answered(pending.exchange.called, pending.wasAsked);
      pending.exchange.answeredLarge(answer);
      return true;
    }
    if (!pending) return this.#answered({ id: answer.id, result: {} }, '{}');
    const { message, text } = answer.read();
    return this.#answered(message, text);
  }

  #answered(message: RpcMessage, text: string): boolean {
    if (message.error !== undefined && this.#isMisunderstood(message)) return true;
    const pending = this.#pending.take(message.id);
    if (pending) {
      this.#serverRequests.ended(message.id as number);
      this.#options.requestHistory.answered(pending.exchange.called, pending.wasAsked);
      pending.exchange.answered(message, text);
      return true;
    }
    const stream = this.#streams.take(message.id);
    if (stream) {
      stream.answered(message, text);
      return true;
    }
    if (!this.#givenUp.answered(message.id)) this.#strayAnswer(message.id);
    return false;
  }

  /** It is left out. A server may send a thousand of them a second, so that the log only counts them. */
  #strayAnswer(id: unknown): void {
    this.#strayAnswers += 1;
    const now = performance.now();
    if (now - this.#strayToldAt < upstreamLimits.strayAnswersMs) return;
    const fields = { answers: this.#strayAnswers, id: JSON.stringify(id)?.slice(0, 100) };
    this.#options.log.warn('answers to no request are left out', fields);
    this.#strayAnswers = 0;
    this.#strayToldAt = now;
  }

  /**
   * Looks at what the stateless revision alone says. True when the request goes out again, because the headers of its
   * tool have changed (2026-07-28, Streamable HTTP, Client behavior).
   */
  #isMisunderstood({ id, error }: RpcMessage): boolean {
    const code = isObject(error) ? error['code'] : undefined;
    if (code !== rpcErrors.headerMismatch && code !== rpcErrors.unsupportedProtocolVersion) return false;
    const pending = this.#pending.get(id);
    if (code === rpcErrors.unsupportedProtocolVersion) {
      if (this.#era.isStateless || !speaksSessions(error)) this.#options.doubted();
    } else if (pending?.headers && !pending.resent) {
      pending.resent = true;
      this.#sendAfter(this.#options.refreshTools(), id as number, pending);
      return true;
    }
    return false;
  }

  #notified(method: string, message: RpcMessage, text: string, relatedTo: number | undefined): void {
    const kind = listChanges.get(method);
    if (kind) return this.#options.listChanged(kind);
    // On whatever stream they come, they speak of no request.
    if (forSubscribers.has(method)) return this.#options.unasked(method, message, text);
    if (method === 'notifications/cancelled') {
      // A server that ends a stream of changes may say so in this way too.
      const { requestId } = isObject(message.params) ? message.params : {};
      const stream = this.#streams.take(requestId);
      return stream ? stream.answered({}, '{}') : this.#serverRequests.cancelled(message.params);
    }
    if (method === 'notifications/subscriptions/acknowledged')
      return this.#streams.of(message, relatedTo)?.notified(method, message, text);
    const isProgress = method === 'notifications/progress' && isObject(message.params);
    const pending = this.#pending.get(isProgress ? message.params['progressToken'] : relatedTo);
    if (!pending) return this.#unattributed(method, message, text);
    if (isProgress) this.#pending.progressed(pending);
    pending.exchange.notified(method, message, text);
  }

  /**
   * What cannot be attributed to exactly one call reaches no caller (DESIGN, the wire). A log message over a pipe that
   * says nothing of relations belongs to the one call there is, if there is one; what no caller may get goes to the
   * server's log.
   */
  #unattributed(method: string, message: RpcMessage, text: string): void {
    if (method !== 'notifications/message') return this.#options.unasked(method, message, text);
    if (!isObject(message.params)) return;
    const only = this.#options.server.transport.type === 'streamable-http' ? undefined : this.#pending.only;
    if (only && this.#givenUp.areAllOf(only.exchange.asker, upstreamLimits.abandonedMs))
      return only.exchange.notified(method, message, text);
    this.#options.unasked(method, message, text);
    const { level, words } = logged(message.params);
    this.#options.log[level](words);
  }
}

const listChanges: ReadonlyMap<string, ItemKind> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/prompts/list_changed', 'prompts'],
  ['notifications/resources/list_changed', 'resources'],
]);

const forSubscribers: ReadonlySet<string> = new Set([
  'notifications/resources/updated',
  'notifications/tasks/status',
  'notifications/tasks',
]);

/** Whether a refusal of the version names one that has sessions. */
function speaksSessions(error: unknown): boolean {
  const data = isObject(error) && isObject(error['data']) ? error['data'] : {};
  const supported = Array.isArray(data['supported']) ? data['supported'] : undefined;
  return supported === undefined || supported.some((version) => sessionRevisions.includes(String(version)));
}

/** Streams of changes that are open (2026-07-28, Subscriptions): requests that are meant to stay unanswered. */
export class ChangeStreams {
  readonly #open = new Map<number, Exchange>();

  add(id: number, exchange: Exchange): void {
    this.#open.set(id, exchange);
  }

  has(id: number): boolean {
    return this.#open.has(id);
  }

  /** False: it is over already. */
  remove(id: number): boolean {
    return this.#open.delete(id);
  }

  /** The stream with this id, which is over with this. */
  take(id: unknown): Exchange | undefined {
    const stream = this.#open.get(Number(id));
    this.#open.delete(Number(id));
    return stream;
  }

  /** The stream that a notification came on, or says it came on. */
  of(message: RpcMessage, relatedTo: number | undefined): Exchange | undefined {
    return this.#open.get(relatedTo ?? subscriptionId(message));
  }

  /** Forgets all streams. Their exchanges are not called any more. */
  clear(): void {
    this.#open.clear();
  }
}

function subscriptionId({ params }: RpcMessage): number {
  const meta = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {};
  return Number(meta[metaKeys.subscriptionId]);
}
