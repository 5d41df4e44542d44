import type { Principal } from '../../core/access/principal.ts';
import type { HubError } from '../../core/errors.ts';
import type { Views } from '../../core/access/view.ts';
import type { Logger } from '../../core/logger.ts';
import type { ServerRequest } from '../../core/protocol/server-requests.ts';
import type { LargeAnswer } from '../../core/protocol/large-answer.ts';
import type { RpcMessage } from '../../core/protocol/rpc.ts';
import type { RequestFacts } from '../../core/protocol/stateless.ts';
import type { AskableCall } from '../../upstream/connections/link/options.ts';
import type { ConnectionAsker, ConnectionOwner } from '../../upstream/connections/owner.ts';
import type { ServerRequests } from '../server-requests/server-requests.ts';
import type { LogLevels, LoggingConnection } from '../log-levels.ts';
import type { CallRecords } from '../records.ts';
import type { Governance } from './admission.ts';
import type { RunningCalls } from './running-calls.ts';
import type { KeptResults } from '../kept-results.ts';
import type { Tasks } from '../tasks.ts';

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

/** A connection before it is decided whether a call may go through it. */
export interface ServerConnection extends RelayConnection, LoggingConnection {
  readonly status: RelayConnection['status'];
  readonly offer: LoggingConnection['offer'];
  /** Whether requests were given up that the server may still be at work on. */
  readonly hasGivenUp: boolean;
  /** Whether the server asks clients, is at work on something, and would not say for which call it asks. */
  readonly isCrowded: boolean;
}

/** The connections to all servers; `upstream/connections/dedicated-connections.ts` says what these do and throw. */
export interface RelayConnections {
  connection(server: string, asker: ConnectionAsker): ServerConnection | undefined;
  forAsking(
    connection: ServerConnection,
    owner: ConnectionOwner,
    call: AskableCall,
    request: { readonly waits: boolean; readonly chosen: (connection: ServerConnection) => void },
  ): RelayConnection;
  ownerOf(connection: ServerConnection): ConnectionOwner | undefined;
  /** Why the credentials that a caller's calls went with are theirs no more. */
  withoutCredentials(server: string, principal: Principal): HubError | undefined;
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
  readonly called: string | undefined;
}

/** What relaying is given. */
export interface RelayOptions {
  /** What a principal sees now: it may change while a request waits. */
  readonly views: Views;
  readonly connections: RelayConnections;
  readonly records: CallRecords;
  /** Whose task is at which server. */
  readonly tasks: Pick<Tasks, 'learn'>;
  readonly logLevels: Pick<LogLevels, 'need'>;
  /** Server requests to clients in the middle of their calls. */
  readonly serverRequests: ServerRequests;
  readonly running: Pick<RunningCalls, 'add' | 'delete'>;
  readonly governance: Governance;
  readonly results: Pick<KeptResults, 'limit' | 'shortened'>;
  readonly log: Logger;
}
