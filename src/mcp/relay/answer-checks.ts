import { HubError } from '../../core/errors.ts';
import { secretsMode } from '../../core/guards/guards-of.ts';
import { editObject, elements, memberText } from '../../core/json/text.ts';
import { isObject, type RpcMessage } from '../../core/protocol/rpc.ts';
import { isInputRequired } from '../../core/protocol/stateless.ts';
import type { GuardSettings } from '../../core/settings/governance.ts';
import { governanceLimits } from '../../governance/limits.ts';
import { urlElicitationRequired } from '../server-requests/elicitations.ts';
import { answerWithoutSecrets, tooLong } from './call-secrets.ts';
import { guardsFor } from './guard-kinds.ts';
import type { QuestionedCall } from './guard-questions.ts';
import { type GuardedCall, passOrThrowTooLarge, throughGuards } from './guarding.ts';
import { fittingResult } from './output-schema.ts';

interface Answer {
  readonly message: RpcMessage;
  /** What `message` is. */
  readonly text: string;
}

/** Whether anything looks at the answer of a call before its caller gets it. */
export function isLookedAt(call: QuestionedCall): boolean {
  return looksForSecrets(call) || guardsOn(call).length > 0;
}

function looksForSecrets({ target, options }: QuestionedCall): boolean {
  return secretsMode(options.governance.settings(), target.server, 'results') !== 'allow';
}

function guardsOn({ request, target, options }: QuestionedCall): readonly GuardSettings[] {
  return guardsFor(options.governance.settings(), request.method, target, 'result');
}

/**
 * What becomes of an answer of so many bytes: it is looked at, it passes unseen, or it is withheld for the reason that
 * the HubError gives.
 */
export function largeAnswerFate(call: GuardedCall, bytes: number): 'look' | 'pass' | HubError {
  if (looksForSecrets(call))
    return bytes > governanceLimits.secretsChars ? tooLong(`The answer of ${call.target.key}`, call.target) : 'look';
  if (bytes <= governanceLimits.guardSubjectChars) return 'look';
  try {
    passOrThrowTooLarge(call, guardsOn(call));
    return 'pass';
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
}

/**
 * The answer of a server as its caller may see it: result and error alike. What a server of 2026-07-28 asks by its
 * answer is not looked at, nor its state, nor the addresses that an error asks to open. A question alone is not shown
 * to guards, and what they are shown fits the tool's output schema where it was masked. Throws HubError `guard`.
 */
export async function checkedAnswer(call: GuardedCall, answer: Answer, isStateless: boolean): Promise<Answer> {
  const { target, options } = call;
  const subject = answer.message.result === undefined ? 'error' : 'result';
  const given = memberText(answer.text, subject);
  // Its caller gets the hub's own error in place of the server's.
  if (given === undefined || (subject === 'error' && target.guarded)) return answer;
  const { rest, whole } = withoutQuestions(answer.message, given, isStateless);
  const masked = answerWithoutSecrets(rest, target, options.governance.settings());
  const isChanged = masked !== rest && call.request.method === 'tools/call';
  const clean = isChanged ? fittingResult(rest, masked, options.governance.catalogue(), target) : masked;
  const guards = isStateless && isQuestionAlone(answer.message.result) ? [] : guardsOn(call);
  const own = await throughGuards(call, { on: 'result', subject, guards }, clean);
  if (own === rest) return answer;
  const text = editObject(answer.text, { [subject]: whole(own) });
  return { text, message: JSON.parse(text) as RpcMessage };
}

interface Asking {
  /** The result or error without what it asks, and without the server's state. */
  readonly rest: string;
  /** What became of `rest`, with that in its place. */
  readonly whole: (own: string) => string;
}

/** A state that was changed would be no state, and an address none. */
function withoutQuestions({ result, error }: RpcMessage, given: string, isStateless: boolean): Asking {
  if (isStateless && isInputRequired(result)) return takenOut(given, ['inputRequests', 'requestState']);
  if (isObject(error) && error['code'] === urlElicitationRequired) return withoutAddresses(given);
  return { rest: given, whole: (own) => own };
}

function takenOut(given: string, names: readonly string[], isTaken = (_value: string) => true): Asking {
  const asked = Object.fromEntries(
    names.flatMap((name) => {
      const value = memberText(given, name);
      return value === undefined || !isTaken(value) ? [] : [[name, value] as const];
    }),
  );
  const taken = Object.fromEntries(Object.keys(asked).map((name) => [name, null]));
  return { rest: editObject(given, taken), whole: (own) => editObject(own, asked) };
}

/** Takes out the addresses of an error that asks to open them, and what they are called, where these are texts. */
function withoutAddresses(given: string): Asking {
  const data = memberText(given, 'data') ?? '';
  const listed = memberText(data, 'elicitations') ?? '';
  const asked = elements(listed).map((one) =>
    takenOut(one, ['url', 'elicitationId'], (value) => value.startsWith('"')),
  );
  if (asked.length === 0) return { rest: given, whole: (own) => own };
  const withList = (error: string, inside: string, list: readonly string[]): string =>
    editObject(error, { data: editObject(inside, { elicitations: `[${list.join(',')}]` }) });
  return {
    rest: withList(
      given,
      data,
      asked.map(({ rest }) => rest),
    ),
    whole(own) {
      const inside = memberText(own, 'data') ?? '';
      const list = elements(memberText(inside, 'elicitations') ?? '');
      // What a guard gave in place of them stays.
      if (list.length !== asked.length) return own;
      return withList(
        own,
        inside,
        list.map((one, at) => asked[at]?.whole(one) ?? one),
      );
    },
  };
}

/** Whatever comes with a question is looked at as in any other answer. */
function isQuestionAlone(result: unknown): boolean {
  return isObject(result) && isInputRequired(result) && Object.keys(result).every((name) => ofQuestions.has(name));
}

const ofQuestions = new Set(['resultType', 'inputRequests', 'requestState']);
