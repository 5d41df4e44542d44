import { type HubError, reworded } from '../../core/errors.ts';
import { type Reason, type ReasonCode, reasonWords } from '../../core/reasons.ts';
import type { Printed } from '../channels/channel.ts';
import { SignInRequired } from '../channels/credential.ts';

/** What is known of an attempt to connect that failed. */
export interface FailedAttempt {
  /** How long the server had. */
  readonly timeoutMs: number;
  /** Absent for a server that is no program. */
  readonly printed: Printed | undefined;
}

/** Reasons that are known by number only: what the server said last belongs to them. */
const needOutput: ReadonlySet<ReasonCode> = new Set(['exited', 'exited_after_noise', 'killed', 'hung_up', 'slow']);

/** Why a server is not connected, in the words of the table of reasons where the reason is known. */
export function explained(failure: HubError, attempt: FailedAttempt | undefined): HubError {
  if (failure.cause instanceof SignInRequired)
    return reworded(failure, failure.message, { reason: { code: 'sign_in_needed', values: {} } });
  const late = failure.code === 'timeout' && attempt !== undefined && failure.reason === undefined;
  const reason = late ? whyLate(attempt) : failure.reason;
  const output = late ? attempt.printed?.output : failure.output;
  if (!reason) return failure;
  const { text, advice } = reasonWords(reason);
  // A quoted line may end without a full stop.
  const end = /[.!?"]$/.test(text) ? '' : '.';
  return reworded(failure, `${text}${end} ${advice}${said(reason, output)}`, { reason, output });
}

/** Of a start that took too long: what its program printed usually says why. */
function whyLate({ timeoutMs, printed }: FailedAttempt): Reason {
  const seconds = String(timeoutMs / 1_000);
  if (!printed) return { code: 'silent_address', values: { seconds } };
  if (printed.stray) return { code: 'stdout_noise', values: { seconds, line: printed.stray } };
  if (printed.line === '') return { code: 'silent', values: { seconds } };
  return printed.reason ?? { code: 'slow', values: { seconds, line: printed.line } };
}

function said({ code, values }: Reason, output: string | undefined): string {
  if (output === undefined || output === '' || output === values['line']) return '';
  if (needOutput.has(code)) return ` It said last:\n${output}`;
  return 'where' in values ? ` It said: ${output}` : '';
}
