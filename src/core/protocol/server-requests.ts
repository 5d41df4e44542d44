import { isObject, rpcErrors } from './rpc.ts';

/**
 * What a server may request of the client whose call it works on; `ping`, which needs no client, is answered by the
 * hub.
 */
export type ServerRequestMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list';

export function isServerRequestMethod(method: unknown): method is ServerRequestMethod {
  return method === 'elicitation/create' || method === 'sampling/createMessage' || method === 'roots/list';
}

/**
 * A request of a server to a client, on its way (2025-11-25: elicitation, sampling, roots). Exactly one of `answer`,
 * `refuse` and `withdrawn` ends it; what comes later does nothing. None of them may throw.
 */
export interface ServerRequest {
  readonly server: string;
  readonly method: ServerRequestMethod;
  readonly params: Record<string, unknown>;
  /** `params` as exact JSON text; undefined when the server sent none. */
  readonly paramsText: string | undefined;
  /** The client's answer: the text of its `result`, or of its `error`. */
  answer(member: 'result' | 'error', text: string): void;
  /** The hub's own answer: no client can, or wants to, answer the request. */
  refuse(refusal: ServerRequestRefusal): void;
  /**
   * The client works on it: progress for the token in the `_meta` of the request, as the text of the notification's
   * `params`.
   */
  progressed(params: string): void;
  /** Set by the code that takes the request: called once when its server waits no more. */
  withdrawn: ((reason: string) => void) | undefined;
}

/** The task that a message belongs to (2025-11-25, Tasks, Associating task-related messages). */
export function relatedTask(params: unknown): string | undefined {
  const meta = isObject(params) ? params['_meta'] : undefined;
  const related = isObject(meta) ? meta['io.modelcontextprotocol/related-task'] : undefined;
  const id = isObject(related) ? related['taskId'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Why a server request is not answered by a client, as a JSON-RPC error. */
export interface ServerRequestRefusal {
  readonly code: number;
  readonly message: string;
}

/**
 * Which server requests a client can answer, as letters, so that it fits into a session's token: `f` elicitation by
 * form, `u` by URL, `s` sampling, `t` with tools, `c` with context, `r` roots, `l` with notifications of changes. `a`:
 * it shows the pages of MCP Apps.
 */
export type ClientCapabilities = string;

/** A client that can answer no server request. */
export const noCapabilities: ClientCapabilities = '';

/**
 * What is declared to a server that clients share: all that some client may be able to do, except what only makes sense
 * between two: whose roots changed, whose context is meant (decisions/0019).
 */
export const sharedCapabilities: ClientCapabilities = 'fustra';

/**
 * The abilities in a client's declared `capabilities`. An empty `elicitation` means forms (2025-11-25, Elicitation,
 * Capabilities).
 */
export function capabilitiesOf(capabilities: unknown): ClientCapabilities {
  const { elicitation, sampling, roots, extensions } = isObject(capabilities) ? capabilities : {};
  let letters = '';
  if (isObject(elicitation)) {
    const url = isObject(elicitation['url']);
    if (isObject(elicitation['form']) || !url) letters += 'f';
    if (url) letters += 'u';
  }
  if (isObject(sampling)) {
    letters += 's';
    if (isObject(sampling['tools'])) letters += 't';
    if (isObject(sampling['context'])) letters += 'c';
  }
  if (isObject(roots)) letters += roots['listChanged'] === true ? 'rl' : 'r';
  if (isObject(extensions) && isObject(extensions[appsExtension])) letters += 'a';
  return letters;
}

/** MCP Apps (SEP-1865). */
const appsExtension = 'io.modelcontextprotocol/ui';
const appPages = { mimeTypes: ['text/html;profile=mcp-app'] };

/** Whether a client shows the pages of MCP Apps. */
export function showsApps(abilities: ClientCapabilities): boolean {
  return abilities.includes('a');
}

/** The `capabilities` that say these abilities, as JSON text. */
export function capabilitiesText(abilities: ClientCapabilities): string {
  const can = (letter: string): boolean => abilities.includes(letter);
  return JSON.stringify({
    ...((can('f') || can('u')) && { elicitation: { ...(can('f') && { form: {} }), ...(can('u') && { url: {} }) } }),
    ...(can('s') && { sampling: { ...(can('t') && { tools: {} }), ...(can('c') && { context: {} }) } }),
    ...(can('r') && { roots: { ...(can('l') && { listChanged: true }) } }),
    ...(can('a') && { extensions: { [appsExtension]: appPages } }),
  });
}

/** What a client would have to declare in addition to be sent this request; undefined when it declares enough. */
export function missingFor(
  { method, params }: Pick<ServerRequest, 'method' | 'params'>,
  abilities: ClientCapabilities,
): Record<string, unknown> | undefined {
  switch (method) {
    case 'elicitation/create': {
      const url = params['mode'] === 'url';
      return abilities.includes(url ? 'u' : 'f') ? undefined : { elicitation: url ? { url: {} } : { form: {} } };
    }
    case 'sampling/createMessage': {
      const tools = params['tools'] !== undefined || params['toolChoice'] !== undefined;
      return abilities.includes(tools ? 't' : 's') ? undefined : { sampling: tools ? { tools: {} } : {} };
    }
    case 'roots/list':
      return abilities.includes('r') ? undefined : { roots: {} };
  }
}

/** The capabilities of both together. */
export function bothCapabilities(
  some: Record<string, unknown> = {},
  more: Record<string, unknown>,
): Record<string, unknown> {
  const of = (name: string): object => (isObject(some[name]) ? some[name] : {});
  const added = Object.entries(more).map(([name, value]) => [name, { ...of(name), ...(isObject(value) && value) }]);
  return { ...some, ...(Object.fromEntries(added) as Record<string, unknown>) };
}

/**
 * The answer to a server that requests what its client does not support: no such method, or (2025-11-25) parameters
 * that the client did not declare.
 */
export function unsupportedRefusal(
  { method, params }: Pick<ServerRequest, 'method' | 'params'>,
  abilities: ClientCapabilities,
): ServerRequestRefusal {
  const some = { 'elicitation/create': /[fu]/, 'sampling/createMessage': /s/, 'roots/list': /r/ }[method];
  if (!some.test(abilities)) {
    return { code: rpcErrors.methodNotFound, message: `The client of this call does not support ${method}.` };
  }
  const what = method === 'elicitation/create' ? `mode "${params['mode'] === 'url' ? 'url' : 'form'}"` : 'tools';
  return { code: rpcErrors.invalidParams, message: `The client of this call supports ${method}, but not ${what}.` };
}
