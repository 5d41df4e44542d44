import type { Catalogue, Item } from '../catalogue.ts';
import { HubError, listed } from '../errors.ts';
import { guardNames, secretsMode } from '../guards/guards-of.ts';
import { because, type Because, type NamedRemark } from '../remarks.ts';
import { withoutSecretsInJson } from '../secrets/in-json.ts';
import type { CallLimits } from '../settings/governance.ts';
import type { ServerSettings } from '../settings/server.ts';
import type { Settings } from '../settings/settings.ts';
import { type CallVerdict, judge } from './decision.ts';
import type { Principal } from './principal.ts';
import { isGone } from './identity.ts';
import { resolve, whyReached } from './rules.ts';
import { type Scope, scopeId } from './scope.ts';
import { exposedName, tieBreakName } from './tool-name.ts';
import { isReadOnly, mergedOverride, renamed, withRules } from './tool-override.ts';
import type { Target, View } from './view.ts';

/** One step of a decision (CONTRACT §9, `why`). */
export interface DecisionStep {
  readonly step: 'access' | 'pin' | 'policy' | 'approval' | 'limit';
  readonly result: 'allow' | 'refuse' | 'ask' | 'none';
  /** In a sentence. */
  readonly reason: string;
  /** The same by name; absent from the words of a policy. */
  readonly said?: NamedRemark;
  /** What decided: the id of a policy, the name of a group. */
  readonly ref?: string;
}

export interface Explanation {
  /** A call would go to the server now. */
  readonly allowed: boolean;
  readonly steps: readonly DecisionStep[];
  /** What looks at the call, or its result, besides, and may refuse or change it; absent where nothing does. */
  readonly guards?: ReturnType<typeof guardNames>;
}

/** A call that is asked about. */
export interface WhyQuestion {
  readonly settings: Settings;
  readonly catalogue: Catalogue;
  readonly principal: Principal;
  readonly scope: Scope;
  /** What the principal sees in the scope. */
  readonly view: View;
  /** As exposed, or `server/tool`. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly address: string | undefined;
  readonly now: number;
  /** An admin asks: others learn of nothing that they do not see. */
  readonly isAdmin: boolean;
  /** What the pin of a tool says; undefined where pins are off. */
  readonly pin: (target: Target) => { readonly state: string; readonly isHeld: boolean } | undefined;
  /** Which limit would refuse the call. */
  readonly look: (counted: CallVerdict['counted']) => Past | undefined | Promise<Past | undefined>;
}

interface Past {
  readonly what: string;
  readonly limit: keyof CallLimits;
  readonly allowed: number;
}

/** Every step of the decision about a call, from the same answers as the decision itself. */
export async function explain(question: WhyQuestion): Promise<Explanation> {
  const { settings } = question;
  const target = question.view.tool(question.tool) ?? named(question);
  const access = question.isAdmin ? accessStep(question, target) : accessForOthers(question, target);
  if (access.result === 'refuse' || !target) return refused([access], 'access');
  const pin = pinStep(question, target);
  if (pin.result === 'refuse') return refused([access, pin], 'pin');
  const sent = argumentsSent(question, target);
  if ('refused' in sent) return refused([access, pin, sent.refused], 'policy');
  const verdict = judge({ ...question, args: sent.args, action: 'call', target, client: undefined });
  const policy = policyStep(verdict, settings);
  if (policy.result === 'refuse') return refused([access, pin, policy], 'policy');
  const approval = approvalStep(verdict);
  const limit = await limitStep(question, verdict);
  const steps = [access, pin, policy, approval, limit];
  const guards = guardNames(settings, target.server);
  const allowed = steps.every(({ result }) => result === 'allow' || result === 'none');
  return { allowed, steps, ...(guards.length > 0 && { guards }) };
}

const order = ['access', 'pin', 'policy', 'approval', 'limit'] as const;

function refused(steps: readonly DecisionStep[], by: (typeof order)[number]): Explanation {
  const rest = order.slice(order.indexOf(by) + 1);
  const why = because('why_not_asked', { step: by });
  const notAsked = rest.map((step): DecisionStep => ({ step, result: 'none', ...why }));
  return { allowed: false, steps: [...steps, ...notAsked] };
}

