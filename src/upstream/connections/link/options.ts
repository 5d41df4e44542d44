import type { ItemKind } from '../../../core/catalogue.ts';
import type { HubError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import type { RpcMessage } from '../../../core/protocol/rpc.ts';
import type { ServerSettings } from '../../../core/settings/server.ts';
import type { Channel, ChannelEvents, StartProgress } from '../../channels/channel.ts';
import type { Home, ServerRequestHistory } from './server-requests.ts';
import type { Envelope } from './request-writer.ts';

/**
 * A notification of a server that belongs to none of the requests it is working on: who may hear it is for the receiver
 * to know.
 */
export type Unasked = (method: string, message: RpcMessage, text: string) => void;

/** What a link is given: its server, and whom it tells what. */
export interface LinkOptions {
  readonly server: ServerSettings;
  /** Opens the channel of the server's transport. Throws HubError when its settings cannot work. */
  readonly open: (server: ServerSettings, events: ChannelEvents) => Channel;
  readonly log: Logger;
  /** Gives out request ids, never one that `Link.isTaken`. */
  readonly takeId: () => number;
  /** The channel died by itself. Everything in flight has failed with this error. */
  readonly lost: (error: HubError) => void;
  /** How far the start of the server is. */
  readonly progress: (progress: StartProgress) => void;
  readonly listChanged: (kind: ItemKind) => void;
  /** The server said something that belongs to no request. Must be quick. */
  readonly unasked: Unasked;
  /** What requests of the stateless revision carry. */
  readonly envelope: Envelope;
  /** Something the server said does not fit the negotiated revision. */
  readonly doubted: () => void;
  /** Reads the server's tools again: their headers have changed. */
  readonly refreshTools: () => Promise<void>;
  /** Does the handshake again with a server that forgot the session; requests wait for it and are then repeated. */
  readonly renewSession: () => Promise<void>;
  /** Is told in which tools the server sends server requests. */
  readonly requestHistory: ServerRequestHistory;
  /** Takes out of a server's last words what clients must not see. */
  readonly clean: (text: string) => string;
  /** Set where all requests are one client's: takes server requests that come while none of them is on its way. */
  readonly home?: Home | undefined;
}

/** A call in which the server may ask its client something. */
export interface AskableCall {
  /** As `Exchange.called`. */
  readonly called: string;
  /** As `Exchange.asker`. */
  readonly asker: string | undefined;
}
