import { isObject, type RpcMessage } from '../../../core/protocol/rpc.ts';
import { metaKeys } from '../../../core/protocol/stateless.ts';
import type { Exchange } from '../exchange.ts';

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
