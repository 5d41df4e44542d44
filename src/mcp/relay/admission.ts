import {
  type CallQuestion,
  type Counted,
  type CallVerdict,
  isGoverned,
  judge,
  policyPrincipal,
} from '../../core/access/decision.ts';
import { type Principal, principalId } from '../../core/access/principal.ts';
import type { Target } from '../../core/access/view.ts';
import type { AuditSink } from '../../core/audit.ts';
import type { Catalogue } from '../../core/catalogue.ts';
import { HubError } from '../../core/errors.ts';
import { duplicateName } from '../../core/json/duplicates.ts';
import { memberText } from '../../core/json/text.ts';
import { coreLimits } from '../../core/limits.ts';
import { networkOf } from '../../core/network.ts';
import type { PolicyAction } from '../../core/policies/policy-set.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { GuardSettings } from '../../core/settings/governance.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { ApprovalQuestion, Approvals } from '../../governance/approvals.ts';
import type { CallCounts, Refused, Round, Taken } from '../../governance/call-counts.ts';
import type { Guards } from '../../governance/guards.ts';
import { clientNameFor } from '../client-name.ts';
import type { ClientRequest } from '../request.ts';
import { guardsFor } from './guard-kinds.ts';

/** What the decision about calls is made of, besides what callers see (CONTRACT §9). */
export interface Governance {
  /** As the views have them. */
  readonly settings: () => Settings;
  readonly catalogue: () => Catalogue;
  readonly counts: CallCounts;
  readonly approvals: Pick<Approvals, 'approved' | 'giveBack' | 'passRound'>;
  readonly audit: Pick<AuditSink, 'counted'>;
  readonly guards: Pick<Guards, 'ask' | 'noted'>;
}

/** What has to happen before a call goes to its server, in this order. */
export interface Admission {
  /** Who has to say yes first; undefined: no one. */
  readonly question: ApprovalQuestion | undefined;
  /** Whether limits count it. */
  readonly isCounted: boolean;
  /**
   * Counts the call against its limits, but for a `round` of one that was counted. Throws HubError `limit_exceeded`, or
   * rejects with it; gives the end of it. `takesPlace`: false for what is no call at the same time as others.
   */
  count(round?: Round, takesPlace?: boolean): (() => void) | Promise<() => void>;
  /** Webhooks that look at the call, one after the other. */
  readonly guards: readonly GuardSettings[];
}

/**
 * Whether a request for something that its sender sees may go on; undefined where only access decides. Throws HubError
 * `policy`.
 */
export function admit(request: ClientRequest, target: Target, governance: Governance): Admission | undefined {
  const settings = governance.settings();
  const verdict = verdictOn(request, target, settings, governance);
  const guards = guardsFor(settings, request.method, target, 'call');
  if (!verdict && guards.length === 0) return undefined;
  const { question, counted = [] } = verdict ?? {};
  return {
    question,
    guards,
    isCounted: counted.length > 0,
    count(round, takesPlace = true) {
      if (counted.length === 0) return () => undefined;
      const taken = governance.counts.take(takesPlace ? counted : counted.map(withoutPlace), round);
      return taken instanceof Promise ? taken.then(released) : released(taken);
    },
  };
}

function withoutPlace(counted: Counted): Counted {
  return { ...counted, limits: { ...counted.limits, concurrentCalls: undefined } };
}

interface Verdict {
  readonly question: ApprovalQuestion | undefined;
  readonly counted: CallVerdict['counted'];
}

/** Undefined where neither policies nor limits have anything to say. Throws HubError `policy`. */
function verdictOn(
  request: ClientRequest,
  target: Target,
  settings: Settings,
  { catalogue }: Governance,
): Verdict | undefined {
  const action = actions.get(request.method) ?? completed(request);
  if (action === undefined || !isGoverned(settings, action, target)) return undefined;
  const asked = questionOf(request, target, action, { settings, catalogue: catalogue() });
  const verdict = judge(asked);
  if (!verdict) return undefined;
  const { policy, counted } = verdict;
  if (policy.kind === 'refuse') throw forbidden(policy.policy, policy.message, target);
  // Completing an argument is no use of what it is for, nor is asking what a skill consists of: it is not counted, and
  // people are not asked.
  if (!actions.has(request.method)) return undefined;
  if (policy.kind === 'none' && counted.length === 0) return undefined;
  return { question: policy.kind === 'ask' ? approvalOf(request, target, policy, asked) : undefined, counted };
}

