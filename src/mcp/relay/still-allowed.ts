import type { Target, View } from '../../core/access/view.ts';
import { HubError } from '../../core/errors.ts';
import { ownServer } from '../../core/own-items.ts';
import type { ApprovalQuestion } from '../../governance/approvals.ts';
import { unknownTarget } from '../failure.ts';
import { type ClientRequest, type FindTarget, viewNow } from '../request.ts';
import { admit } from './admission.ts';
import type { RelayOptions } from './options.ts';

/** A call that has waited: for its server, or for a person. */
export interface WaitingCall {
  readonly request: ClientRequest;
  readonly target: Target;
  readonly find: FindTarget;
  /** A person was asked, and has said yes. */
  readonly approvedBy: string | undefined;
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

/** A server that was started meanwhile may offer something else: policies judge what it is now. */
function refusedIn(view: View, call: WaitingCall, { governance }: Deciding): HubError | undefined {
  if (view === call.request.view) return undefined;
  const request = { ...call.request, view };
  const { target } = call;
  try {
    const { server, key, rules } = call.find(request).target;
    if (server !== target.server || key !== target.key) return unknownTarget(request);
    // The arguments of the call were made by the rules of that time.
    if (JSON.stringify(rules) !== JSON.stringify(target.rules)) return changedRules(target);
    const asks = admit(request, target, governance)?.question;
    return asks && call.approvedBy !== yesTo(asks) ? changedMeanwhile(target, asks.policy) : undefined;
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
}

/** What a person says yes to: another policy, or the same that asks other people, wants a yes of its own. */
export function yesTo({ policy, who }: Pick<ApprovalQuestion, 'policy' | 'who'>): string {
  return JSON.stringify([policy, who]);
}

/** A policy asks for a yes that it did not ask for when the call was made. */
function changedMeanwhile({ server, key }: Target, policy: string): HubError {
  const text = `${key} of server "${server}" changed while the call waited, and the policy "${policy}" now asks before it. Make the call again.`;
  return new HubError('approval', text, { data: { policy } });
}

function changedRules({ server, key }: Target): HubError {
  const text = `${key} of server "${server}" changed while the call waited. Make the call again.`;
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
