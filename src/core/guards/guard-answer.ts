import { z } from 'zod';
import { memberText } from '../json/text.ts';
import { coreLimits } from '../limits.ts';
import { isObject } from '../protocol/rpc.ts';

/** What a guard looks at: the member of the question that has it, and of an answer that changes it. */
export type GuardSubject = 'arguments' | 'result' | 'error';

/** Why a guard has not answered, for programs. */
export const guardFailures = ['timeout', 'status', 'unreachable', 'busy', 'too_large', 'no_decision'] as const;
export type GuardFailure = (typeof guardFailures)[number];

/** Why a guard has not answered: `why` is the end of a sentence that begins with the guard. */
export interface GuardFailed {
  readonly kind: 'failed';
  readonly why: string;
  readonly code: GuardFailure;
}

export type GuardVerdict =
  | { readonly kind: 'allow' }
  /** `message` is what the caller is told. */
  | { readonly kind: 'refuse'; readonly message: string | undefined }
  /** `text`: the JSON text that stands in place of what was sent. */
  | { readonly kind: 'change'; readonly text: string; readonly value: Record<string, unknown> }
  /** It is no answer. */
  | GuardFailed;

/** Strict: a guard that sends a change with `allow`, or misspells a member, means something else than what it gets. */
const shape = z.discriminatedUnion('decision', [
  z.strictObject({ decision: z.literal('allow') }),
  z.strictObject({ decision: z.literal('refuse'), message: z.string().optional() }),
  z.strictObject({
    decision: z.literal('change'),
    arguments: z.unknown().optional(),
    result: z.unknown().optional(),
    error: z.unknown().optional(),
  }),
]);

/** What a guard has answered, as text, to a question about its subject. */
export function readGuardAnswer(text: string, subject: GuardSubject): GuardVerdict {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return failed('answered with what is no JSON');
  }
  const { data, error } = shape.safeParse(parsed);
  if (!data) return failed(`answered with what is no decision (${faultIn(error)})`);
  if (data.decision === 'allow') return { kind: 'allow' };
  if (data.decision === 'refuse') {
    const message = data.message?.trim().slice(0, coreLimits.guardMessageChars);
    return { kind: 'refuse', message: message === '' ? undefined : message };
  }
  const given = Object.keys(data).filter((member) => member !== 'decision');
  const value = data[subject];
  if (given.length !== 1 || !isObject(value)) return failed(`answered "change" without "${subject}", an object, alone`);
  return { kind: 'change', text: memberText(text, subject) ?? '{}', value };
}

function failed(why: string): GuardVerdict {
  return { kind: 'failed', why, code: 'no_decision' };
}

/** Its members by name, and not what is in them. */
function faultIn({ issues }: z.ZodError): string {
  const [issue] = issues;
  if (issue?.code === 'unrecognized_keys')
    return `a member "${issue.keys[0]?.slice(0, 50)}" that does not belong there`;
  const at = issue?.path.join('.') ?? '';
  return at === '' ? 'it is no object' : `"${at}" is not as it has to be`;
}
