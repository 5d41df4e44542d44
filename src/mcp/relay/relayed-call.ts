import {
  bothCapabilities,
  missingFor,
  type ServerRequest,
  unsupportedRefusal,
} from '../../core/protocol/server-requests.ts';
import { errorText, HubError } from '../../core/errors.ts';
import type { LargeText } from '../../core/json/large-text.ts';
import { type Edits, editObject, memberText } from '../../core/json/text.ts';
import {
  errorResponseText,
  isObject,
  resultText,
  type RpcMessage,
  rpcErrors,
  toRpcError,
} from '../../core/protocol/rpc.ts';
import type { LargeAnswer } from '../../core/protocol/large-answer.ts';
import { metaKeys, statelessRevision } from '../../core/protocol/stateless.ts';
import type { Target } from '../../core/access/view.ts';
import { type FindTarget, unknownTarget } from './address.ts';
import { mcpLimits } from '../limits.ts';
import { requestFromSession, noClientToAsk } from '../server-requests/server-requests.ts';
import { withoutRounds } from '../server-requests/continued-request.ts';
import { abilitiesFor } from '../server-requests/client-of.ts';
import type { SuspendableCall, SuspendedCall } from '../server-requests/suspended-calls.ts';
import { beginRound, type Round } from '../server-requests/round.ts';
import { elicitationsOf, urlElicitationRequired, urlsRequired } from '../server-requests/url-required.ts';
import { errorFor, largeResultFor, resultFor } from './era-answers.ts';
import { refusalText, toldToCaller } from '../failure.ts';
import { hasRoomFor } from '../paced-writer.ts';
import type { FinishedCall } from '../records.ts';
import type { RelayConnection, RelayExchange, RelayOptions } from './options.ts';
import { factsOf } from './facts.ts';
import { wantsLog } from '../log-levels.ts';
import type { Reply } from '../reply.ts';
import { type ClientRequest, viewNow } from '../request.ts';
import type { Cancellable } from '../sessions.ts';
import { statelessStatus } from '../stateless.ts';

/** The key by which `notifications/cancelled` finds a call. */
export function requestKey({ message }: ClientRequest): string {
  return JSON.stringify(message.id);
}

/**
 * One request on its way from a client to a server and back, from the moment its target is known. It ends once: by the
 * client, the server or the hub.
 */
export class RelayedCall implements RelayExchange, Cancellable, SuspendableCall {
  readonly target: Target;
  /** Replaced when a stateless client comes back to a suspended call. */
  #request: ClientRequest;
  readonly #find: FindTarget;
  readonly #connection: RelayConnection;
  readonly #options: RelayOptions;
  readonly #startedAt = performance.now();
  /** The client's progress token as JSON text; undefined when it wants no progress. */
  #progressToken: string | undefined;
  #id: number | undefined;
  #over = false;
  #edits: Edits = {};
  /** Set once its server asked a stateless client something. */
  #suspended: SuspendedCall | undefined;
  /** The capabilities that a stateless client lacks for what the server asked. */
  #lacking: Record<string, unknown> | undefined;
  /** The server requests that a client with a session is answering, and the number of such rounds. */
  #round: Round | undefined;
  #rounds = 0;

  constructor(
    request: ClientRequest,
    { target, find }: { readonly target: Target; readonly find: FindTarget },
    connection: RelayConnection,
    options: RelayOptions,
  ) {
    this.#request = request;
    this.target = target;
    this.#find = find;
    this.#connection = connection;
    this.#options = options;
  }

  get request(): ClientRequest {
    return this.#request;
  }

  get reply(): Reply {
    return this.#request.reply;
  }

  get asker(): string | undefined {
    return this.#request.session?.facts.sid;
  }

  get task(): string | undefined {
    const { method, message } = this.#request;
    const id = method === 'tasks/result' && isObject(message.params) ? message.params['taskId'] : undefined;
    return typeof id === 'string' ? id : undefined;
  }

  get tool(): string | undefined {
    return this.#request.method === 'tools/call' ? this.target.key : undefined;
  }

