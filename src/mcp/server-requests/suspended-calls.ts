import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ServerRequestRefusal, ServerRequest } from '../../core/protocol/server-requests.ts';
import { type Edits, editObject, memberText } from '../../core/json/text.ts';
import { principalId } from '../../core/access/principal.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Target } from '../../core/access/view.ts';
import { mcpLimits } from '../limits.ts';
import type { ClientRequest } from '../request.ts';
import { badState, type RequestStates, type StateContent } from './request-state.ts';

/**
 * What is needed of a call to let it wait at its server while its client, which answers no requests, is away to get the
 * answers.
 */
export interface SuspendableCall {
  /** The client's request that is answered next; another one after each round. */
  readonly request: ClientRequest;
  readonly target: Target;
  /** What a person is, or was, asked before it; undefined for a call that no one is asked about. */
  readonly needsYes: string | undefined;
  /** Answers the request with this result. The call goes on without one. */
  suspend(result: string): void;
  /** The client is back with another request. */
  resume(request: ClientRequest): void;
  cancel(reason: string): void;
}

/** The server requests and the end of a suspended call. */
export interface SuspendedCall {
  /** The server asks this. The client gets it together with what else is asked at the same moment. */
  add(ask: ServerRequest): void;
  /**
   * The server asks what this client cannot be asked. The server is told so after the client has answered the other
   * requests, so that this one does not end the others.
   */
  addUnable(ask: ServerRequest, refusal: ServerRequestRefusal): void;
  /** The call is over. `tell` is what its client is to be told: now, or when it comes back. */
  over(tell: () => void): void;
}

/**
 * The calls of stateless clients at servers that ask in the middle of them (DESIGN, Asks): the call stays open at the
 * server, the client gets `input_required` and a `requestState` that can be used once, by the principal that got it,
 * and comes back with the answers. Bounded in number and time.
 */
export interface SuspendedCalls {
  /** Undefined when a limit is reached. */
  open(call: SuspendableCall): SuspendedCall | undefined;
  /**
   * Goes on with a suspended call. Throws HubError `invalid_input`, and what `check` throws of the call, before
   * anything is delivered: its client may come back again.
   */
  resume(
    state: StateContent & { kind: 'parked' },
    request: ClientRequest,
    check: (call: SuspendableCall) => void,
  ): void;
  readonly size: number;
}

export interface SuspendedCallLimits {
  readonly total: number;
  readonly perPrincipal: number;
  /** What all of them together may hold. */
  readonly chars: number;
  /** How long a client may stay away. */
  readonly awayMs: number;
  readonly gatherMs: number;
}

const defaults: SuspendedCallLimits = {
  total: mcpLimits.suspendedCalls,
  perPrincipal: mcpLimits.suspendedPerPrincipal,
  chars: mcpLimits.suspendedChars,
  awayMs: mcpLimits.askMs,
  get gatherMs() {
    return mcpLimits.askGatherMs;
  },
};

export function createSuspendedCalls(states: RequestStates, bounds: SuspendedCallLimits = defaults): SuspendedCalls {
  const suspended = new Map<string, Suspended>();
  return {
    open(call) {
      const id = principalId(call.request.principal);
      let own = 0;
      let chars = charsOf(call);
      for (const { call } of suspended.values()) {
        if (principalId(call.request.principal) === id) own++;
        chars += charsOf(call);
      }
      if (suspended.size >= bounds.total || own >= bounds.perPrincipal || chars > bounds.chars) return undefined;
      const one = new Suspended(call, states, bounds, (gone) => suspended.delete(gone));
      suspended.set(one.id, one);
      return one;
    },
    resume({ id, use }, request, check) {
      const one = suspended.get(id);
      if (!one) throw badState();
      one.resume(use, request, check);
    },
    get size() {
      return suspended.size;
    },
  };
}

