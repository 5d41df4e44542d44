import { sharedCapabilities } from '../../core/protocol/server-requests.ts';
import type { ItemKind, Offer, ServerAbout } from '../../core/catalogue.ts';
import type { ConnectionOptions } from './options.ts';
import type { Eras } from './eras/era.ts';
import { initialize } from './eras/initialize.ts';
import { negotiate } from './eras/negotiate.ts';
import type { Link } from './link/link.ts';
import { Listener } from './offer/listener.ts';
import { readOffer } from './offer/read-offer.ts';

export type HandshakeOptions = Pick<ConnectionOptions, 'server' | 'version' | 'abilities' | 'lists' | 'log'> & {
  readonly eras: Eras;
  /** The server has answered who it is. */
  readonly negotiated: () => void;
  /** The stream of changes of a server without sessions, before it is opened: code that drops the link stops it. */
  readonly listening: (listener: Listener) => void;
  /** A list may have changed unheard. */
  readonly missed: (kind: ItemKind) => void;
};

/**
 * What is said over a new link before other requests may use it: how the server is spoken to, who both are, and all
 * that it offers. `deadline`s are on the clock of `performance.now()`.
 */
export class Handshake {
  readonly #options: HandshakeOptions;

  constructor(options: HandshakeOptions) {
    this.#options = options;
  }

  /** Negotiates the protocol with the server, and reads what it offers, all pages of all lists. Throws HubError. */
  async begin(link: Link, deadline: number): Promise<Offer> {
    const { server, eras } = this.#options;
    const { about, era } = await negotiate(link, eras, {
      server: server.name,
      handshake: (timeoutMs) => this.#handshake(link, timeoutMs),
      deadline,
      separate: server.transport.type !== 'stdio',
    });
    link.ready(about.protocolVersion);
    this.#options.negotiated();
    // Before anything is listed.
    if (era === 'stateless') await this.#listen(link, about);
    else link.notify('notifications/initialized', undefined);
    return this.#read(link, about, deadline);
  }

  /** The same with a server that has forgotten the session. Throws HubError. */
  async again(link: Link, timeoutMs: number): Promise<Offer> {
    const deadline = performance.now() + timeoutMs;
    const about = await this.#handshake(link, timeoutMs);
    link.ready(about.protocolVersion);
    link.notify('notifications/initialized', undefined);
    return this.#read(link, about, deadline);
  }

  #handshake(link: Link, timeoutMs: number): Promise<ServerAbout> {
    const { version, abilities = sharedCapabilities } = this.#options;
    return initialize(link.ask, version, abilities, timeoutMs);
  }

  #listen(link: Link, about: ServerAbout): Promise<void> {
    const { server, lists, log, missed, listening } = this.#options;
    const listener = new Listener({ server: server.name, link, about, lists: lists !== false, log, missed });
    listening(listener);
    return listener.start();
  }

  #read(link: Link, about: ServerAbout, deadline: number): Promise<Offer> {
    const { server, lists, log } = this.#options;
    return readOffer(link, about, { server: server.name, lists: lists !== false, log, deadline });
  }
}
