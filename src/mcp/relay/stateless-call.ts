import { LargeText } from '../../core/json/large-text.ts';
import { type Edits, editObject, memberText } from '../../core/json/text.ts';
import type { LargeAnswer } from '../../core/protocol/large-answer.ts';
import { errorResponseText, isObject, resultText, rpcErrors } from '../../core/protocol/rpc.ts';
import {
  bothCapabilities,
  missingFor,
  type ServerRequest,
  unsupportedRefusal,
} from '../../core/protocol/server-requests.ts';
import { metaKeys } from '../../core/protocol/stateless.ts';
import { mcpLimits } from '../limits.ts';
import { abilitiesFor, type ClientRequest } from '../request.ts';
import { elicitationsOf } from '../server-requests/elicitations.ts';
import { nextRound } from './rounds.ts';
import { hasRounds, noRounds } from '../server-requests/request-state.ts';
import { noClientToAsk } from '../server-requests/server-requests.ts';
import { inputRequired, type SuspendableCall, type SuspendedCall } from '../server-requests/suspended-calls.ts';
import { nextPass } from './approval.ts';
import { RelayedCall } from './relayed-call.ts';

/** Whose results say how long they may be kept. */
const hintedMethods: ReadonlySet<string> = new Set(['resources/read', 'skills/list', 'skills/get']);

/**
 * A request of a client of 2026-07-28. What a server of the session era asks suspends it: the client gets the questions
 * as its answer, and comes back with another request. Its results and errors are those of that revision.
 */
export class StatelessCall extends RelayedCall implements SuspendableCall {
  /** Set once its server asked something. */
  #suspended: SuspendedCall | undefined;
  /** The capabilities that the client lacks for what the server asked. */
  #lacking: Record<string, unknown> | undefined;

