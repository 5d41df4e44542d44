import type { Target } from '../../core/access/view.ts';
import type { HubError } from '../../core/errors.ts';
import { editObject, memberText } from '../../core/json/text.ts';
import type { RpcMessage } from '../../core/protocol/rpc.ts';
import { governanceLimits } from '../../governance/limits.ts';
import type { Governance } from './admission.ts';
import { answerWithoutSecrets, tooLong } from './call-secrets.ts';

/** What of a call is needed to look at its answer. */
export interface AnsweredCall {
  readonly target: Target;
  readonly options: { readonly governance: Governance };
}

interface Answer {
  readonly message: RpcMessage;
  /** What `message` is. */
  readonly text: string;
}

/** Whether anything looks at the answers of this server before callers get them. */
export function isLookedAt({ target, options }: AnsweredCall): boolean {
  const { servers } = options.governance.settings();
  return (servers.get(target.server)?.secretsInCalls?.results ?? 'allow') !== 'allow';
}

/** Why an answer of so many bytes is not let through: it is too large to be looked at. */
export function tooLargeFor({ target }: AnsweredCall, bytes: number): HubError | undefined {
  return bytes > governanceLimits.secretsChars ? tooLong(`The answer of ${target.key}`, target) : undefined;
}

/** The answer of a server as its caller may see it: result and error alike. Throws HubError `guard`. */
export async function checkedAnswer({ target, options }: AnsweredCall, answer: Answer): Promise<Answer> {
  const member = answer.message.result === undefined ? 'error' : 'result';
  const given = memberText(answer.text, member);
  // Its caller gets the hub's own error in place of the server's.
  if (given === undefined || (member === 'error' && target.guarded)) return answer;
  const own = answerWithoutSecrets(given, target, options.governance.settings());
  if (own === given) return answer;
  const text = editObject(answer.text, { [member]: own });
  return { text, message: JSON.parse(text) as RpcMessage };
}
