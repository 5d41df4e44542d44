import {
  type ServerRequestRefusal,
  isServerRequestMethod,
  relatedTask,
  type ServerRequest,
} from '../../../core/protocol/server-requests.ts';
import { memberText } from '../../../core/json/text.ts';
import type { Logger } from '../../../core/logger.ts';
import { errorResponseText, isObject, resultText, type RpcMessage, rpcErrors } from '../../../core/protocol/rpc.ts';
import { upstreamLimits } from '../../limits.ts';
import type { AbandonedRequests, Pending, PendingTable } from './pending.ts';
import { oneLine } from '../../channels/messages.ts';

/**
 * Takes a server request that belongs to none of the client's calls, on a connection that belongs to one client alone.
 */
export type Home = (ask: ServerRequest) => void;

export interface ServerRequestsOptions {
  readonly server: string;
  readonly pending: PendingTable;
  readonly givenUp: AbandonedRequests;
  readonly requestHistory: ServerRequestHistory;
  readonly log: Logger;
  /** Sends a message to the server, given as JSON text. */
  readonly write: (text: string) => void;
  /** Set where all requests of the connection are one client's. */
  readonly home: Home | undefined;
  /**
   * True where a stream besides the responses carries what the server says unasked: what comes there may belong to no
   * call at all.
   */
  readonly ownStream: boolean;
}

interface Open {
  readonly ask: ServerRequest;
  /**
   * The requests that it may belong to, all of one client; it ends with the last of them. Undefined where it is the
   * client's as such.
   */
  readonly holders: Set<number> | undefined;
  readonly chars: number;
}

/**
 * The requests that one server makes of clients: to whose call each belongs, and how the answer gets back. A client
 * that is not certainly meant never gets it (DESIGN, the wire): a form shown to the wrong person is worse than one that
 * is not shown.
 */
export class ServerRequests {
  readonly #options: ServerRequestsOptions;
  readonly #open = new Map<string, Open>();
  /** Characters of all that is open. */
  #chars = 0;
  /**
   * A server request that reaches no client is logged for the operator once; a server may send a thousand of them a
   * second.
   */
  #warned = false;

  constructor(options: ServerRequestsOptions) {
    this.#options = options;
  }

