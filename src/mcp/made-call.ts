import { type CallQuestion, judge } from '../core/access/decision.ts';
import type { Principal } from '../core/access/principal.ts';
import type { Target } from '../core/access/view.ts';
import type { Catalogue } from '../core/catalogue.ts';
import type { PolicyVerdict } from '../core/policies/policy-set.ts';
import { isObject } from '../core/protocol/rpc.ts';
import type { Settings } from '../core/settings/settings.ts';
import { clientNameFor } from './client-name.ts';
import type { ClientRequest } from './request.ts';

/** A call of a tool that was made, with what policies know of it, for when its result is wanted later. */
export type MadeCall = Pick<CallQuestion, 'scope' | 'target' | 'args' | 'unclear' | 'client' | 'address'>;

/** What policies decide by now. */
export interface DecidedBy {
  readonly settings: () => Settings;
  readonly catalogue: () => Catalogue;
}

export function madeCall(request: ClientRequest, target: Target): MadeCall {
  const { scope, address, message } = request;
  const given = isObject(message.params) ? message.params['arguments'] : undefined;
  return { scope, target, args: isObject(given) ? given : {}, client: clientNameFor(request), address };
}

/** The policy that would refuse the call if it were made now; undefined where none would. */
export function forbiddenNow(
  principal: Principal,
  call: MadeCall,
  { settings, catalogue }: DecidedBy,
): Extract<PolicyVerdict, { kind: 'refuse' }> | undefined {
  const now = { settings: settings(), catalogue: catalogue(), principal, action: 'call', now: Date.now() } as const;
  const policy = judge({ ...call, ...now })?.policy;
  return policy?.kind === 'refuse' ? policy : undefined;
}
