import { type RequestFacts, statelessRevision } from '../../../core/protocol/stateless.ts';
import { oneLine } from '../../channels/messages.ts';
import type { Envelope } from './envelope.ts';
import type { Pending } from './pending.ts';

/** A request before it is written: `params` is JSON text. */
export interface ToSend {
  readonly method: string;
  readonly params: string | undefined;
  readonly facts: RequestFacts;
}

/** What of it stays until it is answered. */
export type Written = Pick<Pending, 'text' | 'headers'>;

/** Writes requests as the era of the server wants them. */
export class RequestWriter {
  /** The negotiation found a server without sessions. */
  isStateless = false;
  readonly hasHeaders: boolean;
  readonly #envelope: Envelope;

  /** `hasHeaders`: what is sent may have headers of its own. */
  constructor(envelope: Envelope, hasHeaders: boolean) {
    this.#envelope = envelope;
    this.hasHeaders = hasHeaders;
  }

  /** Before the era is known, only the request that asks for it is sent in the newer way. */
  write(id: number, { method, params, facts }: ToSend): Written {
    if (!this.isStateless && method !== 'server/discover')
      return { text: requestText(id, method, params), headers: undefined };
    const envelope = this.#envelope;
    const text = requestText(id, method, envelope.params(params, facts));
    if (!this.hasHeaders) return { text, headers: undefined };
    const version = this.isStateless ? [] : ['mcp-protocol-version', statelessRevision];
    return { text, headers: () => [...version, ...envelope.headers(method, params, facts)] };
  }
}

function requestText(id: number, method: string, params: string | undefined): string {
  const tail = params === undefined ? '' : `,"params":${oneLine(params)}`;
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${tail}}`;
}
