import { withPageUris } from '../../core/access/apps.ts';
import type { Target } from '../../core/access/view.ts';
import { errorText, HubError } from '../../core/errors.ts';
import type { LargeText } from '../../core/json/large-text.ts';
import { type Edits, editObject, memberText } from '../../core/json/text.ts';
import type { LargeAnswer } from '../../core/protocol/large-answer.ts';
import { errorResponseText, isObject, resultText, type RpcMessage, rpcErrors } from '../../core/protocol/rpc.ts';
import type { ServerRequest } from '../../core/protocol/server-requests.ts';
import { namedBy, type RequestFacts, statelessRevision } from '../../core/protocol/stateless.ts';
import { callFailureOf, type CallTrace, failureOf } from '../../core/tracing.ts';
import { failureText, largeFailure, noRoom, refusalText, toldToCaller, unknownTarget } from '../failure.ts';
import { mcpLimits } from '../limits.ts';
import { wantedLevel, wantsLog } from '../log-levels.ts';
import { hasRoomFor } from '../paced-writer.ts';
import { type FinishedCall, refusedCall } from '../records.ts';
import type { Reply } from '../reply.ts';
import { calledBy, type ClientRequest, type FindTarget } from '../request.ts';
import { urlElicitationRequired } from '../server-requests/elicitations.ts';
import type { Cancellable } from '../sessions.ts';
import { admittedEdits } from './admitting.ts';
import { checkedAnswer, isLookedAt, largeAnswerFate } from './answer-checks.ts';
import { giveBackApprovals, noApprovals, type WaitingAdmission } from './approval.ts';
import { noticeWithoutSecrets } from './call-secrets.ts';
import { withEdits } from './guarding.ts';
import type { RelayConnection, RelayExchange, RelayOptions } from './options.ts';
import { sentParams } from './sent-params.ts';
import { answerFailure, callTrace, tracedAsk, withTrace } from './traced-call.ts';
import { refusedAtOnce, refusedNow, type WaitingCall, withdrawnNow } from './still-allowed.ts';

/** The key by which `notifications/cancelled` finds a call. */
export function requestKey({ message: { id } }: ClientRequest): string {
  // The same text, and made in a fifth of the time.
  return typeof id === 'number' ? String(id) : JSON.stringify(id);
}

/**
 * The life of one request on its way from a client to a server and back, from the moment its target is known. It ends
 * once: by the client, the server or the hub. What depends on the era of the client is in `SessionCall` and
 * `StatelessCall`.
 */
export abstract class RelayedCall implements RelayExchange, Cancellable {
  readonly target: Target;
  /** Replaced when a stateless client comes back to a suspended call. */
  request: ClientRequest;
  readonly options: RelayOptions;
  /** The client's progress token as JSON text; undefined when it wants no progress. */
  protected progressToken: string | undefined;
  /** Under which the server has it; undefined while it is not there. */
  protected id: number | undefined;
  protected edits: Edits = {};
  /** The part of the server that is at work on it now, where requests are traced. */
  #trace: CallTrace | undefined;
  /** Ends what the call counts against limits on calls at the same time. */
  counted: (() => void) | undefined;
  /** What guards have changed of the params. */
  changed: Edits | undefined;
  readonly #find: FindTarget;
  readonly #connection: RelayConnection;
  readonly #startedAt = performance.now();
  /** When it was sent to the server first; undefined while it was not. */
  #sentAt: number | undefined;
  /** It was not sent at once. */
  #waited = false;
  #over = false;
  /** This and `decidedBy`: see `UnadmittedCall`. */
  needsYes: string | undefined;
  /** A person was asked, and has said yes. */
  approvedBy: string | undefined;
  decidedBy: WaitingCall['decidedBy'];
  approvals = noApprovals;
  /** Of a call that limits count: which round of it this is; undefined for all others. */
  round: number | undefined;
  readonly #running: number;
  #left: AbortController | undefined;

  constructor(
    request: ClientRequest,
    { target, find }: { readonly target: Target; readonly find: FindTarget },
    connection: RelayConnection,
    options: RelayOptions,
  ) {
    this.request = request;
    this.target = target;
    this.options = options;
    this.#find = find;
    this.#connection = connection;
    this.decidedBy = options.governance.settings();
    this.#running = options.running.add(this);
  }