  start(edits: Edits): void {
    if (this.#over) return;
    const id = this.#connection.takeId();
    this.#id = id;
    this.#edits = edits;
    const { method } = this.#request;
    const facts = this.#isStateless ? factsOf(this.#request, this.target) : undefined;
    this.#connection.send(id, method, this.#paramsFor(id, edits), this, facts);
  }

  /** Whether the server speaks the stateless revision. */
  get #isStateless(): boolean {
    return this.#connection.offer?.about.protocolVersion === statelessRevision;
  }

  async startWhenAvailable(edits: Edits): Promise<void> {
    try {
      await this.#connection.available(mcpLimits.waitForConnectionMs);
    } catch (error) {
      if (error instanceof HubError) return this.failed(error);
      throw error;
    }
    await this.#startStill(edits);
  }

  /** After a while, in which the target, or the whole endpoint, may have been closed to the client. */
  async #startStill(edits: Edits): Promise<void> {
    const gone = await this.#gone();
    if (gone) this.#fail(gone);
    else this.start(edits);
  }

  async #gone(): Promise<HubError | undefined> {
    const request = this.#request;
    try {
      const view = await viewNow(request, this.#options.views);
      if (view === request.view) return undefined;
      const { server, key } = this.#find({ ...request, view }).target;
      return server === this.target.server && key === this.target.key ? undefined : unknownTarget(request);
    } catch (error) {
      if (error instanceof HubError) return error;
      throw error;
    }
  }

  notified(method: string, message: RpcMessage, text: string): void {
    if (this.#over) return;
    if (method === 'notifications/message' && wantsLog(this.#request, message)) this.#request.reply.notify(text);
    if (method !== 'notifications/progress' || this.#progressToken === undefined) return;
    const params = editObject(memberText(text, 'params') ?? '{}', { progressToken: this.#progressToken });
    this.#request.reply.notify(editObject(text, { params }));
  }

  answered(message: RpcMessage, text: string): void {
    if (this.#over) return;
    if (isInputRequired(message.result) && !this.#request.stateless && this.#isStateless)
      return this.#nextRound(memberText(text, 'result') ?? '{}');
    this.#end();
    this.#tell(() => this.#deliver(message, text));
  }

  answeredLarge(answer: LargeAnswer): void {
    if (this.#over) return;
    const told = !this.#request.stateless && !this.#isStateless ? answer.result : largeResultFor(this.#request, answer);
    if (told === undefined) {
      const { message, text } = answer.read();
      return this.answered(message, text);
    }
    if (!hasRoomFor(told.bytes)) return this.#fail(noRoom());
    this.#end();
    this.#tell(() => this.#deliverLarge(answer, told));
  }

  failed(error: HubError): void {
    const { status } = this.#connection;
    this.#fail(toldToCaller(error, this.target.server, status.kind, status.phase));
  }

  /** `why` is what the client is told. */
  #fail(why: HubError): void {
    if (this.#end()) this.#tell(() => this.#refuse(why));
  }

  /**
   * A request of a server of the session era to the client: a client with a session is asked, one without gets it in
   * its answer and comes back.
   */
  asked(ask: ServerRequest): void {
    const { serverRequests } = this.#options;
    const { session, stateless } = this.#request;
    if (session && !this.#over) return requestFromSession(session, ask, serverRequests, this.reply);
    if (!stateless || this.#over) return ask.refuse(noClientToAsk);
    const abilities = abilitiesFor(this.#request);
    const missing = missingFor(ask, abilities);
    // The server may go on without it; if it does not, the client is told which capabilities the call needs.
    if (missing) this.#lacking = bothCapabilities(this.#lacking, missing);
    this.#suspended ??= serverRequests.suspendedCalls.open(this);
    if (missing && this.#suspended) this.#suspended.addUnable(ask, unsupportedRefusal(ask, abilities));
    else if (this.#suspended) this.#suspended.add(ask);
    else ask.refuse({ code: rpcErrors.internal, message: 'Too many calls wait for their clients to answer.' });
  }

  suspend(result: string): void {
    const { reply, id } = this.#request;
    reply.gone = undefined;
    reply.answer(resultText(id, result));
  }

  resume(request: ClientRequest): void {
    this.#request = request;
    const { params, message } = request;
    const hasMeta = isObject(message.params) && isObject(message.params['_meta']);
    if (this.#progressToken !== undefined)
      this.#progressToken = hasMeta
        ? memberText(memberText(params ?? '{}', '_meta') ?? '{}', 'progressToken')
        : undefined;
    if (!this.#over) request.reply.gone = () => this.cancel('client disconnected');
  }

  /**
   * The client no longer wants it: the server is told, and the request ends without a result (2025-11-25,
   * Cancellation).
   */
  cancel(reason: string): void {
    if (!this.#end()) return;
    this.#leave(reason);
    this.#tell(() => {
      this.#report('cancelled', reason, undefined);
      const { reply, id } = this.#request;
      const text = `Request cancelled: ${reason}`;
      if (reply.refused) return this.#afterKeeping(() => reply.refused?.(new HubError('cancelled', text)));
      this.#answer(errorResponseText(id, rpcErrors.invalidRequest, text));
    });
  }

  /** Tells the server, and the client that it asks something, that they need not go on. */
  #leave(reason: string): void {
    this.#round?.withdraw(reason);
    if (this.#id !== undefined) this.#safely(() => this.#connection.cancel(this.#id ?? 0, reason));
  }

  /** A server of 2026-07-28 wants answers first: a client with a session gets its questions as requests. */
  #nextRound(result: string): void {
    // It is answered; the next round is another request.
    this.#id = undefined;
    const { session } = this.#request;
    const { server } = this.target;
    const fail = (why: string): void => this.#fail(new HubError('upstream_failed', why));
    if (!session) return fail(`Server "${server}" asks the client something, and nobody can be asked here.`);
    if (++this.#rounds > mcpLimits.askRounds) return fail(`Server "${server}" asks too often.`);
    this.#round = beginRound(result, {
      server,
      put: (ask) => requestFromSession(session, ask, this.#options.serverRequests, this.reply),
      done: (outcome) => {
        if (outcome.kind === 'again') void this.#startStill({ ...this.#edits, ...outcome.edits });
        else fail(outcome.why);
      },
    });
  }

  /** The call failed because it needs capabilities that the client did not declare (2026-07-28, Errors). */
  #lacks(requiredCapabilities: Record<string, unknown>): void {
    const names = Object.keys(requiredCapabilities).join(', ');
    const text = `Server "${this.target.server}" needs a client that supports ${names}.`;
    this.#report('error', text, undefined);
    const { id } = this.#request;
    this.#answer(errorResponseText(id, rpcErrors.missingClientCapability, text, { requiredCapabilities }), 400);
  }

  #deliver(message: RpcMessage, text: string): void {
    const { id } = this.#request;
    const result = message.result === undefined ? undefined : memberText(text, 'result');
    if (result !== undefined) {
      const toolFailed = isObject(message.result) && message.result['isError'] === true;
      if (toolFailed && this.#lacking) return this.#lacks(this.#lacking);
      this.#report(toolFailed ? 'tool_error' : 'ok', undefined, result);
      return this.#answer(
        resultText(id, resultFor(this.#request, this.target, this.#options.serverRequests, message.result, result)),
      );
    }
    const error = memberText(text, 'error');
    if (error === undefined || !isObject(message.error)) {
      return this.#refuse(
        new HubError('upstream_failed', `Server "${this.target.server}" sent an answer without result or error.`),
      );
    }
    if (this.#lacking) return this.#lacks(this.#lacking);
    // The server's own error for an unlisted URI would differ from the hub's for a hidden one; so both get the hub's.
    if (this.target.guarded) return this.#refuse(unknownTarget(this.#request));
    const { code } = message.error;
    if (code === urlElicitationRequired && this.#redirects(message.error)) return;
    this.#report('error', String(message.error['message']).slice(0, 500), error);
    const status = this.#request.stateless ? statelessStatus(code) : 200;
    this.#answer(
      `{"jsonrpc":"2.0","id":${id},"error":${errorFor(this.#request, this.#isStateless, error, message.error)}}`,
      status,
    );
  }

  #deliverLarge(answer: LargeAnswer, told: LargeText): void {
    const { id, reply } = this.#request;
    const toolFailed = answer.resultMember('isError') === 'true';
    if (toolFailed && this.#lacking) return this.#lacks(this.#lacking);
    this.#report(toolFailed ? 'tool_error' : 'ok', undefined, told);
    const [head, tail] = resultText(id, '\n').split('\n');
    reply.answerLarge(head ?? '', told, tail ?? '');
  }

  #refuse(error: HubError): void {
    this.#report(error.code === 'timeout' ? 'timeout' : 'error', error.message, undefined);
    const { reply } = this.#request;
    if (reply.refused) return this.#afterKeeping(() => reply.refused?.(error));
    this.#answer(refusalText(this.#request, error));
  }

  /** True when the server's error was passed on in the form of the stateless revision. */
  #redirects(error: Record<string, unknown>): boolean {
    const { session, stateless, id } = this.#request;
    const { server } = this.target;
    const elicitations = elicitationsOf(error);
    if (session)
      for (const { elicitationId } of elicitations)
        this.#options.serverRequests.elicitations.note(server, elicitationId, session.facts.sid);
    if (!stateless || elicitations.length === 0) return false;
    if (abilitiesFor(this.#request).includes('u')) {
      const result = urlsRequired(error);
      this.#report('ok', undefined, result);
      this.#answer(resultText(id, result));
    } else {
      this.#lacks({ elicitation: { url: {} } });
    }
    return true;
  }

  #paramsFor(id: number, own: Edits): string {
    const { params = '{}', message, stateless } = this.#request;
    const edits = withoutRounds(this.#request, own, this.#isStateless);
    if (!isObject(message.params) || !isObject(message.params['_meta'])) return editObject(params, edits);
    const meta = memberText(params, '_meta') ?? '{}';
    const token = memberText(meta, 'progressToken');
    this.#progressToken = token;
    const metaEdits = { ...(stateless && hopByHop), ...(token !== undefined && { progressToken: String(id) }) };
    return editObject(params, { ...edits, _meta: editObject(meta, metaEdits) });
  }

  /** Tells the client how the call ended: now, or when a client that is away comes back. */
  #tell(act: () => void): void {
    if (this.#suspended) this.#suspended.over(() => this.#safely(act));
    else this.#safely(act);
  }

  /** Runs what ends the call. It runs in an event of a server or a client, so it must not throw. */
  #safely(act: () => void): void {
    try {
      act();
    } catch (error) {
      const { method, id, reply } = this.#request;
      this.#options.log.error('call could not be ended in order', { method, error: errorText(error) });
      if (reply.refused) return reply.refused(error);
      const { code, message } = toRpcError(error);
      reply.answer(errorResponseText(id, code, message));
    }
  }

  #answer(text: string, status?: number): void {
    const { reply } = this.#request;
    this.#afterKeeping(() => reply.answer(text, status));
  }

  /**
   * Answers the client once the record of the call outlives this process: what was answered is in the activity, also
   * after a kill.
   */
  #afterKeeping(answer: () => void): void {
    this.#options.records.afterKeeping(() => this.#safely(answer));
  }

  /** True the first time. */
  #end(): boolean {
    if (this.#over) return false;
    this.#over = true;
    const { session, reply } = this.#request;
    reply.gone = undefined;
    session?.settle({ call: this, id: requestKey(this.#request) });
    return true;
  }

  #report(outcome: FinishedCall['outcome'], error: string | undefined, answer: FinishedCall['answer']): void {
    const ms = performance.now() - this.#startedAt;
    const call = { request: this.#request, target: this.target, ms, outcome, error, answer };
    this.#options.tasks.learn(call);
    this.#options.records.finished(call);
  }
}

function noRoom(): HubError {
  const text = 'Too many large answers wait for clients that do not read them. Try again in a moment.';
  return new HubError('upstream_unavailable', text, { retryAfterMs: 5_000 });
}

function isInputRequired(result: unknown): boolean {
  return isObject(result) && result['resultType'] === 'input_required';
}

/**
 * `_meta` keys about the connection between client and hub; a session-era server would apply them to its own
 * connection.
 */
const hopByHop: Readonly<Record<string, null>> = {
  [metaKeys.protocolVersion]: null,
  [metaKeys.clientCapabilities]: null,
  [metaKeys.clientInfo]: null,
  [metaKeys.logLevel]: null,
};
