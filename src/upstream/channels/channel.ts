import { HubError } from '../../core/errors.ts';
import type { LargeAnswer } from '../../core/protocol/large-answer.ts';
import type { RpcMessage } from '../../core/protocol/rpc.ts';
import type { Reason } from '../../core/reasons.ts';

/**
 * One transport's pipe of JSON-RPC messages to one server: stdio, streamable HTTP, legacy SSE. A channel knows framing
 * and nothing of MCP beyond what its transport demands. It is opened by its factory, which returns at once; what goes
 * wrong later comes as an event. Events are delivered in the order the bytes arrived, never after `closed`, and never
 * from inside `send` or the factory.
 */
export interface Channel {
  /**
   * Absent where the handshake with the server can begin at once. Otherwise resolves when it may begin: with true when
   * the server's own program is known to run, with false when that is not known and it may still be installing.
   */
  readonly launched?: Promise<boolean>;
  /**
   * Sends one message, given as JSON text without line breaks. A request names its id, so that the answer's stream and
   * a transport failure can be told to belong to it. `headers` (names and values in turn) go out with it where the
   * transport has headers. Throws HubError `upstream_unavailable` when the channel is closed or its backlog is full.
   */
  send(text: string, requestId?: number, headers?: readonly string[]): void;
  /**
   * The caller does not wait for this request any more: its HTTP exchange, if it has one of its own, is ended. The id
   * is not reported again.
   */
  abandon(requestId: number): void;
  /**
   * The handshake is over: from now on send this protocol version along, and open the stream for what the server says
   * unasked.
   */
  ready(protocolVersion: string): void;
  /**
   * Forget the transport's session (after `failed` with `sessionLost`) and protocol version, so that the protocol can
   * be negotiated again.
   */
  forgetSession(): void;
  /** Whether calls that came through other channels to the same program were given up and may still be on. */
  readonly isContested?: boolean;
  /** Reads no message until `resume`: what the server says waits at the server. Absent where that cannot be done. */
  pause?(): void;
  resume?(): void;
  /** Absent where a channel hears nothing but messages. */
  printed?(): Printed;
  /** Closes in order: end the session or stdin, wait, kill. Idempotent. `closed` is not emitted for it. */
  close(): Promise<void>;
}

/** What a program printed besides messages. */
export interface Printed {
  /** The first line on stdout that is no message; empty when there is none. */
  readonly stray: string;
  /** The last lines on stderr, without what says nothing of a failure. */
  readonly output: string;
  /** The one of them that says most; empty when there is none. */
  readonly line: string;
  /** What they say is wrong, where it is known. */
  readonly reason: Reason | undefined;
}

/**
 * How far a start is: the package is being installed, the program is starting, it has written something and the
 * handshake is under way.
 */
export type StartPhase = 'installing' | 'starting' | 'handshake';

export interface StartProgress {
  readonly phase: StartPhase;
  /** Other starts come first. */
  readonly isWaiting?: boolean;
  /** The program runs, so the limit for connecting counts. */
  readonly isRunning?: boolean;
}

export interface ChannelEvents {
  /**
   * A message arrived. `text` is its exact JSON text. `relatedTo` is the id of the request whose own response stream
   * carried it (HTTP only): the only proof that a message without a progress token belongs to one call. False: it
   * answers nothing that waits.
   */
  message(message: RpcMessage, text: string, relatedTo?: number): boolean;
  /** The same for a response whose result is too large for a text. */
  large(answer: LargeAnswer): boolean;
  /**
   * This one request failed in transport; the channel stays open. `sessionLost`: the server refused it unread because
   * it no longer knows our session.
   */
  failed(requestId: number, error: HubError, sessionLost: boolean): void;
  /** How far the start of the server is; may come many times until the handshake is done. */
  progress?(progress: StartProgress): void;
  /** The channel is dead (process ended, stream refused). Every request without an answer has failed with it. */
  closed(error: HubError): void;
}

/**
 * A channel that could not even be opened: it reports why, once, and refuses everything from then on. So factories
 * neither throw nor report before they have returned, and what is sent until then fails with the reason itself.
 */
export function deadChannel(name: string, reason: Promise<HubError>, events: ChannelEvents): Channel {
  let closed = false;
  let reported = false;
  void reason.then((error) => {
    setImmediate(() => {
      reported = true;
      if (!closed) events.closed(error);
    });
  });
  return {
    send() {
      if (reported) throw new HubError('upstream_unavailable', `Server "${name}" is not running.`);
    },
    abandon() {},
    ready() {},
    forgetSession() {},
    async close() {
      closed = true;
    },
  };
}