function ownName(tool: string): Target | undefined {
  const at = tool.indexOf('/');
  return at <= 0 ? undefined : { server: tool.slice(0, at), key: tool.slice(at + 1) };
}

/** The tool that a name stands for, seen by the caller or not. */
function named({ settings, catalogue, principal, scope, tool }: WhyQuestion): Target | undefined {
  const own = ownName(tool);
  if (own && settings.servers.has(own.server)) return own;
  const separator = settings.system.nameSeparator;
  const { members } = resolve(settings, principal, scope);
  const prefixes = [...settings.servers.keys(), ...members.map(({ prefix }) => prefix)];
  for (const [server, { tools }] of catalogue.offers) {
    const switches = settings.servers.get(server)?.tools;
    // On the endpoint of a group both may go by other names.
    const { prefix = server, overrides } = members.find((one) => one.server.name === server) ?? {};
    const names = switches && renamed(tools, (key) => mergedOverride(switches.get(key), overrides?.get(key)));
    const isIt = ({ key }: Item): boolean =>
      exposedName(prefix, names?.get(key) ?? key, separator, prefixes) === tool ||
      tieBreakName(prefix, key, separator) === tool;
    const item = tools.find(isIt);
    if (item) return { server, key: item.key };
  }
  const server = prefixes
    .filter((name) => tool.startsWith(`${name}${separator}`))
    .sort((a, b) => b.length - a.length)[0];
  return server === undefined ? undefined : { server, key: tool.slice(server.length + separator.length) };
}

/** Of what is hidden, held back or not there all the same. */
function accessForOthers(question: WhyQuestion, target: Target | undefined): DecisionStep {
  const step = accessStep(question, target);
  if (step.result === 'allow' && target && question.pin(target)?.isHeld !== true) return step;
  return { step: 'access', result: 'refuse', ...because('why_not_here', { name: question.tool }) };
}

function accessStep(question: WhyQuestion, target: Target | undefined): DecisionStep {
  const { settings, principal, view } = question;
  const shown = view.all;
  const isVisible = target && shown.targets.some(({ server, key }) => server === target.server && key === target.key);
  if (isVisible) {
    const server = settings.servers.get(target.server);
    const reached = server && whyReached(settings, principal, server);
    return { step: 'access', result: 'allow', ...because('why_visible'), ...reached };
  }
  // What a pin holds back is within reach: the next step says so.
  if (target && question.pin(target)?.isHeld === true && isReached(question, target))
    return { step: 'access', result: 'allow', ...because('why_reached') };
  return { step: 'access', result: 'refuse', ...whyNot(question, target) };
}

function isReached({ settings, principal, scope }: WhyQuestion, { server }: Target): boolean {
  return resolve(settings, principal, scope).members.some((member) => member.server.name === server);
}

/** The first thing that keeps a caller from seeing a tool. */
function whyNot({ settings, catalogue, principal, scope, tool }: WhyQuestion, target: Target | undefined): Because {
  if (isGone(settings, principal)) return because('why_caller_gone');
  if (!target) return because('why_not_offered', { name: tool });
  const server = settings.servers.get(target.server);
  if (!server) return because('why_no_server', { server: target.server });
  if (!server.enabled) return because('why_server_off', { server: server.name });
  const resolved = resolve(settings, principal, scope);
  const endpoint = scopeId(scope) === '' ? '/mcp' : `/mcp/${scopeId(scope)}`;
  if (resolved.kind === 'nothing') return because('why_no_endpoint', { endpoint });
  const member = resolved.members.find((one) => one.server.name === server.name);
  if (!member) return notReached(settings, principal, server, endpoint);
  const offer = catalogue.offers.get(server.name);
  if (!offer) return because('why_not_connected', { server: server.name });
  const item = offer.tools.find(({ key }) => key === target.key);
  if (!item) return because('why_no_such_tool', { server: server.name, name: target.key });
  if (server.tools.get(target.key)?.enabled === false) return because('why_tool_off', { server: server.name });
  if (member.readOnly && !isReadOnly(item, server.tools.get(item.key))) return because('why_only_reads');
  return resolved.group ? because('why_group_hides', { name: resolved.group.name }) : because('why_groups_hide');
}

function notReached(settings: Settings, principal: Principal, server: ServerSettings, endpoint: string): Because {
  return whyReached(settings, principal, server)
    ? because('why_other_endpoint', { server: server.name, endpoint })
    : because('why_no_access', { server: server.name });
}