const actions: ReadonlyMap<string, PolicyAction> = new Map([
  ['tools/call', 'call'],
  ['resources/read', 'readResource'],
  ['prompts/get', 'getPrompt'],
]);

/** What `completion/complete` helps to use, and what a skill or a folder is made of. */
function completed({ method, message }: ClientRequest): PolicyAction | undefined {
  if (method === 'skills/get' || method === 'resources/directory/read') return 'readResource';
  const ref = method === 'completion/complete' && isObject(message.params) ? message.params['ref'] : undefined;
  if (!isObject(ref)) return undefined;
  return ref['type'] === 'ref/prompt' ? 'getPrompt' : 'readResource';
}

function questionOf(
  request: ClientRequest,
  target: Target,
  action: PolicyAction,
  { settings, catalogue }: Pick<CallQuestion, 'settings' | 'catalogue'>,
): CallQuestion {
  const { principal, scope, address, message, params = '{}' } = request;
  const given = isObject(message.params) ? message.params['arguments'] : undefined;
  // Written out: an object that is spread and then added to takes several microseconds.
  return {
    settings,
    catalogue,
    principal,
    scope,
    action,
    target,
    args: isObject(given) ? given : {},
    unclear: () => unclear(params, given),
    client: clientNameFor(request),
    address,
    now: Date.now(),
  };
}

/** Why arguments have two readings, if they do: servers may read them in another way than the hub. */
export function unclear(params: string, given: unknown): string | undefined {
  if (given !== undefined && !isObject(given)) return 'its arguments are no object.';
  const args = memberText(params, 'arguments');
  const twice = mayRepeatArguments(params) ? duplicateName(params, 1) : undefined;
  const name = twice ?? (args === undefined ? undefined : duplicateName(args, coreLimits.policyArgumentDepth));
  return name === undefined ? undefined : `its arguments have the name ${JSON.stringify(name.slice(0, 100))} twice.`;
}

/** Also under a name with escapes. */
function mayRepeatArguments(params: string): boolean {
  const name = '"arguments"';
  return params.includes('\\u') || params.includes(name, params.indexOf(name) + name.length);
}

/** `message`: what the policy says itself. */
export function forbidden(policy: string, message: string | undefined, { server, key }: Target): HubError {
  const text = message ?? `The policy "${policy}" forbids ${key} of server "${server}" here.`;
  return new HubError('policy', text, { data: { policy } });
}

interface Asking {
  readonly policy: string;
  readonly who: string;
  readonly message: string | undefined;
}

function approvalOf(
  request: ClientRequest,
  { server, key, rules }: Target,
  { policy, who, message }: Asking,
  { settings }: CallQuestion,
): ApprovalQuestion {
  const { principal, params = '{}', address } = request;
  const { type, name } = policyPrincipal(settings, principal);
  return {
    who,
    policy,
    message,
    server,
    tool: key,
    ...(rules && { hidden: rules.rules.filter(([, { hidden }]) => hidden).map(([name]) => name) }),
    principal: callerId(principal, address),
    action: actions.get(request.method),
    caller: name,
    callerKind: type.toLowerCase(),
    client: clientNameFor(request),
    address,
    arguments: memberText(params, 'arguments') ?? '{}',
  };
}

/** Callers without a credential are told apart by where they are. */
function callerId(principal: Principal, address: string | undefined): string {
  const id = principalId(principal);
  return principal.kind === 'anonymous' && address !== undefined ? `${id} ${networkOf(address)}` : id;
}

function released(taken: Taken): () => void {
  if (taken.kind === 'taken') return taken.release;
  throw limitError(taken);
}

/** What a caller is told past a limit. */
export function limitError({ what, limit, allowed, isShared, retryAfterMs }: Refused): HubError {
  const shared = isShared ? ', and others want their part of it' : '';
  const text = `${what.charAt(0).toUpperCase()}${what.slice(1)} may make ${allowed} calls ${limitWords[limit]}${shared}. Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`;
  return new HubError('limit_exceeded', text, { retryAfterMs: Math.ceil(retryAfterMs) });
}

const limitWords = {
  callsPerMinute: 'a minute',
  concurrentCalls: 'at the same time',
  callsPerDay: 'a day (UTC)',
} as const;