  /** `relatedTo`: the request whose own response stream carried it. */
  received(message: RpcMessage, text: string, relatedTo: number | undefined): void {
    const { method } = message;
    // As the server wrote it: a number may be longer than a parsed one can be.
    const id = memberText(text, 'id') ?? 'null';
    if (method === 'ping') return this.#options.write(resultText(id, '{}'));
    if (!isServerRequestMethod(method)) {
      const words = `Method not found: ${String(method).slice(0, 100)}`;
      return this.#options.write(errorResponseText(id, rpcErrors.methodNotFound, words));
    }
    // Most servers ask for roots at any time, and do without.
    if (method !== 'roots/list') this.#learn(message.params, relatedTo);
    const refuse = ({ code, message }: ServerRequestRefusal): void =>
      this.#options.write(errorResponseText(id, code, message));
    // Of two with the same id the answer to one would be taken for the other's.
    if (this.#open.has(keyOf(message.id))) return refuse(unknown('The id of this request is in use.'));
    if (
      this.#open.size >= upstreamLimits.serverRequestsPerConnection ||
      this.#chars + text.length > upstreamLimits.serverRequestsChars
    )
      return refuse(unknown('Too many requests of this server wait for an answer.'));
    // Servers ask for the folders of their client as soon as they are connected. Where no client is there, there are
    // none.
    if (method === 'roots/list' && !this.#options.home && this.#calls().length === 0)
      return this.#options.write(resultText(id, '{"roots":[]}'));
    const found = this.#find(message, relatedTo);
    if (typeof found === 'string') {
      this.#tell(method, found);
      return refuse(unknown(found));
    }
    const params = isObject(message.params) ? message.params : {};
    const parsed = { server: this.#options.server, method, params, paramsText: memberText(text, 'params') };
    const ask = this.#openAsk(id, keyOf(message.id), { ...parsed, chars: text.length }, found);
    const newest = found.at(-1);
    if (newest) newest.pending.exchange.asked?.(ask);
    else if (this.#options.home) this.#options.home(ask);
  }

  /** The server sent `notifications/cancelled`. */
  cancelled(params: unknown): void {
    const { requestId, reason } = isObject(params) ? params : {};
    const key = keyOf(requestId);
    const open = this.#open.get(key);
    if (!open) return;
    this.#close(key, open);
    open.ask.withdrawn?.(typeof reason === 'string' ? reason.slice(0, 500) : 'cancelled by the server');
  }

  /** Whether a call on its way waits for the answers of its client. */
  get holdsCalls(): boolean {
    return [...this.#open.values()].some(({ holders }) => holders !== undefined && holders.size > 0);
  }

  /** A request was answered, or failed: what the server asked in the middle of it is of no use any more. */
  ended(id: number): void {
    if (this.#open.size === 0) return;
    for (const open of this.#open.values()) {
      if (!open.holders?.delete(id) || open.holders.size > 0) continue;
      open.ask.refuse(unknown('The call that this belongs to is over.'));
      open.ask.withdrawn?.('the call is over');
    }
  }

  /** The channel is gone, or the server has forgotten us: its server requests need no answer any more. */
  forget(): void {
    for (const [key, open] of this.#open) {
      this.#close(key, open);
      open.ask.withdrawn?.('the server is gone');
    }
  }

  /**
   * The requests it may belong to, all of one client, oldest first; none for a client as such; or why it cannot be
   * told.
   */
  #find(message: RpcMessage, relatedTo: number | undefined): Candidate[] | string {
    const calls = this.#calls();
    const said = saidCall(calls, message.params, relatedTo);
    if (said) return said.call ? [said.call] : ofNoCall;
    // Which folders a client has is no question of a call: it does not end with the one that happens to be on its way.
    if (this.#options.home) return message.method === 'roots/list' ? [] : calls;
    if (calls.length === 0) return 'No client has a call on its way to which it could belong.';
    // Servers keep the answer to this one for later clients, and ask for it at any time.
    if (message.method === 'roots/list' && this.#options.ownStream) return notCertain;
    return this.#oneAsker(calls) ? calls : notCertain;
  }

  /** Remembers in which tools the server asks, as far as that can be told. */
  #learn(params: unknown, relatedTo: number | undefined): void {
    const { requestHistory, givenUp, ownStream } = this.#options;
    const calls = this.#calls();
    const said = saidCall(calls, params, relatedTo);
    const possible = said ? (said.call ? [said.call] : []) : calls;
    for (const { pending } of possible) pending.wasAsked = true;
    const isCertain = said !== undefined || (calls.length === 1 && givenUp.isEmpty && !ownStream);
    // A call that waits for an answer of its client does not ask again meanwhile, as a rule.
    const working = possible.filter(({ pending }) => pending.serverRequests === 0);
    const likely = working.length > 0 ? working : possible;
    requestHistory.asked(
      likely.flatMap(({ pending }) => pending.exchange.called ?? []),
      isCertain,
    );
  }

  /** A warning only where a call that is on its way goes without what it asked for. */
  #tell(method: string, reason: string): void {
    const harm = !this.#warned && this.#calls().length > 0;
    this.#options.log[harm ? 'warn' : 'debug']('request of the server not delivered', { method, reason });
    if (harm) this.#warned = true;
  }

  /** The requests on their way whose client can be asked. */
  #calls(): Candidate[] {
    return [...this.#options.pending].flatMap(([id, pending]) => (pending.exchange.asked ? [{ id, pending }] : []));
  }

  /** True when all that the server may be at work on is one call, or one client's. */
  #oneAsker([first, ...others]: readonly Candidate[]): boolean {
    if (!first || !this.#options.givenUp.areAllOf(first.pending.exchange.asker)) return false;
    const { asker } = first.pending.exchange;
    return others.every(({ pending }) => asker !== undefined && pending.exchange.asker === asker);
  }

  #openAsk(
    id: string,
    key: string,
    {
      chars,
      ...parsed
    }: Pick<ServerRequest, 'server' | 'method' | 'params' | 'paramsText'> & { readonly chars: number },
    candidates: readonly Candidate[],
  ): ServerRequest {
    const { write } = this.#options;
    const close = (): boolean => {
      const open = this.#open.get(key);
      return open?.ask === ask && this.#close(key, open);
    };
    const ask: ServerRequest = {
      ...parsed,
      answer(member, text) {
        if (close()) write(`{"jsonrpc":"2.0","id":${id},"${member}":${oneLine(text)}}`);
      },
      refuse({ code, message }) {
        if (close()) write(errorResponseText(id, code, message));
      },
      progressed: (params) => {
        if (this.#open.get(key)?.ask === ask)
          write(`{"jsonrpc":"2.0","method":"notifications/progress","params":${oneLine(params)}}`);
      },
      withdrawn: undefined,
    };
    const ids = candidates.map(({ id }) => id);
    this.#open.set(key, { ask, holders: ids.length > 0 ? new Set(ids) : undefined, chars });
    this.#chars += chars;
    for (const candidate of ids) this.#options.pending.hold(candidate);
    return ask;
  }

  /** Takes it out, and lets the deadlines of its calls go on. */
  #close(key: string, { holders, chars }: Open): true {
    this.#open.delete(key);
    this.#chars -= chars;
    for (const id of holders ?? []) this.#options.pending.release(id);
    return true;
  }
}

interface Candidate {
  readonly id: number;
  readonly pending: Pending;
}

/** The call that a server request says it belongs to, which may be over; undefined when it says none. */
function saidCall(
  calls: readonly Candidate[],
  params: unknown,
  relatedTo: number | undefined,
): { readonly call: Candidate | undefined } | undefined {
  const task = relatedTask(params);
  if (relatedTo === undefined && task === undefined) return undefined;
  const call =
    calls.find(({ id }) => id === relatedTo) ??
    calls.find(({ pending }) => task !== undefined && pending.exchange.task === task);
  return { call };
}

const notCertain =
  'Nothing in it says to which of several calls it belongs. A server is understood when it asks on the response stream of the call (streamable HTTP), ' +
  'and when each client has a connection of its own ("perSessionClient": true).';

const ofNoCall = 'It belongs to a call that is over, or to none of a client.';

function unknown(message: string): ServerRequestRefusal {
  return { code: rpcErrors.internal, message };
}

/** Servers spell the same id in several ways. */
function keyOf(id: unknown): string {
  return JSON.stringify(id) ?? '';
}

/** What is known of a tool: it certainly asked; it, or another one, asked; it was answered without a question. */
type Seen = 'asks' | 'perhaps' | 'quiet';

/**
 * The tools and prompts of a server in whose calls it has sent requests to the client (elicitation, sampling). A server
 * does not say so itself, so this is learned from calls. Below, `tool` stands for either (`Exchange.called`).
 */
export class ServerRequestHistory {
  readonly #tools = new Map<string, Seen>();
  #hasAsked = false;
  #answered = 0;

  /** The server asked while these tools ran. `isCertain`: it was in these. */
  asked(tools: readonly string[], isCertain: boolean): void {
    this.#hasAsked = true;
    // Where one of them is known to ask, those that are known not to ask stay so.
    const isExplained = tools.some((tool) => this.#tools.get(tool) === 'asks');
    for (const tool of tools) {
      const seen = this.#tools.get(tool);
      if (isCertain) this.#note(tool, 'asks');
      else if (seen === undefined || (seen === 'quiet' && !isExplained)) this.#note(tool, 'perhaps');
    }
  }

  /** A call was answered. `wasAsked`: the server asked something while it ran that may belong to it. */
  answered(tool: string | undefined, wasAsked: boolean): void {
    if (tool === undefined || wasAsked) return;
    const seen = this.#tools.get(tool);
    if (seen === 'quiet' || seen === 'asks') return;
    if (seen === undefined) this.#answered += 1;
    this.#note(tool, 'quiet');
  }

  /** Whether the server has ever asked. */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  /** Whether it has asked while this tool ran, and the tool was not answered without a question since. */
  hasAskedIn(tool: string): boolean {
    const seen = this.#tools.get(tool);
    return seen === 'asks' || seen === 'perhaps';
  }

  /**
   * Whether a call of this tool may ask. Of a tool that never ran: unless the server has many others, and none of them
   * asked.
   */
  mayAsk(tool: string): boolean {
    const seen = this.#tools.get(tool);
    return seen === undefined ? this.#hasAsked || this.#answered < upstreamLimits.quietTools : seen !== 'quiet';
  }

  #note(tool: string, seen: Seen): void {
    if (this.#tools.size < upstreamLimits.askingTools || this.#tools.has(tool)) this.#tools.set(tool, seen);
  }
}