  /** Hands what the server asks in the middle of the call to the client. */
  protected abstract put(ask: ServerRequest): void;
  /** What the client can be asked, for a stateless server: the JSON text of an object. */
  protected abstract capabilities(): string | undefined;
  /** True when the server asks the client something by its answer, and the call goes on with what is answered. */
  protected abstract goesOn(message: RpcMessage, text: string): boolean;
  /** The changes of the params, given those that name the target. */
  protected abstract editsFor(own: Edits): Edits;
  /** The changes of `_meta`. */
  protected abstract metaEdits(): Edits;
  /** The result as the client is to get it; both are the same. */
  protected abstract resultFor(parsed: unknown, text: string): string;
  /** The same for a large result; undefined where more has to change than what is in front. */
  protected abstract largeResultFor(answer: LargeAnswer): LargeText | undefined;
  /** The error as the client is to get it; both are the same. */
  protected abstract errorFor(text: string, error: Record<string, unknown>): string;
  /** The HTTP status of an answer with this error. */
  protected abstract statusOf(code: unknown): number;
  /** The user has to open addresses first. True when the client was told in another way than by the error. */
  protected abstract toldOfUrls(error: Record<string, unknown>): boolean;
  /** The call has failed. True when the client was told which capabilities it lacks. */
  protected abstract toldOfLack(): boolean;

