import { randomInt } from 'node:crypto';
import type { ClientCapabilities } from '../../core/protocol/server-requests.ts';
import type { Item, Offer } from '../../core/catalogue.ts';
import type { Logger } from '../../core/logger.ts';
import type { EndedSession } from '../../core/tracing.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Channel, ChannelEvents } from '../channels/channel.ts';
import type { EraMemory } from './eras/era.ts';
import type { Home, ServerRequestHistory } from './link/server-requests.ts';
import type { Unasked } from './link/options.ts';
import type { StartSemaphore } from './start-semaphore.ts';

/** What a connection is given. */
export interface ConnectionOptions {
  readonly server: ServerSettings;
  /** Opens the channel of the server's transport. Throws HubError when its settings cannot work. */
  readonly open: (server: ServerSettings, events: ChannelEvents) => Channel;
  /** Before each time that a channel is opened. */
  readonly load?: ((server: ServerSettings) => Promise<void>) | undefined;
  readonly version: string;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly slots: StartSemaphore;
  readonly log: Logger;
  /** The status or the offer is not what it was. Called from inside events: raise a flag and return. */
  readonly changed: () => void;
  /** The server said something that belongs to no request. Must be quick. */
  readonly unasked?: Unasked | undefined;
  /** False: what the server offers is not asked for, another connection knows it. */
  readonly lists?: boolean;
  /** The tools that other connection knows. */
  readonly knownTools?: (() => readonly Item[]) | undefined;
  /** Of several who speak with one program, this one: the ids of requests differ in the remainder. */
  readonly requestIds?: { readonly of: number; readonly remainder: number } | undefined;
  /** How servers were spoken to before. */
  readonly eras?: EraMemory | undefined;
  /** Takes secrets out of what a server says of its own failure, before it is shown or logged. */
  readonly clean?: ((text: string) => string) | undefined;
  /** What the server may ask of clients; of all that share the connection unless it says otherwise. */
  readonly abilities?: ClientCapabilities | undefined;
  /** In which tools the server sends server requests, as another connection to it learned it. */
  readonly requestHistory?: ServerRequestHistory;
  /** Set where the connection is one client's alone. */
  readonly home?: Home | undefined;
  /** The server starts on demand, and is stopped when it was not used for so long; undefined: it runs always. */
  readonly idleMs?: number | undefined;
  /** What it offered when it last ran. */
  readonly known?: Offer | undefined;
  /** A session with the server is over, after so many milliseconds. Servers of 2026-07-28 have none. */
  readonly sessionEnded?: ((session: EndedSession, ms: number) => void) | undefined;
  /** The server keeps something that a client still wants, though nothing is under way. */
  readonly inUse?: (() => boolean) | undefined;
  /**
   * The end of an earlier connection to the same server: two at once would fight over its port, its profile folder or
   * its lock.
   */
  readonly after?: Promise<void> | undefined;
}

/** An id that no other request of the program has, as far as several who speak with it go. Above 0, within 31 bits. */
export function newRequestId({ of, remainder }: ConnectionOptions['requestIds'] = { of: 1, remainder: 0 }): number {
  return randomInt(1, Math.floor(2 ** 31 / of)) * of + remainder;
}
