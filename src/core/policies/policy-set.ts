import type {
  EntityUidJson,
  PolicyJson,
  PrincipalConstraint,
  ResourceConstraint,
} from '@cedar-policy/cedar-wasm/nodejs';
import { errorText } from '../errors.ts';
import { coreLimits } from '../limits.ts';
import type { PolicySettings } from '../settings/governance.ts';
import { cedarValue, NotJudgeable } from './cedar-value.ts';
import { cannotFit } from './cannot-fit.ts';
import { withCedar } from './cedar.ts';
import { readPolicy, type Statement } from './read-policy.ts';

/** What a caller wants to do, as policies name it (CONTRACT §9). */
export type PolicyAction = 'call' | 'readResource' | 'getPrompt';

export interface EntityName {
  readonly type: string;
  readonly id: string;
}

/** Who makes a call, as policies see them. */
export interface PolicyPrincipal extends EntityName {
  readonly type: 'User' | 'Key' | 'Anonymous';
  /** Names of its groups. */
  readonly groups: readonly string[];
  readonly role: string;
  /** What people call it. */
  readonly name: string;
}

/** What is called: a tool, a resource or a prompt, as the server itself names it. */
export interface PolicyResource {
  readonly type: 'Tool' | 'Resource' | 'Prompt';
  readonly server: string;
  readonly key: string;
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly openWorld: boolean;
}

