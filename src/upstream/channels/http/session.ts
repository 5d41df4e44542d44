import type { Logger } from '../../../core/logger.ts';
import type { ChannelEvents } from '../channel.ts';
import { header } from '../http-errors.ts';
import type { ResponseHeaders } from '../http-errors.ts';
import type { Remote } from './remote.ts';

/** What the exchanges of one streamable HTTP channel share. */
export class HttpSession {
  readonly name: string;
  readonly remote: Remote;
  readonly maxMessageBytes: number;
  readonly log: Logger;
  readonly events: ChannelEvents;
  /** Nothing is reported any more. */
  closed = false;
  /** Characters of messages that the server has not begun to answer. */
  backlog = 0;
  #id: string | undefined;
  #protocolVersion: string | undefined;
  #common: readonly string[] = [];
  #post: string[] = [];

  constructor(
    { name, maxMessageBytes, log }: { readonly name: string; readonly maxMessageBytes: number; readonly log: Logger },
    remote: Remote,
    events: ChannelEvents,
  ) {
    this.name = name;
    this.remote = remote;
    this.maxMessageBytes = maxMessageBytes;
    this.log = log;
    this.events = events;
    this.#build();
  }

  /** `Mcp-Session-Id`, when the server gave one. */
  get id(): string | undefined {
    return this.#id;
  }

  set protocolVersion(version: string | undefined) {
    this.#protocolVersion = version;
    this.#build();
  }

  /**
   * Headers of a POST, with those of this message alone; what is common is built when something changes and not for
   * each call.
   */
  postHeaders(own?: readonly string[]): string[] {
    return own ? [...this.#post, ...own] : this.#post;
  }

  /** Headers of a GET for an event stream, or of the DELETE that ends the session. */
  streamHeaders(lastEventId?: string): string[] {
    const headers = ['accept', 'text/event-stream', ...this.#common];
    if (lastEventId !== undefined) headers.push('last-event-id', lastEventId);
    return headers;
  }

  /**
   * Takes over the id the server gave with the answer to `initialize`. Only a request that was sent without one can be
   * that: the late answer to a call of a session that is over brings the old id.
   */
  learnId(headers: ResponseHeaders, sentWith: string | undefined): void {
    if (sentWith !== undefined || this.#id !== undefined) return;
    const id = header(headers, 'mcp-session-id');
    if (id === undefined) return;
    if (!/^[\x21-\x7e]{1,4096}$/.test(id)) {
      this.log.warn(`Server "${this.name}" gave a session id that no header can carry; going on without.`);
      return;
    }
    this.#id = id;
    this.#build();
  }

  forget(): void {
    this.#id = undefined;
    this.#protocolVersion = undefined;
    this.#build();
  }

  #build(): void {
    const common = [...this.remote.headers];
    if (this.#id !== undefined) common.push('mcp-session-id', this.#id);
    if (this.#protocolVersion !== undefined) common.push('mcp-protocol-version', this.#protocolVersion);
    this.#common = common;
    this.#post = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream', ...common];
  }
}