class Suspended implements SuspendedCall {
  readonly id = randomUUID();
  readonly call: SuspendableCall;
  readonly #states: RequestStates;
  readonly #bounds: SuspendedCallLimits;
  readonly #gone: (id: string) => void;
  /** What waits for an answer, by the key the client knows it by. */
  readonly #serverRequests = new Map<string, ServerRequest>();
  #unable: { readonly ask: ServerRequest; readonly refusal: ServerRequestRefusal }[] = [];
  #lastKey = 0;
  /** What of it the client has seen. */
  #shown: readonly string[] = [];
  /** The one use of the state that the client was given; undefined while the client is here. */
  #use: string | undefined;
  /** What the client is told when it comes back: the call ended without it. */
  #told: (() => void) | undefined;
  #over = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: SuspendableCall, states: RequestStates, bounds: SuspendedCallLimits, gone: (id: string) => void) {
    this.call = call;
    this.#states = states;
    this.#bounds = bounds;
    this.#gone = gone;
  }

  add(ask: ServerRequest): void {
    const key = `${ask.method.split('/')[0]}-${++this.#lastKey}`;
    this.#serverRequests.set(key, ask);
    ask.withdrawn = () => this.#serverRequests.delete(key);
    if (this.#use === undefined) this.#gather();
  }

  addUnable(ask: ServerRequest, refusal: ServerRequestRefusal): void {
    const one = { ask, refusal };
    this.#unable.push(one);
    ask.withdrawn = () => void (this.#unable = this.#unable.filter((other) => other !== one));
    if (this.#use === undefined) this.#gather();
  }

  over(tell: () => void): void {
    this.#over = true;
    if (this.#use === undefined) {
      this.#end();
      tell();
    } else {
      this.#told = tell;
    }
  }

  /** `use`: the one that the client's state names. Throws HubError `invalid_input`, and what `check` throws. */
  resume(use: string, request: ClientRequest, check: (call: SuspendableCall) => void): void {
    if (use !== this.#use || !isDeepStrictEqual(argumentsOf(request), argumentsOf(this.call.request))) throw badState();
    check(this.call);
    const { parsed, text } = responsesOf(request);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#use = undefined;
    // The arguments as they were read, decided about and approved: another text of the same may be read in another way.
    const first = memberText(this.call.request.params ?? '{}', 'arguments') ?? null;
    this.call.resume({ ...request, params: editObject(request.params ?? '{}', { arguments: first }) });
    if (this.#told) {
      this.#end();
      return this.#told();
    }
    for (const key of this.#shown) {
      const ask = this.#serverRequests.get(key);
      const answer = Object.hasOwn(parsed, key) && isObject(parsed[key]) ? memberText(text, key) : undefined;
      if (!ask || answer === undefined) continue;
      this.#serverRequests.delete(key);
      ask.answer('result', answer);
    }
    this.#refuseUnable();
    // What was not answered, and what came meanwhile, is asked (again).
    if (this.#serverRequests.size > 0) this.#gather();
  }

  #gather(): void {
    this.#timer ??= setTimeout(() => this.#suspend(), this.#bounds.gatherMs);
  }

  #suspend(): void {
    this.#timer = undefined;
    if (this.#over) return;
    if (this.#serverRequests.size === 0) return this.#refuseUnable();
    const { call } = this;
    const { awayMs } = this.#bounds;
    this.#use = randomUUID();
    this.#timer = setTimeout(() => this.#expire(), awayMs).unref();
    this.#shown = [...this.#serverRequests.keys()];
    const content = { kind: 'parked', id: this.id, use: this.#use } as const;
    const state = this.#states.seal(call.request, call.target, content, awayMs);
    call.suspend(
      inputRequired(
        [...this.#serverRequests].map(([key, ask]) => [key, requestText(ask)]),
        state,
      ),
    );
  }

  #refuseUnable(): void {
    for (const { ask, refusal } of this.#unable.splice(0)) ask.refuse(refusal);
  }

  #expire(): void {
    this.#use = undefined;
    this.#end();
    if (this.#told) this.#told();
    else this.call.cancel('the client did not come back with its answers');
  }

  #end(): void {
    this.#refuseUnable();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#gone(this.id);
  }
}

/** An `input_required` result. `requests`: keys and the requests as JSON text. */
export function inputRequired(requests: readonly (readonly [string, string])[], state: string | undefined): string {
  const asked = requests.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',');
  const tail = state === undefined ? '' : `,"requestState":${JSON.stringify(state)}`;
  return `{"resultType":"input_required","inputRequests":{${asked}}${tail}}`;
}

/**
 * A server request as the stateless revision writes it: without what only a request of its own can have, its progress
 * token and the id of its elicitation.
 */
function requestText({ method, params, paramsText }: ServerRequest): string {
  if (paramsText === undefined) return `{"method":"${method}"}`;
  const meta = isObject(params['_meta']) ? memberText(paramsText, '_meta') : undefined;
  const edits: Edits = {
    elicitationId: null,
    ...(meta !== undefined && { _meta: editObject(meta, { progressToken: null }) }),
  };
  return `{"method":"${method}","params":${editObject(paramsText, edits)}}`;
}

function charsOf({ request }: SuspendableCall): number {
  return request.params?.length ?? 0;
}

/** What makes a retry the same call as the one before; its target is bound by the state. */
function argumentsOf({ message }: ClientRequest): unknown {
  return isObject(message.params) ? (message.params['arguments'] ?? {}) : {};
}

function responsesOf({ message, params = '{}' }: ClientRequest): { parsed: Record<string, unknown>; text: string } {
  const parsed = isObject(message.params) ? message.params['inputResponses'] : undefined;
  return isObject(parsed) ? { parsed, text: memberText(params, 'inputResponses') ?? '{}' } : { parsed: {}, text: '{}' };
}
