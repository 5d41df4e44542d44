import { HubError } from '../../core/errors.ts';
import { secretsMode } from '../../core/guards/guards-of.ts';
import { editObject, memberText } from '../../core/json/text.ts';
import type { RpcMessage } from '../../core/protocol/rpc.ts';
import type { GuardSettings } from '../../core/settings/governance.ts';
import { governanceLimits } from '../../governance/limits.ts';
import { answerWithoutSecrets, tooLong } from './call-secrets.ts';
import { guardsFor } from './guard-kinds.ts';
import type { QuestionedCall } from './guard-questions.ts';
import { type GuardedCall, passOrThrowTooLarge, throughGuards } from './guarding.ts';

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

/** The answer of a server as its caller may see it: result and error alike. Throws HubError `guard`. */
export async function checkedAnswer(call: GuardedCall, answer: Answer): Promise<Answer> {
  const { target, options } = call;
  const subject = answer.message.result === undefined ? 'error' : 'result';
  const given = memberText(answer.text, subject);
  // Its caller gets the hub's own error in place of the server's.
  if (given === undefined || (subject === 'error' && target.guarded)) return answer;
  const clean = answerWithoutSecrets(given, target, options.governance.settings());
  const own = await throughGuards(call, { on: 'result', subject, guards: guardsOn(call) }, clean);
  if (own === given) return answer;
  const text = editObject(answer.text, { [subject]: own });
  return { text, message: JSON.parse(text) as RpcMessage };
}
