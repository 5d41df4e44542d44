import { type GuardSubject, type GuardVerdict, readGuardAnswer } from '../../core/guards/guard-answer.ts';
import { HubError } from '../../core/errors.ts';
import { duplicateName } from '../../core/json/duplicates.ts';
import { editObject, type Edits, memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { GuardedMoment, GuardSettings } from '../../core/settings/governance.ts';
import { governanceLimits } from '../../governance/limits.ts';
import { type ClientRequest, clientRequest } from '../request.ts';
import { admit, unclear } from './admission.ts';
import { approvedEdits, type AskingCall, type WaitingAdmission } from './approval.ts';
import { yesTo } from './still-allowed.ts';
import { changeFault, type QuestionedCall, questionText } from './guard-questions.ts';

/** What of a call is needed to ask guards about it. */
export interface GuardedCall extends QuestionedCall {
  /** Aborts when the call is over. */
  readonly left: AbortController;
}

/** A call before it is sent. */
export interface UnsentCall extends GuardedCall, AskingCall {
  readonly options: GuardedCall['options'];
  /** What guards have changed of the params. */
  changed: Edits | undefined;
  /** What a person was asked and has said yes to (`yesTo`). */
  approvedBy: string | undefined;
}

/**
 * Asks the guards about a call; gives the changes of the request's params from then on. Arguments that a guard changes
 * are decided about again: by policies, and by the people these ask. Throws HubError `guard`, `policy`, `approval`, and
 * `cancelled` when the caller has left.
 */
export async function guardedEdits(call: UnsentCall, admission: WaitingAdmission, edits: Edits): Promise<Edits> {
  const before = call.request;
  const given = argumentsOf(before);
  const text = await throughGuards(call, { on: 'call', subject: 'arguments', guards: admission.guards }, given);
  if (text === given) return edits;
  const changed: Edits =
    before.method === 'completion/complete'
      ? { argument: memberText(text, 'argument') ?? null, context: memberText(text, 'context') ?? null }
      : { arguments: text };
  call.changed = changed;
  const again = admit(withEdits(before, changed), call.target, call.options.governance);
  const own = { ...edits, ...changed };
  if (!again?.question) return own;
  const approved = await approvedEdits(
    call,
    { ...again, counted: undefined, pass: admission.pass, round: undefined },
    own,
  );
  call.approvedBy = yesTo(again.question);
  return approved;
}

/** The same request with other params. */
export function withEdits(request: ClientRequest, edits: Edits): ClientRequest {
  const params = editObject(request.params ?? '{}', edits);
  const message = { ...request.message, params: JSON.parse(params) as unknown };
  return clientRequest({ message, id: request.id, params }, request, request);
}

/**
 * What the caller has written, as JSON text. Throws HubError `guard` for what a server may read in another way than a
 * guard.
 */
function argumentsOf({ method, message, params = '{}' }: ClientRequest): string {
  const given = isObject(message.params) ? message.params['arguments'] : undefined;
  if (method !== 'completion/complete') {
    const problem = unclear(params, given);
    if (problem !== undefined)
      throw new HubError('guard', `The call cannot be shown to its guards: ${problem}`, { data: {} });
    return memberText(params, 'arguments') ?? '{}';
  }
  if (duplicateName(params, 5) !== undefined)
    throw new HubError('guard', 'The request cannot be shown to its guards: it has a name twice.', {
      data: {},
    });
  const context = memberText(params, 'context');
  const argument = memberText(params, 'argument') ?? '{}';
  return `{"argument":${argument}${context === undefined ? '' : `,"context":${context}`}}`;
}

interface Question {
  readonly on: GuardedMoment;
  readonly subject: GuardSubject;
  readonly guards: readonly GuardSettings[];
}

/** The text as the last guard leaves it: each sees what the one before has made of it. Throws HubError `guard`. */
export async function throughGuards(call: GuardedCall, question: Question, text: string): Promise<string> {
  let now = text;
  for (const guard of question.guards) {
    const verdict = await ask(call, guard, question, now);
    if (verdict.kind === 'refuse') throw refusal(call, guard, question.on, verdict.message);
    if (verdict.kind === 'failed') passOrThrow(call, guard, question.on, verdict.why);
    if (verdict.kind === 'change') now = verdict.text;
  }
  return now;
}

async function ask(call: GuardedCall, guard: GuardSettings, question: Question, text: string): Promise<GuardVerdict> {
  const { on, subject } = question;
  const { guards } = call.options.governance;
  if (text.length > governanceLimits.guardSubjectChars) return tooLong;
  const reply = await guards.ask(guard, questionText(call, on, subject, text), call.left.signal);
  const answer = reply.kind === 'text' ? readGuardAnswer(reply.text, subject) : reply;
  const fault = answer.kind === 'change' ? changeFault(call, subject, text, answer.value) : undefined;
  const verdict = fault === undefined ? answer : ({ kind: 'failed', why: fault, code: 'no_decision' } as const);
  guards.noted(guard, verdict.kind === 'failed' ? verdict : undefined);
  return verdict;
}

const tooLong = {
  kind: 'failed',
  code: 'too_large',
  why: `is shown no more than ${governanceLimits.guardSubjectChars} characters, and this has more`,
} as const;

/** What becomes of a result that is too large to be shown to guards: it passes, or HubError `guard` is thrown. */
export function passOrThrowTooLarge(call: GuardedCall, guards: readonly GuardSettings[]): void {
  for (const guard of guards) passOrThrow(call, guard, 'result', tooLong.why);
}

function passOrThrow(call: GuardedCall, { name, onFailure }: GuardSettings, on: GuardedMoment, why: string): void {
  if (onFailure === 'allow') return;
  const { server } = call.target;
  const text =
    on === 'call'
      ? `Guard "${name}" ${why}. Calls that it does not look at are refused: try again later, or ask an admin.`
      : `Server "${server}" has answered, but guard "${name}" ${why}, and so the answer is withheld. Do not make the call again to get it: ask an admin.`;
  throw new HubError('guard', text, { data: { guard: name } });
}

function refusal({ target }: GuardedCall, { name }: GuardSettings, on: GuardedMoment, message?: string): HubError {
  const { server, key } = target;
  const text =
    on === 'call'
      ? `The guard "${name}" refuses this call of ${key} (server "${server}").`
      : `Server "${server}" has answered, and the guard "${name}" withholds the answer. Do not make the call again to get it.`;
  return new HubError('guard', message ?? text, { data: { guard: name } });
}
