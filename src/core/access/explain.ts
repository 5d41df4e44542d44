import type { Catalogue, Item } from '../catalogue.ts';
import { listed } from '../errors.ts';
import { guardNames, secretsMode } from '../guards/guards-of.ts';
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
import { isReadOnly, mergedOverride, renamed } from './tool-override.ts';
import type { Target, View } from './view.ts';

/** One step of a decision (CONTRACT §9, `why`). */
export interface DecisionStep {
  readonly step: 'access' | 'pin' | 'policy' | 'approval' | 'limit';
  readonly result: 'allow' | 'refuse' | 'ask' | 'none';
  /** In a sentence. */
  readonly reason: string;
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
  const verdict = judge({ ...question, action: 'call', target, client: undefined });
  const policy = secretsStep(question, target) ?? policyStep(verdict, settings);
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
  const notAsked = rest.map((step): DecisionStep => ({ step, result: 'none', reason: `Not asked: ${by} refuses.` }));
  return { allowed: false, steps: [...steps, ...notAsked] };
}

function ownName(tool: string): Target | undefined {
  const at = tool.indexOf('/');
  return at <= 0 ? undefined : { server: tool.slice(0, at), key: tool.slice(at + 1) };
}

/** The tool that a name stands for, seen by the caller or not. */
function named({ settings, catalogue, tool }: WhyQuestion): Target | undefined {
  const own = ownName(tool);
  if (own && settings.servers.has(own.server)) return own;
  const separator = settings.system.nameSeparator;
  const prefixes = [...settings.servers.keys()];
  for (const [server, { tools }] of catalogue.offers) {
    const switches = settings.servers.get(server)?.tools;
    const names = switches && renamed(tools, (key) => mergedOverride(switches.get(key), undefined));
    const isIt = ({ key }: Item): boolean =>
      exposedName(server, names?.get(key) ?? key, separator, prefixes) === tool ||
      tieBreakName(server, key, separator) === tool;
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
  return { step: 'access', result: 'refuse', reason: `There is no tool "${question.tool}" on this endpoint.` };
}

function accessStep(question: WhyQuestion, target: Target | undefined): DecisionStep {
  const { settings, principal, view } = question;
  const shown = view.all;
  const isVisible = target && shown.targets.some(({ server, key }) => server === target.server && key === target.key);
  if (isVisible) {
    const server = settings.servers.get(target.server);
    const reached = server && whyReached(settings, principal, server);
    return { step: 'access', result: 'allow', reason: 'The tool is visible.', ...reached };
  }
  // What a pin holds back is within reach: the next step says so.
  if (target && question.pin(target)?.isHeld === true && isReached(question, target))
    return { step: 'access', result: 'allow', reason: 'The server is within reach.' };
  return { step: 'access', result: 'refuse', reason: whyNot(question, target) };
}

function isReached({ settings, principal, scope }: WhyQuestion, { server }: Target): boolean {
  return resolve(settings, principal, scope).members.some((member) => member.server.name === server);
}

/** The first thing that keeps a caller from seeing a tool. */
function whyNot({ settings, catalogue, principal, scope, tool }: WhyQuestion, target: Target | undefined): string {
  if (isGone(settings, principal)) return 'The user or key does not exist, is disabled, or has expired.';
  if (!target) return `No server offers a tool "${tool}".`;
  const server = settings.servers.get(target.server);
  if (!server) return `There is no server "${target.server}".`;
  if (!server.enabled) return `Server "${server.name}" is switched off.`;
  const resolved = resolve(settings, principal, scope);
  const where = scopeId(scope) === '' ? '/mcp' : `/mcp/${scopeId(scope)}`;
  if (resolved.kind === 'nothing') return `The endpoint ${where} does not exist for this caller.`;
  const member = resolved.members.find((one) => one.server.name === server.name);
  if (!member) return notReached(settings, principal, server, where);
  const offer = catalogue.offers.get(server.name);
  if (!offer) return `Server "${server.name}" has not listed its tools yet: it is not connected.`;
  const item = offer.tools.find(({ key }) => key === target.key);
  if (!item) return `Server "${server.name}" offers no tool "${target.key}".`;
  if (server.tools.get(target.key)?.enabled === false) return `The tool is switched off on server "${server.name}".`;
  if (member.readOnly && !isReadOnly(item, server.tools.get(item.key)))
    return 'The key only reads, and the tool does not say that it only reads.';
  return resolved.group
    ? `The group "${resolved.group.name}", or the groups that give access, do not show this tool.`
    : 'The groups that give access do not show this tool.';
}

function notReached(settings: Settings, principal: Principal, server: ServerSettings, where: string): string {
  return whyReached(settings, principal, server)
    ? `Server "${server.name}" is not on the endpoint ${where}.`
    : `The caller has no access to server "${server.name}": it is not theirs, not public, and in none of their groups.`;
}

function pinStep({ pin }: WhyQuestion, target: Target): DecisionStep {
  const pinned = pin(target);
  if (!pinned) return { step: 'pin', result: 'none', reason: 'Pins are off for this server.' };
  const reason = pinned.isHeld
    ? `The tool is ${pinned.state} and waits for the approval of an admin.`
    : `The tool is ${pinned.state}.`;
  return { step: 'pin', result: pinned.isHeld ? 'refuse' : 'allow', reason };
}

/** A rule about arguments, as policies are; asked before them. */
function secretsStep({ settings, args }: WhyQuestion, { server }: Target): DecisionStep | undefined {
  if (secretsMode(settings, server, 'arguments') !== 'refuse') return undefined;
  const found = withoutSecretsInJson(JSON.stringify(args));
  if (!found) return undefined;
  const reason = `The arguments hold ${listed(found.kinds)}, and the server is sent no secrets.`;
  return { step: 'policy', result: 'refuse', reason, ref: 'secrets' };
}

function policyStep(verdict: CallVerdict | undefined, { system }: Settings): DecisionStep {
  const policy = verdict?.policy ?? { kind: 'none', ignored: [] };
  switch (policy.kind) {
    case 'refuse':
      return {
        step: 'policy',
        result: 'refuse',
        reason: policy.message ?? `The policy "${policy.policy}" forbids it.`,
        ref: policy.policy,
      };
    case 'ask':
      return {
        step: 'policy',
        result: 'ask',
        reason: policy.message ?? `The policy "${policy.policy}" asks first.`,
        ref: policy.policy,
      };
    case 'none':
      return policy.ignored.length > 0
        ? {
            step: 'policy',
            result: 'allow',
            reason: `No policy fits. These ask for arguments that were not given: ${[...new Set(policy.ignored)].join(', ')}.`,
          }
        : {
            step: 'policy',
            result: system.policies ? 'allow' : 'none',
            reason: system.policies ? 'No policy fits.' : 'There are no policies.',
          };
  }
}

function approvalStep(verdict: CallVerdict | undefined): DecisionStep {
  const policy = verdict?.policy;
  if (policy?.kind !== 'ask') return { step: 'approval', result: 'none', reason: 'No approval is needed.' };
  const who =
    policy.who === 'caller' ? 'the caller' : policy.who === 'admin' ? 'an admin' : `a member of group "${policy.who}"`;
  return { step: 'approval', result: 'ask', reason: `The call waits for the yes of ${who}.`, ref: policy.policy };
}

async function limitStep({ look }: WhyQuestion, verdict: CallVerdict | undefined): Promise<DecisionStep> {
  const counted = verdict?.counted ?? [];
  if (counted.length === 0) return { step: 'limit', result: 'none', reason: 'No limit applies.' };
  const past = await look(counted);
  if (!past)
    return {
      step: 'limit',
      result: 'allow',
      reason: `Within the limits of ${counted.map(({ what }) => what).join(', ')}.`,
    };
  return {
    step: 'limit',
    result: 'refuse',
    reason: `The limit of ${past.what} is reached: ${past.limit} ${past.allowed}.`,
    ref: past.what,
  };
}