  /** Made only where a person is asked: it takes its time. */
  get left(): AbortController {
    return (this.#left ??= new AbortController());
  }

  get reply(): Reply {
    return this.request.reply;
  }

  get asker(): string | undefined {
    return this.request.session?.facts.sid;
  }

  get task(): string | undefined {
    const { method, message } = this.request;
    const id = method === 'tasks/result' && isObject(message.params) ? message.params['taskId'] : undefined;
    return typeof id === 'string' ? id : undefined;
  }

  get called(): string | undefined {
    return calledBy(this.request, this.target);
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Whether the server speaks the stateless revision. */
  protected get serverIsStateless(): boolean {
    return this.#connection.offer?.about.protocolVersion === statelessRevision;
  }

  /** Sends it to the server, as soon as that is connected. */
  begin(edits: Edits): void {
    if (this.#connection.status.kind === 'connected') this.start(edits, this.#startedAt);
    else void this.startWhenAvailable(edits);
  }

  /** The same once a person has said yes, limits allow it, and guards have seen it. */
  async beginAdmitted(admission: WaitingAdmission, edits: Edits): Promise<void> {
    try {
      const own = await admittedEdits(this, admission, edits);
      if (this.#connection.status.kind === 'connected') await this.startStill(own);
      else await this.startWhenAvailable(own);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      if (this.#end()) this.tell(() => this.#refuseAs(error));
    }
  }

  start(edits: Edits, at = performance.now()): void {
    if (this.#over) return;
    if (this.#connection.status.kind === 'asleep') return void this.#startAwake(edits);
    this.#sentAt ??= at;
    const id = this.#connection.takeId();
    this.id = id;
    this.edits = edits;
    this.#trace = callTrace(this.request, this.target, this.#connection.offer);
    const facts = withTrace(this.serverIsStateless ? this.#facts() : undefined, this.#trace);
    this.#connection.send(id, this.request.method, this.#paramsFor(id, edits), this, facts);
  }

  async startWhenAvailable(edits: Edits): Promise<void> {
    try {
      await this.#connection.available(mcpLimits.waitForConnectionMs);
    } catch (error) {
      if (error instanceof HubError) return this.failed(error);
      throw error;
    }
    await this.startStill(edits);
  }

  /** The server fell asleep before the request was sent. From now on nothing is waited for in which it could again. */
  async #startAwake(edits: Edits): Promise<void> {
    try {
      await this.#connection.available(mcpLimits.waitForConnectionMs);
      const gone = refusedAtOnce(this.waiting, this.options);
      if (gone) this.fail(gone);
      else this.start(edits);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      this.failed(error);
    }
  }

  /** After a while, in which the target, or the whole endpoint, may have been closed to the client. */
  protected async startStill(edits: Edits): Promise<void> {
    this.#waited ||= this.#sentAt === undefined;
    const gone = await refusedNow(this.waiting, this.options);
    if (gone) this.fail(gone);
    else this.start(edits);
  }

  /** With what guards have changed. */
  get #sent(): ClientRequest {
    return this.changed ? withEdits(this.request, this.changed) : this.request;
  }

  get waiting(): WaitingCall {
    const { target, approvedBy, decidedBy } = this;
    return { request: this.#sent, target, find: this.#find, approvedBy, decidedBy };
  }

  #paramsFor(id: number, own: Edits): string {
    const trace = this.serverIsStateless ? undefined : this.#trace?.handedOn;
    const sent = sentParams(this.request, id, { own: this.editsFor(own), meta: this.metaEdits(), trace });
    if (sent.hasMeta) this.progressToken = sent.token;
    return sent.params;
  }

  /** What a stateless server is to know of the request besides what is in it. */
  #facts(): RequestFacts {
    const { method, message } = this.#sent;
    const args = method === 'tools/call' && isObject(message.params) ? message.params['arguments'] : undefined;
    const named = namedBy.has(method) && { name: this.target.key };
    return { capabilities: this.capabilities(), logLevel: wantedLevel(this.request), ...named, args };
  }

  notified(method: string, message: RpcMessage, text: string): void {
    if (this.#over) return;
    const own = noticeWithoutSecrets(text, this.target.server, this.options.governance.settings());
    if (method === 'notifications/message' && wantsLog(this.request, message)) this.reply.notify(own);
    if (method !== 'notifications/progress' || this.progressToken === undefined) return;
    const params = editObject(memberText(own, 'params') ?? '{}', { progressToken: this.progressToken });
    this.reply.notify(editObject(own, { params }));
  }

  asked(ask: ServerRequest): void {
    this.put(this.tracedAsk(ask));
  }

  /** What the server asks of the client is a part of its own part of the request. */
  protected tracedAsk(ask: ServerRequest): ServerRequest {
    return this.#trace ? tracedAsk(ask, this.#trace) : ask;
  }

  answered(message: RpcMessage, text: string): void {
    this.#trace?.end(answerFailure(message));
    if (this.#over) return;
    if (!isLookedAt(this)) return this.#checked(message, text);
    // The server has answered it: there is nothing left to cancel.
    this.id = undefined;
    void this.#check(message, text);
  }

  async #check(message: RpcMessage, text: string): Promise<void> {
    try {
      const answer = await checkedAnswer(this, { message, text }, this.serverIsStateless);
      this.#checked(answer.message, answer.text);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      this.#withhold(error);
    }
  }

  /** The answer as the caller may get it. */
  #checked(message: RpcMessage, text: string): void {
    if (!this.goesOn(message, text) && this.#end()) this.tell(() => this.#deliver(message, text));
  }

  answeredLarge(answer: LargeAnswer): void {
    this.#trace?.end(answer.resultMember('isError') === 'true' ? { type: 'tool_error' } : undefined);
    if (this.#over) return;
    if (isLookedAt(this)) {
      const fate = largeAnswerFate(this, answer.result.bytes);
      if (fate instanceof HubError) return this.#withhold(fate);
      if (fate === 'look') return this.#answeredAsText(answer);
    }
    // Pages of apps that a result names are to be changed wherever they are in it, and one in parts is read whole.
    const isChanged = this.target.pageUri || this.options.results.limit(this.request, this.target) !== undefined;
    const told = isChanged ? undefined : this.largeResultFor(answer);
    if (told === undefined) return this.#answeredAsText(answer);
    if (!hasRoomFor(told.bytes)) return this.fail(noRoom());
    this.#end();
    this.tell(() => this.#deliverLarge(answer, told));
  }

  #answeredAsText(answer: LargeAnswer): void {
    const { message, text } = answer.read();
    this.answered(message, text);
  }

  failed(error: HubError): void {
    this.#trace?.end(callFailureOf(error));
    const { status } = this.#connection;
    this.fail(toldToCaller(error, this.target.server, status.kind, status.phase));
  }

  /** `why` is what the client is told. */
  protected fail(why: HubError): void {
    if (this.#end()) this.tell(() => this.#refuse(why));
  }

  /**
   * The client no longer wants it: the server is told, and the request ends without a result (2025-11-25,
   * Cancellation).
   */
  cancel(reason: string): void {
    if (!this.#end()) return;
    this.leave(reason);
    this.tell(() => {
      this.report('cancelled', reason, undefined);
      const { reply, id } = this.request;
      const text = `Request cancelled: ${reason}`;
      if (reply.refused) return this.#afterKeeping(() => reply.refused?.(new HubError('cancelled', text)));
      this.answer(errorResponseText(id, rpcErrors.invalidRequest, text));
    });
  }

  /**
   * Ends the call when its sender is not let in any more, may not reach the server, or has taken back the credentials
   * that it goes with.
   */
  endIfWithdrawn(): void {
    void withdrawnNow(this, this.options).then((why) => {
      if (!why || !this.#end()) return;
      this.leave('no longer allowed');
      this.tell(() => this.#refuse(why));
    });
  }

  /** Tells those who work on it that they need not go on. */
  protected leave(reason: string): void {
    this.#trace?.end({ type: 'cancelled' });
    if (this.id !== undefined) this.#safely(() => this.#connection.cancel(this.id ?? 0, reason));
  }

  #deliver(message: RpcMessage, text: string): void {
    const own = message.result === undefined ? undefined : memberText(text, 'result');
    if (own !== undefined) {
      const { pageUri } = this.target;
      const result = pageUri ? withPageUris(own, pageUri) : own;
      const failed = isObject(message.result) && message.result['isError'] === true ? message.result : undefined;
      if (failed && this.toldOfLack()) return;
      this.report(failed ? 'tool_error' : 'ok', failed && failureText(failed), result);
      const told = this.options.results.shortened(this.#sent, this.target, result);
      return this.answer(resultText(this.request.id, this.resultFor(message.result, told)));
    }
    const error = memberText(text, 'error');
    if (error !== undefined && isObject(message.error)) return this.#deliverError(message.error, error);
    const why = `Server "${this.target.server}" sent an answer without result or error.`;
    this.#refuse(new HubError('upstream_failed', why));
  }

  #deliverError(error: Record<string, unknown>, text: string): void {
    if (this.toldOfLack()) return;
    // The server's own error for an unlisted URI would differ from the hub's for a hidden one; so both get the hub's.
    if (this.target.guarded) return this.#refuse(unknownTarget(this.request));
    const { code } = error;
    if (code === urlElicitationRequired && this.toldOfUrls(error)) return;
    this.request.trace?.failed(answerFailure({ error }) ?? { type: '_OTHER' });
    this.report('error', String(error['message']).slice(0, 500), text);
    this.answer(`{"jsonrpc":"2.0","id":${this.request.id},"error":${this.errorFor(text, error)}}`, this.statusOf(code));
  }

  #deliverLarge(answer: LargeAnswer, told: LargeText): void {
    const { id, reply } = this.request;
    const toolFailed = answer.resultMember('isError') === 'true';
    if (toolFailed && this.toldOfLack()) return;
    this.report(toolFailed ? 'tool_error' : 'ok', toolFailed ? largeFailure : undefined, told);
    const [head, tail] = resultText(id, '\n').split('\n');
    reply.answerLarge(head ?? '', told, tail ?? '');
  }

  /** The server has answered, and its answer is not for the caller. */
  #withhold(error: HubError): void {
    if (this.#end()) this.tell(() => this.#refuseAs(error, performance.now() - this.#startedAt));
  }

  /** As what is refused, and not as what failed. */
  #refuseAs(error: HubError, ms = 0): void {
    const { request, options } = this;
    if (request.method === 'tools/call')
      options.records.refused({ ...refusedCall(request, error.message, error.code), ms });
    else options.records.refusedRead(request, error);
    this.#answerWith(error);
  }

  #refuse(error: HubError): void {
    this.report(error.code === 'timeout' ? 'timeout' : 'error', error.message, undefined);
    this.#answerWith(error);
  }

  #answerWith(error: HubError): void {
    const { reply, trace } = this.request;
    trace?.failed(failureOf(error));
    if (reply.refused) return this.#afterKeeping(() => reply.refused?.(error));
    this.answer(refusalText(this.request, error));
  }

  /** True the first time. */
  #end(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.options.running.delete(this.#running);
    this.counted?.();
    this.#left?.abort();
    if (this.#sentAt === undefined) giveBackApprovals(this);
    const { session, reply } = this.request;
    reply.gone = undefined;
    session?.settle({ call: this, id: requestKey(this.request) });
    return true;
  }

  /** Tells the client how the call ended. */
  protected tell(act: () => void): void {
    this.#safely(act);
  }

  protected report(outcome: FinishedCall['outcome'], error: string | undefined, answer: FinishedCall['answer']): void {
    if (outcome === 'tool_error' || outcome === 'cancelled') this.request.trace?.failed({ type: outcome });
    const now = performance.now();
    const [ms, sentAt] = [now - this.#startedAt, this.#sentAt ?? now];
    // What was never sent has waited to its end.
    const queueMs = this.#waited || this.#sentAt === undefined ? sentAt - this.#startedAt : 0;
    const [request, target, serverMs] = [this.#sent, this.target, now - sentAt];
    const call = { request, target, ms, queueMs, serverMs, outcome, error, answer };
    this.options.tasks.learn(call);
    this.options.records.finished(call);
  }

  protected answer(text: string, status?: number): void {
    const { reply } = this.request;
    this.#afterKeeping(() => reply.answer(text, status));
  }

  /**
   * Answers the client once the record of the call outlives this process: what was answered is in the activity, also
   * after a kill.
   */
  #afterKeeping(answer: () => void): void {
    this.options.records.afterKeeping(() => this.#safely(answer));
  }

  /** Runs what ends the call. It runs in an event of a server or a client, so it must not throw. */
  #safely(act: () => void): void {
    try {
      act();
    } catch (error) {
      const { method, reply } = this.request;
      this.options.log.error('call could not be ended in order', { method, error: errorText(error) });
      if (reply.refused) return reply.refused(error);
      reply.answer(refusalText(this.request, error));
    }
  }
}