/** What else policies can ask of a call. Undefined: not known. */
export interface PolicyContext {
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The name of the endpoint's group or server; empty for all servers. */
  readonly scope: string;
  /** How tools are called there: one by one, found by a search, or by code. */
  readonly mode: 'tools' | 'smart' | 'code';
  readonly client: string | undefined;
  /** An IP address. */
  readonly address: string | undefined;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

export interface PolicyQuestion {
  readonly principal: PolicyPrincipal;
  readonly action: PolicyAction;
  readonly resource: PolicyResource;
  readonly context: PolicyContext;
  /** Why the arguments cannot be judged, where they cannot; asked only when a policy reads them. */
  readonly unclear?: (() => string | undefined) | undefined;
}

export type PolicyVerdict =
  /** No policy fits. `ignored`: policies that ask for what the call does not have, and so do not fit. */
  | { readonly kind: 'none'; readonly ignored: readonly string[] }
  | { readonly kind: 'refuse'; readonly policy: string; readonly message: string | undefined }
  | { readonly kind: 'ask'; readonly policy: string; readonly who: string; readonly message: string | undefined };

/** The policies of one snapshot of the settings. */
export interface PolicySet {
  /** False where no policy can concern this, for any caller and any arguments: most calls are done here. */
  concerns(action: PolicyAction, type: PolicyResource['type'], server: string, key: string): boolean;
  /** A refusal wins over a question; of several the first in the settings. Throws for nothing that a caller sends. */
  judge(question: PolicyQuestion): PolicyVerdict;
}

interface Rule extends Statement {
  /** True where the arguments alone show that it does not fit. */
  readonly cannotFit: (args: Readonly<Record<string, unknown>>) => boolean;
  /** Of the settings: what callers are told. */
  readonly policy: string;
  readonly place: number;
}

const sets = new WeakMap<readonly PolicySettings[], PolicySet | undefined>();

/** The set of these policies, made once for each snapshot; undefined when none is switched on. */
export function policySetOf(policies: readonly PolicySettings[] | undefined): PolicySet | undefined {
  if (!policies) return undefined;
  if (!sets.has(policies)) sets.set(policies, policySet(policies));
  return sets.get(policies);
}

/** A set of policies; undefined when none of them could ever fit. */
export function policySet(policies: readonly Pick<PolicySettings, 'id' | 'text' | 'enabled'>[]): PolicySet | undefined {
  const rules: Rule[] = policies
    .filter(({ enabled }) => enabled)
    .flatMap(({ id, text }) =>
      readPolicy(text).statements.map((statement) => ({
        ...statement,
        policy: id,
        cannotFit: cannotFit(statement.json),
      })),
    )
    .map((rule, place) => ({ ...rule, place }));
  if (rules.length === 0) return undefined;
  const about = sliced(rules);
  return {
    concerns: (action, type, server, key) => about(action, type, server, key).rules.length > 0,
    judge(question) {
      const { principal, action, resource } = question;
      const slice = about(action, resource.type, resource.server, resource.key);
      return judged(slice.isForAll ? slice : partFor(slice, principal), question);
    },
  };
}

const nothing: PolicyVerdict = { kind: 'none', ignored: [] };

/** Rules that are asked together, and what is known of them. */
interface Slice {
  readonly rules: readonly Rule[];
  /** Every caller is asked about all of them. */
  readonly isForAll: boolean;
  /** What they read of the context. */
  readonly members: ReadonlySet<string>;
  readonly args: readonly string[] | 'all';
  /** Characters of arguments that it may be asked about: Cedar compares each with all of a pattern. */
  readonly chars: number;
  /** By principal, by annotations, then by what was read. */
  readonly verdicts: Map<string, Map<string, PolicyVerdict>[]>;
  /** Some of its rules: those about a principal, and those that may fit. */
  readonly parts: Map<string, Slice>;
}

function sliceOf(rules: readonly Rule[]): Slice {
  const patternChars = rules.reduce((sum, rule) => sum + rule.patternChars, 1);
  return {
    rules,
    isForAll: rules.every(({ json }) => json.principal.op === 'All'),
    members: new Set(rules.flatMap(({ reads }) => [...reads.members])),
    args: argsOf(rules),
    chars: Math.min(coreLimits.policyArgumentChars, Math.floor(coreLimits.policyPatternSteps / patternChars)),
    verdicts: new Map(),
    parts: new Map(),
  };
}

function argsOf(rules: readonly Rule[]): Slice['args'] {
  const names = new Set<string>();
  for (const { reads } of rules) {
    if (reads.args === 'all') return 'all';
    for (const name of reads.args) names.add(name);
  }
  return [...names];
}

/** The rules that concern an action at a resource, found once for each. */
function sliced(rules: readonly Rule[]) {
  const slices = new Map<PolicyAction, Map<string, Map<string, Slice>>>();
  let kept = 0;
  return (action: PolicyAction, type: PolicyResource['type'], server: string, key: string): Slice => {
    // By action, by server, then by name: V8 hashes a text that was joined for each call, and a server names a tool
    // as it likes, also as a joined text would be.
    let slice = slices.get(action)?.get(server)?.get(key);
    if (!slice) {
      const itself = { type, id: `${server}/${key}` };
      slice = sliceOf(
        rules.filter(({ json }) => isAboutAction(json, action) && isAboutResource(json.resource, itself, server)),
      );
      if (kept >= coreLimits.policySlices) {
        slices.clear();
        kept = 0;
      }
      kept++;
      const ofAction = slices.get(action) ?? new Map<string, Map<string, Slice>>();
      slices.set(action, ofAction.set(server, (ofAction.get(server) ?? new Map<string, Slice>()).set(key, slice)));
    }
    return slice;
  };
}

/** The rules of a slice that are about a principal. */
function partFor(slice: Slice, principal: PolicyPrincipal): Slice {
  const about = ({ json }: Rule): boolean => isAboutPrincipal(json.principal, principal);
  return partOf(slice, textOf(principal), () => slice.rules.filter(about));
}

/** Some rules of a slice, under a name that stands for which. */
function partOf(slice: Slice, name: string, rules: () => readonly Rule[]): Slice {
  let part = slice.parts.get(name);
  if (!part) {
    part = sliceOf(rules());
    if (slice.parts.size >= coreLimits.policySlices) slice.parts.clear();
    slice.parts.set(name, part);
  }
  return part;
}

const texts = new WeakMap<PolicyPrincipal, string>();

/** One text per principal, made once. */
function textOf(principal: PolicyPrincipal): string {
  let text = texts.get(principal);
  if (text === undefined) {
    text = JSON.stringify(principal);
    texts.set(principal, text);
  }
  return text;
}

function isAboutAction({ action }: PolicyJson, name: PolicyAction): boolean {
  if (action.op === 'All') return true;
  const named = 'entities' in action ? action.entities : 'entity' in action ? [action.entity] : [];
  return named.some((one) => isSame(one, { type: 'Action', id: name }));
}

function isAboutResource(constraint: ResourceConstraint, itself: EntityName, server: string): boolean {
  return isAbout(constraint, itself, [itself, { type: 'Server', id: server }]);
}

function isAboutPrincipal(constraint: PrincipalConstraint, { type, id, groups }: PolicyPrincipal): boolean {
  const itself = { type, id };
  return isAbout(constraint, itself, [itself, ...groups.map((name) => ({ type: 'Group', id: name }))]);
}

/** `around`: the entity itself and all that it is in. */
function isAbout(
  constraint: ResourceConstraint | PrincipalConstraint,
  itself: EntityName,
  around: readonly EntityName[],
): boolean {
  const isIn = (one: { readonly entity: EntityUidJson } | { readonly slot: string } | undefined): boolean =>
    one === undefined || ('entity' in one && around.some((name) => isSame(one.entity, name)));
  switch (constraint.op) {
    case 'All':
      return true;
    case '==':
      return 'entity' in constraint && isSame(constraint.entity, itself);
    case 'in':
      return isIn(constraint);
    case 'is':
      return constraint.entity_type === itself.type && isIn(constraint.in);
  }
}

function isSame(uid: EntityUidJson, { type, id }: EntityName): boolean {
  const named = '__entity' in uid ? uid.__entity : uid;
  return named.type === type && named.id === id;
}

/**
 * Asks Cedar, unless plain JavaScript finds that no rule can fit (`cannot-fit.ts`). The same question is asked once:
 * the verdict depends on nothing but who makes a call, the annotations of what is called, and what the rules read of
 * the context.
 */
function judged(whole: Slice, question: PolicyQuestion): PolicyVerdict {
  const { principal, resource, context: given } = question;
  const why = whole.members.has('arguments') ? question.unclear?.() : undefined;
  if (why !== undefined) return unjudgeable(readerOf(whole.rules), why);
  const left = whole.rules.filter((rule) => !rule.cannotFit(given.arguments));
  if (left.length === 0) return nothing;
  const slice = left.length === whole.rules.length ? whole : partOf(whole, placesOf(left), () => left);
  const { rules } = slice;
  let context: Record<string, unknown>;
  try {
    context = contextOf(slice, given);
  } catch (error) {
    if (!(error instanceof NotJudgeable)) throw error;
    return unjudgeable(readerOf(rules), error.message);
  }
  // What holds at this moment is not kept.
  if (slice.members.has('time')) return ask(rules, question, context);
  const asked = JSON.stringify(context);
  const verdicts = verdictsOf(slice, principal, resource);
  const found = verdicts.get(asked);
  if (found) return found;
  const verdict = ask(rules, question, context);
  if (asked.length > coreLimits.policyQuestionChars) return verdict;
  if (verdicts.size >= coreLimits.policyVerdicts) verdicts.clear();
  verdicts.set(asked, verdict);
  return verdict;
}

function placesOf(rules: readonly Rule[]): string {
  return rules.map(({ place }) => place).join();
}

function readerOf(rules: readonly Rule[]): Rule | undefined {
  return rules.find(({ reads }) => reads.members.has('arguments'));
}

function verdictsOf(
  { verdicts }: Slice,
  principal: PolicyPrincipal,
  { readOnly, destructive, openWorld }: PolicyResource,
): Map<string, PolicyVerdict> {
  const id = textOf(principal);
  let found = verdicts.get(id);
  if (!found) {
    found = [];
    if (verdicts.size >= coreLimits.policySlices) verdicts.clear();
    verdicts.set(id, found);
  }
  const said = (readOnly ? 1 : 0) + (destructive ? 2 : 0) + (openWorld ? 4 : 0);
  return (found[said] ??= new Map());
}

/** What the rules read of the context, in Cedar's JSON. Throws `NotJudgeable`. */
function contextOf(slice: Slice, asked: PolicyContext): Record<string, unknown> {
  const { arguments: args, mode, client, address, time } = asked;
  const { members } = slice;
  const context: Record<string, unknown> = {};
  if (members.has('arguments')) context['arguments'] = argumentsOf(args, slice);
  if (members.has('scope')) context['scope'] = asked.scope;
  if (members.has('mode')) context['mode'] = mode;
  if (members.has('client') && client !== undefined) context['client'] = client;
  if (members.has('address') && address !== undefined) context['address'] = { __extn: { fn: 'ip', arg: address } };
  if (members.has('time')) context['time'] = { __extn: { fn: 'datetime', arg: new Date(time).toISOString() } };
  return context;
}

function argumentsOf(given: Readonly<Record<string, unknown>>, { args: names, chars }: Slice): unknown {
  if (names === 'all') return cedarValue(given, chars);
  const read = names.flatMap((name) => (Object.hasOwn(given, name) ? [[name, given[name]]] : []));
  return cedarValue(Object.fromEntries(read), chars);
}

/** What cannot be judged is refused: otherwise a caller could send what no policy can read. */
function unjudgeable(rule: Rule | undefined, why: string): PolicyVerdict {
  // What the engine says may quote all of the arguments.
  const message = `The policy cannot judge this call: ${why.slice(0, 200)}`;
  return { kind: 'refuse', policy: rule?.policy ?? '', message };
}

/** Ids of what the engine has ready, by the texts of the rules. Each rule is there under its place among them. */
const prepared = new Map<string, string>();
let preparedIn = 0;

function ask(
  rules: readonly Rule[],
  { principal, action, resource }: PolicyQuestion,
  context: Record<string, unknown>,
): PolicyVerdict {
  const named = { type: resource.type, id: `${resource.server}/${resource.key}` };
  const { readOnly, destructive, openWorld } = resource;
  const entities = [
    {
      uid: { type: principal.type, id: principal.id },
      attrs: { role: principal.role, name: principal.name },
      parents: principal.groups.map((id) => ({ type: 'Group', id })),
    },
    { uid: named, attrs: { readOnly, destructive, openWorld }, parents: [{ type: 'Server', id: resource.server }] },
  ];
  try {
    return withCedar((cedar, load) => {
      const answer = cedar.statefulIsAuthorized({
        principal: { type: principal.type, id: principal.id },
        action: { type: 'Action', id: action },
        resource: named,
        context: context as never,
        entities,
        preparsedPolicySetId: ready(cedar, load, rules),
      });
      if (answer.type === 'failure')
        return unjudgeable(rules[0], answer.errors.map(({ message }) => message).join('; '));
      return verdictOf(rules, answer.response.diagnostics);
    });
  } catch (error) {
    return unjudgeable(rules[0], errorText(error));
  }
}

/** The id under which the engine has these rules parsed. */
function ready(
  cedar: { preparsePolicySet: (id: string, set: never) => unknown },
  load: number,
  rules: readonly Rule[],
): string {
  if (preparedIn !== load) prepared.clear();
  preparedIn = load;
  const texts = rules.map(({ text }) => text).join();
  const found = prepared.get(texts);
  if (found !== undefined) return found;
  // A set prepared under an id that is in use takes its place.
  if (prepared.size >= coreLimits.policySlices) prepared.clear();
  const id = `slice ${prepared.size}`;
  // No permit among them: what is asked is which forbids fit.
  const staticPolicies = Object.fromEntries(rules.map(({ text }, at) => [String(at), text]));
  cedar.preparsePolicySet(id, { staticPolicies } as never);
  prepared.set(texts, id);
  return id;
}

interface Diagnostics {
  readonly reason: readonly string[];
  readonly errors: readonly { readonly policyId: string; readonly error: { readonly message: string } }[];
}

function verdictOf(rules: readonly Rule[], { reason, errors }: Diagnostics): PolicyVerdict {
  // Cedar names policies in no order.
  const failing = rules.flatMap((rule, at) => {
    const found = errors.find(({ policyId }) => policyId === String(at));
    return found ? [{ rule, message: found.error.message }] : [];
  });
  // In Cedar a policy that fails does not count. Where an attribute is missing that is what its author expects; a value
  // of another type may be there so that the policy fails.
  const failed = failing.find(({ message }) => !isMissing(message));
  if (failed) return unjudgeable(failed.rule, failed.message);
  const ignored = failing.map(({ rule }) => rule.policy);
  const fitting = rules.filter((_, at) => reason.includes(String(at)));
  const refusal = fitting.find(({ approve }) => approve === undefined);
  if (refusal) return { kind: 'refuse', policy: refusal.policy, message: refusal.message };
  // Another person's yes is worth more than the caller's own.
  const question = fitting.find(({ approve }) => approve !== 'caller') ?? fitting[0];
  if (!question) return { kind: 'none', ignored };
  const { policy, approve, message } = question;
  return { kind: 'ask', policy, who: approve || 'admin', message };
}

/** Told by how the message begins: other messages quote the arguments, which may say anything. */
function isMissing(message: string): boolean {
  return /^(?:record|`\w+::.*`) does not have the attribute /s.test(message);
}