  protected put(ask: ServerRequest): void {
    if (this.isOver) return ask.refuse(noClientToAsk);
    const abilities = abilitiesFor(this.request);
    const missing = missingFor(ask, abilities);
    // The server may go on without it; if it does not, the client is told which capabilities the call needs.
    if (missing) this.#lacking = bothCapabilities(this.#lacking, missing);
    this.#suspended ??= this.options.serverRequests.suspendedCalls.open(this);
    if (missing && this.#suspended) this.#suspended.addUnable(ask, unsupportedRefusal(ask, abilities));
    else if (this.#suspended) this.#suspended.add(ask);
    else ask.refuse({ code: rpcErrors.internal, message: 'Too many calls wait for their clients to answer.' });
  }

  suspend(result: string): void {
    const { reply, id } = this.request;
    reply.gone = undefined;
    reply.answer(resultText(id, result));
  }

  resume(request: ClientRequest): void {
    this.request = request;
    const { params, message } = request;
    const hasMeta = isObject(message.params) && isObject(message.params['_meta']);
    if (this.progressToken !== undefined)
      this.progressToken = hasMeta
        ? memberText(memberText(params ?? '{}', '_meta') ?? '{}', 'progressToken')
        : undefined;
    if (!this.isOver) request.reply.gone = () => this.cancel('client disconnected');
  }

  /** Now, or when the client that is away comes back. */
  protected override tell(act: () => void): void {
    if (this.#suspended) this.#suspended.over(() => super.tell(act));
    else super.tell(act);
  }

  /** The client gets the questions as its answer, and sends another request. */
  protected goesOn(): boolean {
    return false;
  }

  /** As the client's own text. */
  protected capabilities(): string | undefined {
    const meta = memberText(this.request.params ?? '{}', '_meta') ?? '{}';
    return memberText(meta, metaKeys.clientCapabilities);
  }

  /** A server of the session era knows no rounds: it sends requests itself. */
  protected editsFor(own: Edits): Edits {
    return !this.serverIsStateless && hasRounds(this.request) ? { ...own, ...noRounds } : own;
  }

  protected metaEdits(): Edits {
    return hopByHop;
  }

  /** With what this revision wants in every result, and an older server does not know of (2026-07-28, Results). */
  protected resultFor(parsed: unknown, text: string): string {
    if (!isObject(parsed)) return text;
    if (parsed['resultType'] !== undefined) return this.#withBoundState(parsed, text);
    const isRead = hintedMethods.has(this.request.method);
    const hints = isRead && parsed['ttlMs'] === undefined ? { ttlMs: '0', cacheScope: '"private"' } : {};
    return editObject(text, { resultType: '"complete"', ...hints });
  }

  protected largeResultFor(answer: LargeAnswer): LargeText | undefined {
    if (answer.resultMember('resultType') !== undefined) return undefined;
    const { result } = answer;
    const [first] = result.pieces;
    const isRead = hintedMethods.has(this.request.method) && answer.resultMember('ttlMs') === undefined;
    if (first?.[0] !== openBrace || (isRead && answer.resultMember('cacheScope') !== undefined)) return undefined;
    const hints = isRead ? ',"ttlMs":0,"cacheScope":"private"' : '';
    const front = Buffer.from(`{"resultType":"complete"${hints},`);
    return new LargeText([front, ...result.slice(1, result.bytes).pieces]);
  }

  /**
   * A server's own state is valid only for the principal that was given it: the server may not know which users it
   * serves through the hub.
   */
  #withBoundState({ resultType, requestState: state }: Record<string, unknown>, result: string): string {
    if (resultType !== 'input_required') return result;
    const round = nextRound(this.request, this.round);
    if (typeof state !== 'string' && (state !== undefined || !round)) return result;
    const { states } = this.options.serverRequests;
    const content = { kind: 'server', state, pass: nextPass(this.approvals), round } as const;
    const sealed = states.seal(this.request, this.target, content, mcpLimits.requestStateMs);
    return editObject(result, { requestState: JSON.stringify(sealed) });
  }

  /** A resource that does not exist is `-32002` before 2026-07-28 and `-32602` since. */
  protected errorFor(text: string, { code }: Record<string, unknown>): string {
    return code === rpcErrors.resourceNotFound ? editObject(text, { code: String(rpcErrors.invalidParams) }) : text;
  }

  /** What the client did wrong with the protocol is not 200 (2026-07-28, Streamable HTTP). */
  protected statusOf(code: unknown): number {
    if (code === rpcErrors.methodNotFound) return 404;
    return clientMistakes.has(code) ? 400 : 200;
  }

  /** In the form of this revision it is no error: the client sends its user there, and makes the call again. */
  protected toldOfUrls(error: Record<string, unknown>): boolean {
    if (elicitationsOf(error).length === 0) return false;
    if (abilitiesFor(this.request).includes('u')) {
      const result = urlsRequired(error);
      this.report('ok', undefined, result);
      this.answer(resultText(this.request.id, result));
    } else {
      this.#tellLack({ elicitation: { url: {} } });
    }
    return true;
  }

  protected toldOfLack(): boolean {
    if (!this.#lacking) return false;
    this.#tellLack(this.#lacking);
    return true;
  }

  /** The call failed because it needs capabilities that the client did not declare (2026-07-28, Errors). */
  #tellLack(requiredCapabilities: Record<string, unknown>): void {
    const names = Object.keys(requiredCapabilities).join(', ');
    const text = `Server "${this.target.server}" needs a client that supports ${names}.`;
    this.report('error', text, undefined);
    const { id } = this.request;
    this.answer(errorResponseText(id, rpcErrors.missingClientCapability, text, { requiredCapabilities }), 400);
  }
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

const openBrace = 0x7b;

const clientMistakes: ReadonlySet<unknown> = new Set([
  rpcErrors.headerMismatch,
  rpcErrors.missingClientCapability,
  rpcErrors.unsupportedProtocolVersion,
]);

function urlsRequired(error: Record<string, unknown>): string {
  const requests = elicitationsOf(error).map(({ message, url }, i) => {
    const request = { method: 'elicitation/create', params: { mode: 'url', message, url } };
    return [`elicitation-${i + 1}`, JSON.stringify(request)] as const;
  });
  return inputRequired(requests, undefined);
}
