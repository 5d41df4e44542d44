import { HubError } from '../../core/errors.ts';
import { editObject, type Edits, memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Target } from '../../core/access/view.ts';
import type { ClientRequest } from '../request.ts';

/** Where a request goes, and what of its `params` has to change so that the server knows what is meant. */
export interface Addressed {
  readonly target: Target;
  readonly edits: Edits;
}

/** Finds where a request goes in its view. Throws HubError when that leads nowhere. */
export type FindTarget = (request: ClientRequest) => Addressed;

const kinds: ReadonlyMap<string, { member: 'name' | 'uri'; what: string }> = new Map([
  ['tools/call', { member: 'name', what: 'tool' }],
  ['prompts/get', { member: 'name', what: 'prompt' }],
  ['resources/read', { member: 'uri', what: 'resource' }],
]);

/** The methods that go to the server their params name. */
export const addressedMethods: ReadonlySet<string> = new Set([...kinds.keys(), 'completion/complete']);

/**
 * Finds the target in the request's view. Throws HubError `invalid_input`, or `not_found` alike for what is not there
 * and what may not be seen.
 */
export function addressed(request: ClientRequest): Addressed {
  const kind = kinds.get(request.method);
  if (!kind) return completionTarget(request);
  const value = paramsOf(request)[kind.member];
  if (typeof value !== 'string') throw needs(request, `params.${kind.member}, a string`);
  const { view } = request;
  const target =
    kind.what === 'tool' ? view.tool(value) : kind.what === 'prompt' ? view.prompt(value) : view.resource(value);
  if (!target) throw unknownTarget(request);
  return { target, edits: { [kind.member]: JSON.stringify(target.key) } };
}

/** One text for what does not exist and for what may not be seen. */
export function unknownTarget(request: ClientRequest): HubError {
  const params = paramsOf(request);
  const ref = isObject(params['ref']) ? params['ref'] : params;
  const name = ref['name'] ?? ref['uri'];
  const what = kinds.get(request.method)?.what ?? 'reference';
  return new HubError('not_found', `Unknown ${what}: ${typeof name === 'string' ? name.slice(0, 300) : '?'}`);
}

/** `completion/complete` names a prompt, or a resource by its template. */
function completionTarget(request: ClientRequest): Addressed {
  const { ref } = paramsOf(request);
  if (!isObject(ref)) throw needs(request, 'params.ref');
  const { type, name, uri } = ref;
  if (type === 'ref/prompt' && typeof name === 'string') {
    const target = request.view.prompt(name);
    if (!target) throw unknownTarget(request);
    return { target, edits: refEdits(request, { type, name: target.key }) };
  }
  if (type === 'ref/resource' && typeof uri === 'string') {
    const target = request.view.template(uri) ?? request.view.resource(uri);
    if (!target) throw unknownTarget(request);
    return { target, edits: refEdits(request, { type, uri }) };
  }
  throw needs(request, 'params.ref with type "ref/prompt" and a name, or "ref/resource" and a uri');
}

/** Gives each duplicate of `ref`, and of its members that count, the value that was checked. */
function refEdits(request: ClientRequest, members: Record<string, string>): Edits {
  const text = memberText(request.params ?? '{}', 'ref') ?? '{}';
  const edits = Object.entries(members).map(([key, value]) => [key, JSON.stringify(value)]);
  return { ref: editObject(text, Object.fromEntries(edits) as Edits) };
}

function needs(request: ClientRequest, what: string): HubError {
  return new HubError('invalid_input', `${request.method} needs ${what}.`);
}

function paramsOf(request: ClientRequest): Record<string, unknown> {
  return isObject(request.message.params) ? request.message.params : {};
}
