import { guardFailures } from '../guards/guard-answer.ts';
import { named } from './failures.ts';
import { anyObject, count, flag, listOf, object, oneOf, saying, type Shape, text, texts, time } from './schema.ts';

// What the hub decides about calls (CONTRACT §9), as the API answers it.

export const pin = object(
  {
    server: text,
    kind: oneOf(['tool', 'prompt', 'resource', 'resourceTemplate', 'instructions']),
    name: text,
    state: oneOf(['approved', 'changed', 'new', 'gone', 'renamed', 'rejected']),
    risk: oneOf(['none', 'low', 'high']),
    reasons: texts,
    said: saying('`reasons` by name, in the same order, for pages in other languages.', listOf(named)),
    since: time,
  },
  {
    before: saying('As it was approved; of a renamed one with its name.', anyObject),
    now: saying('As the server offers it now.', anyObject),
    hash: saying('With `hashes=true`: SHA-256 of what counts of it now.', text),
  },
);
export type PinAnswer = Shape<typeof pin>;

export const policy = object({
  id: text,
  text: saying('Cedar.', text),
  enabled: flag,
  source: saying('Of `systemConfig.policies`, or a file of `policyFolder`.', oneOf(['settings', 'file'])),
  concerns: saying('The entities that it names, such as `Server::"db"`; none: it is about every call.', texts),
  asks: saying('Whom its `@approve` asks: `caller`, `admin`, or a group.', texts),
  warnings: saying('What it names that is not there, and what has no effect.', texts),
  said: saying(
    '`warnings` by name, in the same order, for pages in other languages; `line` and `column` are among the values of what has a place.',
    listOf(named),
  ),
});
export type PolicyAnswer = Shape<typeof policy>;

const hit = object(
  { activity: saying('The id of the recorded call.', text), tool: text, policy: text, timestamp: time },
  { caller: text },
);

export const simulation = object({
  checked: count,
  withoutArguments: saying('Calls whose arguments were not kept: policies that read them are not tried.', count),
  unknownCallers: saying(
    'Calls of callers who are not there any more, or came with the token of an issuer: not tried.',
    count,
  ),
  refused: listOf(hit),
  asked: listOf(hit),
  warnings: saying(
    'What the policies name that is not there, and what has no effect.',
    listOf(object({ policy: text, text, said: saying('`text` by name.', named) })),
  ),
});
export type SimulationAnswer = Shape<typeof simulation>;

export const explanation = object(
  {
    allowed: saying('A call would go to the server now.', flag),
    steps: listOf(
      object(
        {
          step: oneOf(['access', 'pin', 'policy', 'approval', 'limit']),
          result: oneOf(['allow', 'refuse', 'ask', 'none']),
          reason: text,
        },
        {
          said: saying('`reason` by name, for pages in other languages; absent from the words of a policy.', named),
          ref: saying('What decided: the id of a policy, the name of a group.', text),
        },
      ),
    ),
  },
  {
    guards: saying(
      'What looks at the call or its result besides, and may refuse or change it: `secrets`, or a guard.',
      listOf(object({ guard: text, on: listOf(oneOf(['call', 'result'])) })),
    ),
  },
);
export type ExplanationAnswer = Shape<typeof explanation>;

export const approval = object(
  {
    id: text,
    who: saying('Who is asked: `admin`, or the name of a group.', text),
    policy: text,
    server: text,
    tool: text,
    arguments: saying(
      'JSON text, as it is sent; in a list its first 2,000 characters. For who does not decide, without arguments that the settings hide.',
      text,
    ),
    shown: saying('The same for people: laid out, with characters that are not seen as escapes.', text),
    argumentsCut: saying('There is more of them than is given here.', flag),
    caller: text,
    callerKind: text,
    state: oneOf(['waiting', 'approved', 'denied', 'used', 'expired', 'withdrawn']),
    createdAt: time,
    expiresAt: time,
    mayDecide: saying('You may answer it.', flag),
    mayWithdraw: saying('The call is yours, and waits.', flag),
  },
  { message: text, client: text, address: text, decidedBy: text, decidedAt: time },
);
export type ApprovalAnswer = Shape<typeof approval>;

/** A guard that is switched on. */
export const guard = object(
  { guard: saying('Its id, or its place in the list.', text) },
  {
    failing: saying('Why it does not answer, as the end of a sentence.', text),
    code: saying('The same for programs.', oneOf(guardFailures)),
    since: time,
  },
);
export type GuardAnswer = Shape<typeof guard>;

/** What a guard makes of a sample. */
export const guardTried = object(
  { decision: oneOf(['allow', 'refuse', 'change', 'failed']) },
  {
    message: saying('The words of the guard, or why it has not answered.', text),
    code: saying('Why it has not answered, for programs.', oneOf(guardFailures)),
    changed: saying('What would be sent, or given to the caller, in place of the sample.', anyObject),
  },
);
export type GuardTriedAnswer = Shape<typeof guardTried>;

export const waitingApprovals = object({
  count: saying('Calls that wait for your answer.', count),
  newest: listOf(object({ id: text, server: text, tool: text, caller: text, createdAt: time })),
});
export type WaitingApprovalsAnswer = Shape<typeof waitingApprovals>;
