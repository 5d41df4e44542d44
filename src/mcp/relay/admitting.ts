import { HubError } from '../../core/errors.ts';
import type { Edits } from '../../core/json/text.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { Admission } from './admission.ts';
import { approvedEdits, type WaitingAdmission } from './approval.ts';
import { guardedEdits, type UnsentCall } from './guarding.ts';
import type { RelayOptions } from './options.ts';
import { admittedNow, type WaitingCall, yesTo } from './still-allowed.ts';

/** A call that is not sent before people, limits and guards have let it through. */
export interface UnadmittedCall extends UnsentCall {
  readonly options: UnsentCall['options'] & Pick<RelayOptions, 'views' | 'governance'>;
  readonly waiting: WaitingCall;
  readonly isOver: boolean;
  /** What a person has to say yes to before the call as its client made it (`yesTo`). */
  needsYes: string | undefined;
  /** See `WaitingCall`. */
  decidedBy: Settings;
  /** Ends what it counts against limits on calls at the same time. */
  counted: (() => void) | undefined;
  /** Of a call that limits count: which round of it this is. */
  round: number | undefined;
}

/**
 * Waits for the yes of a person, counts the call against limits, and asks its guards; gives the changes of its params
 * from then on. Throws HubError, `cancelled` where the call has ended meanwhile.
 */
export async function admittedEdits(call: UnadmittedCall, given: WaitingAdmission, edits: Edits): Promise<Edits> {
  const own = given.question ? await approved(call, given, edits) : edits;
  const admission = given.question ? await decidedAgain(call) : given;
  const counted = await (given.counted ?? admission?.count(given.round));
  if (call.isOver) {
    counted?.();
    throw new HubError('cancelled', 'The call is over.');
  }
  call.counted = counted;
  const { guards = [] } = admission ?? {};
  return guards.length > 0 ? guardedEdits(call, { ...given, guards }, own) : own;
}

async function approved(call: UnadmittedCall, given: WaitingAdmission, edits: Edits): Promise<Edits> {
  call.needsYes = given.question && yesTo(given.question);
  const own = await approvedEdits(call, given, edits);
  call.approvedBy = call.needsYes;
  return own;
}

/** A person may take minutes: what is set by then holds. */
async function decidedAgain(call: UnadmittedCall): Promise<Admission | undefined> {
  const { admission, decidedBy } = await admittedNow(call.waiting, call.options);
  call.decidedBy = decidedBy;
  if (admission?.isCounted) call.round ??= 0;
  return admission;
}
