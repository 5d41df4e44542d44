import type { Target, View } from '../../core/access/view.ts';
import { HubError } from '../../core/errors.ts';
import { ownServer } from '../../core/own-items.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { ApprovalQuestion } from '../../governance/approvals.ts';
import { unknownTarget } from '../failure.ts';
import { type ClientRequest, type FindTarget, viewNow } from '../request.ts';
import { type Admission, admit } from './admission.ts';
import { mayHoldSecrets } from './call-secrets.ts';
import { guardsFor } from './guard-kinds.ts';
import type { RelayOptions } from './options.ts';

/** A call that has waited: for its server, or for a person. */
export interface WaitingCall {
  readonly request: ClientRequest;
  readonly target: Target;
  readonly find: FindTarget;
  /** A person was asked, and has said yes. */
  readonly approvedBy: string | undefined;
  /** By which its guards were chosen, and its arguments looked through for secrets. */
  readonly decidedBy: Settings;
}

type Deciding = Pick<RelayOptions, 'views' | 'governance'>;

/**
 * Why a call may not go on after a while, in which the target, or the whole endpoint, may have been closed to the
 * client; undefined when it may.
 */
export async function refusedNow(call: WaitingCall, options: Deciding): Promise<HubError | undefined> {
  try {
    return refusedIn(await viewNow(call.request, options.views), call, options);
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
}

/** The same at once, for a sender who was looked up a moment ago. */
export function refusedAtOnce(call: WaitingCall, options: Deciding): HubError | undefined {
  const { principal, scope } = call.request;
  return refusedIn(options.views.get(principal, scope), call, options);
}

/**
 * What is to happen before a call goes on to which a person has said yes: a limit or a guard may have been set while it
 * waited for that. Throws HubError, or rejects with it.
 */
export async function admittedNow(
  call: WaitingCall,
  options: Deciding,
): Promise<{ readonly admission: Admission | undefined; readonly decidedBy: Settings }> {
  const admission = admittedIn(await viewNow(call.request, options.views), call, options);
  return { admission, decidedBy: options.governance.settings() };
}

function refusedIn(view: View, call: WaitingCall, options: Deciding): HubError | undefined {
  try {
    const { guards = [] } = admittedIn(view, call, options) ?? {};
    const asked = guardsFor(call.decidedBy, call.request.method, call.target, 'call').map((one) => JSON.stringify(one));
    return guards.every((one) => asked.includes(JSON.stringify(one))) ? undefined : changed(call.target);
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
}

/**
 * The decision about a call, made again. Also where its caller sees the same as before: policies may look at the time.
 * Throws HubError.
 */
function admittedIn(view: View, call: WaitingCall, { governance }: Deciding): Admission | undefined {
  const request = { ...call.request, view };
  const { target, decidedBy } = call;
  const { server, key, rules } = call.find(request).target;
  if (server !== target.server || key !== target.key) throw unknownTarget(request);
  // The arguments of the call were made by the rules of that time, and looked through for secrets as was set then.
  if (JSON.stringify(rules) !== JSON.stringify(target.rules)) throw changed(target);
  if (mayHoldSecrets(request, target, decidedBy, governance.settings())) throw changed(target);
  const admission = admit(request, target, governance);
  const asks = admission?.question;
  if (asks && call.approvedBy !== yesTo(asks)) throw changedMeanwhile(target, asks.policy);
  return admission;
}

/** What a person says yes to: another policy, or the same that asks other people, wants a yes of its own. */
export function yesTo({ policy, who }: Pick<ApprovalQuestion, 'policy' | 'who'>): string {
  return JSON.stringify([policy, who]);
}

/** A policy asks for a yes that it did not ask for when the call was made. */
export function changedMeanwhile({ server, key }: Target, policy: string): HubError {
  const text = `${key} of server "${server}" changed while the call waited, and the policy "${policy}" now asks before it. Make the call again.`;
  return new HubError('approval', text, { data: { policy } });
}

function changed({ server, key }: Target): HubError {
  const text = `${key} of server "${server}", or what is looked at in its calls, changed while the call waited. Make the call again.`;
  return new HubError('conflict', text);
}

/**
 * Why a call that is on its way ends: its sender is not let in any more, may not reach the server, or has taken back
 * the credentials that it goes with.
 */
export async function withdrawnNow(
  { request, target: { server } }: Pick<WaitingCall, 'request' | 'target'>,
  { views, connections }: Pick<RelayOptions, 'views' | 'connections'>,
): Promise<HubError | undefined> {
  try {
    const { servers } = await viewNow(request, views);
    if (server === ownServer) return undefined;
    if (!servers.includes(server)) return unknownTarget(request);
    return connections.withoutCredentials(server, request.principal);
  } catch (error) {
    // A database that is away, for example, says nothing of who may come in.
    return error instanceof HubError && isRefusal(error) ? error : undefined;
  }
}

function isRefusal({ code }: HubError): boolean {
  return code === 'unauthenticated' || code === 'forbidden' || code === 'not_found';
}
