import { createHash } from 'node:crypto';
import type { Catalogue, Item } from '../catalogue.ts';
import { memberText } from '../json/text.ts';
import { coreLimits } from '../limits.ts';
import { networkOf } from '../network.ts';
import {
  type PolicyAction,
  type PolicyContext,
  type PolicyPrincipal,
  type PolicyResource,
  type PolicySet,
  type PolicyVerdict,
  policySetOf,
} from '../policies/policy-set.ts';
import type { CallLimits } from '../settings/governance.ts';
import type { ItemSettings } from '../settings/server.ts';
import type { Settings } from '../settings/settings.ts';
import { type IssuedPrincipal, type Principal, principalId } from './principal.ts';
import { groupNamed } from './endpoint.ts';
import { userOf } from './identity.ts';
import { groupOf, groupsOf } from './rules.ts';
import { type Scope, scopeId } from './scope.ts';
import { annotationsText } from './tool-override.ts';
import type { Target } from './view.ts';

/**
 * The decision about a call (CONTRACT §9), the only one: access and pins decide what a caller sees (`view.ts`), and of
 * what is seen this file says whether it may be called now. Every surface asks it at the place where calls pass
 * (`mcp/relay/admission.ts`), and `why` explains it from the same answers. Pure: settings, catalogue and question in,
 * verdict out.
 */

