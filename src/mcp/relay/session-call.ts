import { HubError } from '../../core/errors.ts';
import type { LargeText } from '../../core/json/large-text.ts';
import { type Edits, editObject, memberText } from '../../core/json/text.ts';
import type { LargeAnswer } from '../../core/protocol/large-answer.ts';
import { isObject, type RpcMessage, rpcErrors } from '../../core/protocol/rpc.ts';
import { capabilitiesText, type ServerRequest } from '../../core/protocol/server-requests.ts';
import { isInputRequired } from '../../core/protocol/stateless.ts';
import { mcpLimits } from '../limits.ts';
import { elicitationsOf } from '../server-requests/elicitations.ts';
import { hasRounds, noRounds } from '../server-requests/request-state.ts';
import { beginRound, type Round } from '../server-requests/round.ts';
import { noClientToAsk, requestFromSession } from '../server-requests/server-requests.ts';
import { RelayedCall } from './relayed-call.ts';

/**
 * A request of a client of the session era, or of a caller that is no MCP client and cannot be asked anything (REST).
 * What a server asks is sent to the client within its session, also for a server that asks by its answer.
 */
export class SessionCall extends RelayedCall {
  /** The server requests that the client is answering, and the number of such rounds. */
  #round: Round | undefined;
  #rounds = 0;

  protected goesOn(message: RpcMessage, text: string): boolean {
    if (!this.serverIsStateless || !isInputRequired(message.result) || this.isOver) return false;
    this.#nextRound(memberText(text, 'result') ?? '{}');
    return true;
  }

  protected put(ask: ServerRequest): void {
    const { session } = this.request;
    if (!session || this.isOver) return ask.refuse(noClientToAsk);
    requestFromSession(session, ask, this.options.serverRequests, this.reply);
  }

  /** A server of 2026-07-28 wants answers first: the client gets its questions as requests. */
  #nextRound(result: string): void {
    // It is answered; the next round is another request.
    this.id = undefined;
    const { session } = this.request;
    const { server } = this.target;
    const fail = (why: string): void => this.fail(new HubError('upstream_failed', why));
    if (!session) return fail(`Server "${server}" asks the client something, and this client cannot be asked.`);
    if (++this.#rounds > mcpLimits.askRounds) return fail(`Server "${server}" asks too often.`);
    this.#round = beginRound(result, {
      server,
      put: (ask) => requestFromSession(session, this.tracedAsk(ask), this.options.serverRequests, this.reply),
      done: (outcome) => {
        if (outcome.kind === 'again') void this.startStill({ ...this.edits, ...outcome.edits });
        else fail(outcome.why);
      },
    });
  }

  protected override leave(reason: string): void {
    this.#round?.withdraw(reason);
    super.leave(reason);
  }

  protected capabilities(): string | undefined {
    const { session } = this.request;
    return session && capabilitiesText(session.facts.abilities);
  }

  /**
   * The hub answers what a server asks by its answer, so that nothing that this client sends can count as an earlier
   * round.
   */
  protected editsFor(own: Edits): Edits {
    return this.serverIsStateless && hasRounds(this.request) ? { ...noRounds, ...own } : own;
  }

  protected metaEdits(): Edits {
    return {};
  }

  protected resultFor(_: unknown, text: string): string {
    return text;
  }

  protected largeResultFor(answer: LargeAnswer): LargeText | undefined {
    return this.serverIsStateless && answer.resultMember('resultType') !== undefined ? undefined : answer.result;
  }

  /** A resource that does not exist is `-32602`, with the URI, since 2026-07-28 and `-32002` before. */
  protected errorFor(text: string, { code, data }: Record<string, unknown>): string {
    const isMissing = this.request.method === 'resources/read' && code === rpcErrors.invalidParams && isObject(data);
    // The error of a server of the client's own era is passed on unchanged.
    if (!this.serverIsStateless || !isMissing || typeof data['uri'] !== 'string') return text;
    return editObject(text, { code: String(rpcErrors.resourceNotFound) });
  }

  protected statusOf(): number {
    return 200;
  }

  /** The error says it; the server may report later that the user has been there. */
  protected toldOfUrls(error: Record<string, unknown>): boolean {
    const { session } = this.request;
    const { elicitations } = this.options.serverRequests;
    if (session)
      for (const { elicitationId } of elicitationsOf(error))
        elicitations.note(this.target.server, elicitationId, session.facts.sid);
    return false;
  }

  protected toldOfLack(): boolean {
    return false;
  }
}
