import { isObject, rpcErrors } from './rpc.ts';

/** What a server may ask of the client whose call it works on; `ping`, which asks nothing of anybody, is answered by the hub. */
export type AskMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list';

export function isAskMethod(method: unknown): method is AskMethod {
  return method === 'elicitation/create' || method === 'sampling/createMessage' || method === 'roots/list';
}

/**
 * A request of a server to a client, on its way (2025-11-25: elicitation, sampling, roots). Exactly one of `answer`, `refuse` and `withdrawn` ends it; what comes later
 * does nothing. None of them may throw.
 */
export interface ServerAsk {
  readonly server: string;
  readonly method: AskMethod;
  readonly params: Record<string, unknown>;
  /** `params` as exact JSON text; undefined when the server sent none. */
  readonly paramsText: string | undefined;
  /** The client's answer: the text of its `result`, or of its `error`. */
  answer(member: 'result' | 'error', text: string): void;
  /** The hub's own answer: nobody can, or wants to, be asked. */
  refuse(refusal: AskRefusal): void;
  /** The client works on it: progress for the token in the ask's `_meta`, as the text of the notification's `params`. */
  progressed(params: string): void;
  /** Set by whoever takes the ask: called once when its server waits no more. */
  withdrawn: ((reason: string) => void) | undefined;
}

/** Why an ask is not answered by a client, as a JSON-RPC error. */
export interface AskRefusal {
  readonly code: number;
  readonly message: string;
}

/**
 * What a client can be asked, as letters, so that it fits into a session's token: `f` elicitation by form, `u` by URL, `s` sampling, `t` with tools, `c` with context, `r` roots,
 * `l` with news of changes.
 */
export type Abilities = string;

/** Nobody to be asked. */
export const noAbilities: Abilities = '';

/**
 * What is declared to a server that clients share: all that some client may be able to do, except what only makes sense between two: whose roots changed, whose
 * context is meant (decisions/0019).
 */
export const sharedAbilities: Abilities = 'fustr';

/** The abilities in a client's declared `capabilities`. An empty `elicitation` means forms (2025-11-25, Elicitation, Capabilities). */
export function abilitiesOf(capabilities: unknown): Abilities {
  const { elicitation, sampling, roots } = isObject(capabilities) ? capabilities : {};
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
  return letters;
}

/** The `capabilities` that say these abilities, as JSON text. */
export function capabilitiesText(abilities: Abilities): string {
  const can = (letter: string): boolean => abilities.includes(letter);
  return JSON.stringify({
    ...((can('f') || can('u')) && { elicitation: { ...(can('f') && { form: {} }), ...(can('u') && { url: {} }) } }),
    ...(can('s') && { sampling: { ...(can('t') && { tools: {} }), ...(can('c') && { context: {} }) } }),
    ...(can('r') && { roots: { ...(can('l') && { listChanged: true }) } }),
  });
}

/** What a client would have to declare besides to be asked this; undefined when it can be. */
export function missingFor(
  { method, params }: Pick<ServerAsk, 'method' | 'params'>,
  abilities: Abilities,
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

/** Capabilities that say what both say. */
export function bothCapabilities(
  some: Record<string, unknown> = {},
  more: Record<string, unknown>,
): Record<string, unknown> {
  const of = (name: string): object => (isObject(some[name]) ? some[name] : {});
  const added = Object.entries(more).map(([name, value]) => [name, { ...of(name), ...(isObject(value) && value) }]);
  return { ...some, ...(Object.fromEntries(added) as Record<string, unknown>) };
}

/** The answer to a server that asks what its client cannot: no such method, or (2025-11-25) parameters that the client did not declare. */
export function unableRefusal(
  { method, params }: Pick<ServerAsk, 'method' | 'params'>,
  abilities: Abilities,
): AskRefusal {
  const some = { 'elicitation/create': /[fu]/, 'sampling/createMessage': /s/, 'roots/list': /r/ }[method];
  if (!some.test(abilities)) {
    return { code: rpcErrors.methodNotFound, message: `The client of this call does not support ${method}.` };
  }
  const what = method === 'elicitation/create' ? `mode "${params['mode'] === 'url' ? 'url' : 'form'}"` : 'tools';
  return { code: rpcErrors.invalidParams, message: `The client of this call supports ${method}, but not ${what}.` };
}