/** A call of something that the caller sees. */
export interface CallQuestion {
  readonly settings: Settings;
  readonly catalogue: Pick<Catalogue, 'offers'>;
  readonly principal: Principal;
  readonly scope: Scope;
  readonly action: PolicyAction;
  readonly target: Target;
  readonly args: Readonly<Record<string, unknown>>;
  /** Why the arguments are not clear, where they are not. */
  readonly unclear?: (() => string | undefined) | undefined;
  readonly client: string | undefined;
  readonly address: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What has to be true for the call to go on. */
export interface CallVerdict {
  readonly policy: PolicyVerdict;
  /** What it is counted by. */
  readonly counted: readonly Counted[];
}

/** One count that a call belongs to. */
export interface Counted {
  /** The same for all calls that are counted together. */
  readonly id: string;
  /** What it is called in messages: `user "ann"`. */
  readonly what: string;
  readonly limits: CallLimits;
  /** Of a count that several callers share: which of them this is. */
  readonly caller: string | undefined;
}

/** Whether anything but access may decide about a call; where nothing does, no question is made. */
export function isGoverned(settings: Settings, action: PolicyAction, target: Target): boolean {
  return (action === 'call' && hasLimits(settings)) || isConcerned(settings, action, target);
}

function isConcerned({ system }: Settings, action: PolicyAction, { server, key }: Target): boolean {
  return policySetOf(system.policies)?.concerns(action, typeOf[action], server, key) === true;
}

/** Undefined where nothing but access decides, as for nearly all calls: nothing is made for them. */
export function judge(question: CallQuestion): CallVerdict | undefined {
  const { settings, action, target } = question;
  const policies = isConcerned(settings, action, target) ? policySetOf(settings.system.policies) : undefined;
  const counted = action === 'call' && hasLimits(settings) ? countsOf(question) : none;
  if (!policies && counted.length === 0) return undefined;
  return { policy: policies ? judgedBy(policies, question) : noPolicy, counted };
}

type Unasked = Pick<CallQuestion, 'settings' | 'catalogue' | 'principal' | 'scope' | 'action' | 'target'>;

/**
 * Whether something may be given to a principal that it has not asked for one by one: where no policy keeps it from
 * using it, or asks first. What only a call has is not known.
 */
export function mayBeTold(question: Unasked & Partial<Pick<CallQuestion, 'address'>>): boolean {
  const verdict = judge({ address: undefined, ...question, args: {}, client: undefined, now: Date.now() });
  return verdict === undefined || verdict.policy.kind === 'none';
}

/** Whether a principal may hear of changes of a resource. */
export function mayHear(
  { settings, catalogue }: Pick<CallQuestion, 'settings' | 'catalogue'>,
  { principal, scope }: Pick<CallQuestion, 'principal' | 'scope'>,
  target: Target,
): boolean {
  return mayBeTold({ settings, catalogue, principal, scope, action: 'readResource', target });
}

const none: readonly Counted[] = [];
const noPolicy: PolicyVerdict = { kind: 'none', ignored: [] };
const typeOf = { call: 'Tool', readResource: 'Resource', getPrompt: 'Prompt' } as const;

function judgedBy(policies: PolicySet, question: CallQuestion): PolicyVerdict {
  const { settings, principal, scope, action, args, client, address, now, unclear } = question;
  const context: PolicyContext = {
    arguments: args,
    // Looked up only where a policy reads it.
    get scope() {
      return endpointName(settings, principal, scope);
    },
    mode: scope.kind === 'smart' ? (scope.code ? 'code' : 'smart') : 'tools',
    client,
    address,
    time: now,
  };
  return policies.judge({
    principal: policyPrincipal(settings, principal),
    action,
    resource: policyResource(question),
    context,
    unclear,
  });
}

/**
 * What policies call an endpoint: the name of its group or server, whatever the address is (`/mcp/dev`, the id of the
 * group, `/mcp/$smart/dev`, `/mcp/$code/dev`); empty for all servers. A server whose name a group has too keeps its
 * `$server/`: who trusts the group has not said so of the server.
 */
function endpointName(settings: Settings, principal: Principal, scope: Scope): string {
  if (scope.kind === 'all') return '';
  if (scope.kind === 'server') return groupNamed(settings, scope.name) ? scopeId(scope) : scope.name;
  const name = scope.kind === 'smart' ? scope.group : scope.name;
  return name === undefined ? '' : (groupOf(settings, principal, scope)?.name ?? name);
}

const principals = new WeakMap<Settings, Map<string, PolicyPrincipal>>();

/**
 * Who a principal is to policies. A user's own key and a client that a user let in are that user: otherwise a user
 * could get out of a policy by making a key.
 */
export function policyPrincipal(settings: Settings, principal: Principal): PolicyPrincipal {
  const ofSettings = principals.get(settings) ?? new Map<string, PolicyPrincipal>();
  principals.set(settings, ofSettings);
  const id = principalId(principal);
  const found = ofSettings.get(id) ?? lookUp(settings, principal);
  if (ofSettings.size < coreLimits.views) ofSettings.set(id, found);
  return found;
}

function lookUp(settings: Settings, principal: Principal): PolicyPrincipal {
  const groups = groupsOf(settings, principal).map(({ name }) => name);
  const user = userOf(settings, principal);
  if (user) return { type: 'User', id: user.username, groups, role: user.role, name: user.username };
  if (principal.kind === 'key') {
    const name = settings.keys.find(({ id }) => id === principal.id)?.name ?? principal.id;
    return { type: 'Key', id: principal.id, groups, role: 'key', name };
  }
  // No account here can have such a name.
  if (principal.kind === 'issued')
    return { type: 'User', id: `${principal.issuer}#${principal.subject}`, groups, role: 'user', name: principal.name };
  return { type: 'Anonymous', id: 'anonymous', groups, role: 'anonymous', name: 'anonymous' };
}

function policyResource({ settings, catalogue, action, target }: CallQuestion): PolicyResource {
  const { server, key } = target;
  const tool = action === 'call' ? toolOf(catalogue.offers.get(server)?.tools, key) : undefined;
  const { readOnly, destructive, openWorld } = tool
    ? annotationsOf(tool, settings.servers.get(server)?.tools.get(key))
    : silent;
  return { type: typeOf[action], server, key, readOnly, destructive, openWorld };
}

const byKey = new WeakMap<readonly Item[], ReadonlyMap<string, Item>>();

/** Undefined for what the server does not offer. */
export function toolOf(tools: readonly Item[] | undefined, key: string): Item | undefined {
  if (!tools) return undefined;
  const known = byKey.get(tools) ?? new Map(tools.map((item) => [item.key, item]));
  byKey.set(tools, known);
  return known.get(key);
}

type Annotations = Pick<PolicyResource, 'readOnly' | 'destructive' | 'openWorld'>;

/** What MCP takes of a tool that says nothing (2025-11-25, ToolAnnotations). */
const silent: Annotations = { readOnly: false, destructive: true, openWorld: true };

const annotations = new WeakMap<Item, { readonly settings: ItemSettings | undefined; readonly known: Annotations }>();

/** What a tool says of itself, or the settings in its place. One that only reads destroys nothing but if it says so. */
function annotationsOf(item: Item, settings: ItemSettings | undefined): Annotations {
  const kept = annotations.get(item);
  if (kept && kept.settings === settings) return kept.known;
  const text = annotationsText(item, settings);
  const said = (name: string, otherwise: boolean): boolean => {
    const value = memberText(text, name);
    return value === 'true' || (value !== 'false' && otherwise);
  };
  const readOnly = said('readOnlyHint', silent.readOnly);
  const known = {
    readOnly,
    destructive: said('destructiveHint', !readOnly),
    openWorld: said('openWorldHint', silent.openWorld),
  };
  annotations.set(item, { settings, known });
  return known;
}

const limited = new WeakMap<Settings, boolean>();

function hasLimits(settings: Settings): boolean {
  let known = limited.get(settings);
  if (known === undefined) {
    const { servers, groups, users, keys, system } = settings;
    known =
      system.defaultLimits !== undefined ||
      [...servers.values(), ...groups, ...users, ...keys].some(({ limits }) => limits !== undefined);
    limited.set(settings, known);
  }
  return known;
}

/** What a call is counted by: its caller, the caller on the group's endpoint, the server. */
export function countsOf({ settings, principal, scope, target, address }: CallQuestion): readonly Counted[] {
  const { caller, counts } = callerCounts(settings, principal, address);
  const group = groupOf(settings, principal, scope);
  const server = settings.servers.get(target.server);
  return [
    ...counts,
    ...(group?.limits
      ? [
          {
            id: `group ${inOneLine(group.id)}\n${caller}`,
            what: `group "${group.name}"`,
            limits: group.limits,
            caller: undefined,
          },
        ]
      : []),
    ...(server?.limits
      ? [{ id: `server ${server.name}`, what: `server "${server.name}"`, limits: server.limits, caller }]
      : []),
  ];
}

function callerCounts(settings: Settings, principal: Principal, address: string | undefined) {
  const user = userOf(settings, principal);
  const key = principal.kind === 'key' ? settings.keys.find(({ id }) => id === principal.id) : undefined;
  const caller = user
    ? `user ${user.username}`
    : principal.kind === 'anonymous'
      ? `address ${address === undefined ? '-' : networkOf(address)}`
      : principal.kind === 'issued'
        ? issuedCaller(principal)
        : principalId(principal);
  const own = [
    ...(user?.limits
      ? [{ id: `user ${user.username}`, what: `user "${user.username}"`, limits: user.limits, caller: undefined }]
      : []),
    ...(key?.limits
      ? [{ id: `key ${key.id}`, what: `access key "${key.name}"`, limits: key.limits, caller: undefined }]
      : []),
  ];
  const { defaultLimits } = settings.system;
  // Users make keys for themselves: the limits of such a key are more, and never in place of the default.
  const hasOwn = user ? user.limits !== undefined : key?.limits !== undefined;
  if (hasOwn || !defaultLimits) return { caller, counts: own };
  const what = user ? `user "${user.username}"` : key ? `access key "${key.name}"` : 'this caller';
  return { caller, counts: [...own, { id: `default ${caller}`, what, limits: defaultLimits, caller: undefined }] };
}

/** The holder of a trusted issuer's token by who it is: another name or other groups in it are no new count. */
function issuedCaller({ issuer, subject }: IssuedPrincipal): string {
  // Counts are kept by it: what an issuer chooses is as long as any other.
  return `issued ${hashOf(issuer)} ${hashOf(subject)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** The first line break of a count's id is that before the caller. */
function inOneLine(groupId: string): string {
  return groupId.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