function pinStep({ pin }: WhyQuestion, target: Target): DecisionStep {
  const pinned = pin(target);
  if (!pinned) return { step: 'pin', result: 'none', ...because('why_pins_off') };
  const { state, isHeld } = pinned;
  return { step: 'pin', result: isHeld ? 'refuse' : 'allow', ...ofPin(state, isHeld) };
}

/** What is rejected is neither new nor waiting, as texts of other languages say of the rest. */
function ofPin(state: string, isHeld: boolean): Because {
  if (state === 'rejected') return because(isHeld ? 'why_pin_rejected_held' : 'why_pin_rejected');
  if (isHeld) return because('why_pin_held', { state });
  return state === 'approved' ? because('why_pin_approved') : because('why_pin_told', { state });
}

/**
 * The arguments as policies see them, which is as the server gets them: without secrets that are masked, and with what
 * the settings put in. What refuses them before is a rule about arguments, as policies are, and told in their step.
 */
function argumentsSent(
  { settings, view, tool, args }: WhyQuestion,
  { server, key }: Target,
): { readonly args: WhyQuestion['args'] } | { readonly refused: DecisionStep } {
  const mode = secretsMode(settings, server, 'arguments');
  const hidden = mode === 'allow' ? undefined : withoutSecretsInJson(JSON.stringify(args));
  if (hidden && mode === 'refuse') {
    const why = because('why_secrets', { kinds: listed(hidden.kinds) });
    return { refused: { step: 'policy', result: 'refuse', ...why, ref: 'secrets' } };
  }
  const given = hidden ? (JSON.parse(hidden.text) as WhyQuestion['args']) : args;
  const rules = view.all.targets.find((one) => one.server === server && one.key === key)?.rules;
  if (!rules) return { args: given };
  try {
    return { args: JSON.parse(withRules(tool, rules, JSON.stringify(given), given)) as WhyQuestion['args'] };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return { refused: { step: 'policy', result: 'refuse', reason: error.message } };
  }
}

function policyStep(verdict: CallVerdict | undefined, { system }: Settings): DecisionStep {
  const policy = verdict?.policy ?? { kind: 'none', ignored: [] };
  switch (policy.kind) {
    case 'refuse':
      return {
        step: 'policy',
        result: 'refuse',
        ...(policy.message === undefined
          ? because('why_policy', { policy: policy.policy })
          : { reason: policy.message }),
        ref: policy.policy,
      };
    case 'ask':
      return {
        step: 'policy',
        result: 'ask',
        ...(policy.message === undefined
          ? because('why_policy_asks', { policy: policy.policy })
          : { reason: policy.message }),
        ref: policy.policy,
      };
    case 'none':
      return policy.ignored.length > 0
        ? {
            step: 'policy',
            result: 'allow',
            ...because('why_policies_ignored', { policies: [...new Set(policy.ignored)].join(', ') }),
          }
        : {
            step: 'policy',
            result: system.policies ? 'allow' : 'none',
            ...because(system.policies ? 'why_no_policy_fits' : 'why_no_policies'),
          };
  }
}

function approvalStep(verdict: CallVerdict | undefined): DecisionStep {
  const policy = verdict?.policy;
  if (policy?.kind !== 'ask') return { step: 'approval', result: 'none', ...because('why_no_approval') };
  const why =
    policy.who === 'caller'
      ? because('why_asks_caller')
      : policy.who === 'admin'
        ? because('why_asks_admin')
        : because('why_asks_group', { name: policy.who });
  return { step: 'approval', result: 'ask', ...why, ref: policy.policy };
}

async function limitStep({ look }: WhyQuestion, verdict: CallVerdict | undefined): Promise<DecisionStep> {
  const counted = verdict?.counted ?? [];
  if (counted.length === 0) return { step: 'limit', result: 'none', ...because('why_no_limit') };
  const past = await look(counted);
  if (!past)
    return {
      step: 'limit',
      result: 'allow',
      ...because('why_within_limits', { names: counted.map(({ what }) => what).join(', ') }),
    };
  return {
    step: 'limit',
    result: 'refuse',
    ...because('why_limit', { what: past.what, limit: past.limit, allowed: String(past.allowed) }),
    ref: past.what,
  };
}
