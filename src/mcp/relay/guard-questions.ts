import { randomUUID } from 'node:crypto';
import { policyPrincipal } from '../../core/access/decision.ts';
import { scopeId } from '../../core/access/scope.ts';
import type { Target } from '../../core/access/view.ts';
import { actorOf } from '../../core/audit.ts';
import type { GuardSubject } from '../../core/guards/guard-answer.ts';
import { memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { GuardedMoment } from '../../core/settings/governance.ts';
import { clientNameFor } from '../client-name.ts';
import type { ClientRequest } from '../request.ts';
import type { Governance } from './admission.ts';
import { type GuardKind, guardKinds } from './guard-kinds.ts';
import { outputCheck } from './output-schema.ts';

/** What of a call guards are asked about. */
export interface QuestionedCall {
  readonly request: ClientRequest;
  readonly target: Target;
  readonly options: { readonly governance: Governance };
}

const ids = new WeakMap<QuestionedCall, string>();

/** What a guard is asked, as JSON text: who calls what, and the text that it may change, as it is. */
export function questionText(call: QuestionedCall, on: GuardedMoment, subject: GuardSubject, text: string): string {
  const { request, target, options } = call;
  const { method, principal, scope, address } = request;
  const settings = options.governance.settings();
  const id = ids.get(call) ?? randomUUID();
  ids.set(call, id);
  const client = clientNameFor(request);
  const head = {
    on,
    id,
    kind: guardKinds.get(method)?.kind ?? 'tool',
    server: target.server,
    name: nameOf(request, target),
    caller: { ...actorOf(settings, principal), groups: policyPrincipal(settings, principal).groups },
    scope: scopeId(scope),
    ...(client !== undefined && { client }),
    ...(address !== undefined && { address }),
  };
  return `${JSON.stringify(head).slice(0, -1)},"${subject}":${text}}`;
}

/** What the server calls it. */
function nameOf({ method, message }: ClientRequest, { key }: Target): string {
  const ref = isObject(message.params) ? message.params['ref'] : undefined;
  const uri = method === 'completion/complete' && isObject(ref) ? ref['uri'] : undefined;
  return typeof uri === 'string' ? uri : key;
}

/** Why what a guard has changed cannot stand in place of what it was shown; the end of a sentence. */
export function changeFault(
  { request, target, options }: QuestionedCall,
  subject: GuardSubject,
  before: string,
  value: Record<string, unknown>,
): string | undefined {
  const kind = guardKinds.get(request.method);
  if (subject === 'error')
    return Number.isSafeInteger(value['code']) && typeof value['message'] === 'string'
      ? undefined
      : 'answered with an error without "code" or "message"';
  if (subject === 'arguments') return kind && argumentsFault(kind.kind, value);
  const member = kind?.member ?? 'content';
  const old = memberText(before, member);
  const isThere = old?.startsWith('[') ? Array.isArray(value[member]) : isObject(value[member]);
  if (old !== undefined && !isThere) return `answered with a result whose "${member}" is not as it has to be`;
  if (kind?.kind === 'tool' && old !== undefined) return schemaFault(target, options.governance, value);
  return undefined;
}

function argumentsFault(kind: GuardKind['kind'], value: Record<string, unknown>): string | undefined {
  if (kind === 'resource') return 'changed the arguments of a resource, which has none';
  if (kind === 'prompt' && !Object.values(value).every((one) => typeof one === 'string'))
    return 'answered with arguments of a prompt that are no texts';
  if (kind !== 'completion') return undefined;
  const { argument, context, ...more } = value;
  const isWhole = isObject(argument) && typeof argument['name'] === 'string' && typeof argument['value'] === 'string';
  const fits = isWhole && Object.keys(more).length === 0 && (context === undefined || isObject(context));
  return fits ? undefined : 'answered with arguments of a completion that are not as they have to be';
}

/** Clients may hold the result of a tool against what it says of its results. */
function schemaFault(
  target: Target,
  { catalogue }: Governance,
  { isError, structuredContent }: Record<string, unknown>,
): string | undefined {
  const check = isError === true ? undefined : outputCheck(catalogue(), target);
  if (!check) return undefined;
  if (structuredContent === undefined) return 'answered with a result without "structuredContent", which this tool has';
  const [problem] = check(structuredContent).problems;
  return (
    problem && `answered with a result that breaks the output schema of the tool (${problem.path} ${problem.message})`
  );
}
