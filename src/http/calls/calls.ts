import { toolOf } from '../../core/access/decision.ts';
import { isPerUser, slotsOf } from '../../core/access/per-user.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { Scope } from '../../core/access/scope.ts';
import { isReadOnly } from '../../core/access/tool-override.ts';
import type { Target, View, ViewList, Views } from '../../core/access/view.ts';
import { exactText } from '../../core/arguments/exact.ts';
import type { ToolArguments } from '../../core/arguments/tool.ts';
import { HubError, type Problem } from '../../core/errors.ts';
import { saying } from '../../core/sentences.ts';
import type { ServerState } from '../../core/hub.ts';
import { invalid } from '../../core/input.ts';
import { editObject, memberText } from '../../core/json/text.ts';
import { coreLimits } from '../../core/limits.ts';
import { rpcErrors } from '../../core/protocol/rpc.ts';
import { metaKeys, statelessRevision } from '../../core/protocol/stateless.ts';
import type { DispatchOptions } from '../../mcp/dispatch.ts';
import { notConnected } from '../../mcp/failure.ts';
import { invoke, type Invocation, type Invoked } from '../../mcp/invoke.ts';
import { mcpLimits } from '../../mcp/limits.ts';
import type { UserCredentials } from '../../upstream/user-credentials/user-credentials.ts';
import { type Caller, stillAllowed } from '../frame/caller.ts';

export interface CallsOptions {
  readonly views: Views;
  readonly toolArguments: ToolArguments;
  /** What the servers are doing, for one that has nothing to offer because it is not there. */
  readonly states: () => readonly ServerState[];
  readonly dispatch: DispatchOptions;
  /** What users set for themselves at servers. */
  readonly credentials: Pick<UserCredentials, 'refusal'>;
}

/** Who calls, what they may see, and what ends with them. */
export interface CallContext {
  readonly caller: Caller;
  readonly scope: Scope;
  /** `x-session-id`. */
  readonly sessionId: string | undefined;
  /**
   * The header of W3C trace context: goes on to the server and into the activity record. One that is none is left out.
   */
  readonly traceparent?: string | undefined;
  /**
   * The request itself, which ends the call when its client leaves, and whose rights are looked at again after it has
   * waited.
   */
  readonly request: Request;
  /** See `Invocation`. */
  readonly progressed?: ((params: string) => void) | undefined;
  /** Where the caller speaks as an MCP client does. */
  readonly asClient?: AsClient | undefined;
  /** Called with the server's own name of the tool once it is known. */
  readonly found?: (tool: string) => void;
  /** Called when the call goes on to its server, whatever then becomes of it. */
  readonly reached?: () => void;
}

/** A caller that can be asked by servers, and hears every message (see `Invocation`). */
export interface AsClient extends Required<Pick<Invocation, 'heard'>> {
  /** What it can be asked, as MCP names it. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** From which level on it wants log messages. */
  readonly logLevel: string | undefined;
  /** Members of `params` of a call that was asked before: JSON texts. */
  readonly rounds: Readonly<Partial<Record<'inputResponses' | 'requestState', string>>>;
}

/** What a tool is called with: the arguments, and the JSON text they were read from. */
export interface GivenArguments {
  readonly value: Record<string, unknown>;
  readonly text: string;
  /** What was wrong with them before the tool was known. */
  readonly problems?: readonly Problem[];
  /** See `ConvertOptions`. */
  readonly wrapSingles?: boolean;
  /** Where in the request they are, for the paths of problems: `arguments`, or `''` when they are the request. */
  readonly path: string;
}

/** What is known of a tool before it is called. */
export interface CalledTool {
  readonly inputSchema: unknown;
  /** Its server, or the settings of that, say that it changes nothing. */
  readonly readOnly: boolean;
}

/** Both as JSON text, so that no number loses digits: the server's result, and the arguments as the server got them. */
export interface ToolAnswer {
  readonly result: string;
  readonly arguments: string;
}

/**
 * Calls tools, prompts and resources for the REST API, in the same way as for every MCP client: with the same view,
 * relay and activity record.
 */
export interface Calls {
  /**
   * Throws HubError `not_found` alike for what is not there and what may not be seen, `invalid_input` for arguments
   * that do not fit, and whatever `given` and `ask` throw.
   */
  tool(
    at: { server: string; tool: string },
    given: (tool: CalledTool) => GivenArguments,
    context: CallContext,
  ): Promise<ToolAnswer>;
  /** The result of `prompts/get` as JSON text; `args` is JSON text. */
  prompt(at: { server: string; prompt: string }, args: string, context: CallContext): Promise<string>;
  /** The result of `resources/read` as JSON text. */
  resource(uri: string, context: CallContext): Promise<string>;
}

export function createCalls({ views, toolArguments, states, dispatch, credentials }: CallsOptions): Calls {
  const withoutCredentials = (name: string, { settings, user }: Caller): HubError | undefined => {
    const server = settings.servers.get(name);
    return server && credentials.refusal(server, user);
  };

  /**
   * Asks the server. Throws HubError `upstream_unavailable`, `timeout`, `cancelled`; an error that the server itself
   * answers is `invalid_input` or `not_found` where that is what it says, else `upstream_failed`.
   */
  async function ask(method: Invocation['method'], params: string, view: View, context: CallContext): Promise<string> {
    const { caller, scope, sessionId, request, progressed, asClient } = context;
    const { principal, address, audited } = caller;
    const { signal } = request;
    const senderNow = async (): Promise<Principal> => {
      await stillAllowed(request);
      return caller.principal;
    };
    context.reached?.();
    const clientHeaders = Object.fromEntries(request.headers);
    const as = asClient && { stateless: true, heard: asClient.heard };
    const from = { principal, address, scope, sessionId, clientHeaders, via: audited.via };
    const answer = await invoke({ ...from, method, params, view, signal, progressed, senderNow, ...as }, dispatch);
    return resultIn(answer);
  }

  /**
   * Finds what is called in the view. What a server that is away would offer is unknown, and that is what is said then.
   */
  async function find(kind: 'tools' | 'prompts', at: { server: string; name: string }, context: CallContext) {
    const { caller, scope, request } = context;
    let view = views.get(caller.principal, scope);
    let found = located(view, kind, at);
    const isSeen = view.servers.includes(at.server);
    if (!found && isSeen) {
      const refused = withoutCredentials(at.server, caller);
      if (refused) throw refused;
      if (await listedNow(at.server, caller)) {
        await stillAllowed(request);
        view = views.get(caller.principal, scope);
        found = located(view, kind, at);
      }
    }
    if (found) return { view, ...found };
    const state = view.servers.includes(at.server) ? states().find(({ name }) => name === at.server) : undefined;
    if (state && state.status !== 'connected' && state.status !== 'asleep') throw unavailable(state, caller);
    const names = { name: shown(at.name), server: shown(at.server) };
    throw saying('not_found', kind === 'tools' ? 'no_such_tool' : 'no_such_prompt', names);
  }

  /**
   * False for a server that waits neither for what its users set nor since a change of its settings, and where it is
   * not connected in time.
   */
  async function listedNow(name: string, { settings }: Caller): Promise<boolean> {
    const server = settings.servers.get(name);
    const isRestarted = dispatch.governance.catalogue().restarted?.has(name) === true;
    if (!server || (slotsOf(server).length === 0 && !isRestarted) || dispatch.about(name)) return false;
    return dispatch.listed(name, mcpLimits.waitForConnectionMs).then(
      () => true,
      () => false,
    );
  }

  return {
    async tool({ server, tool }, given, context) {
      const { view, name, text, target } = await find('tools', { server, name: tool }, context);
      context.found?.(target.key);
      const schemaText = memberText(text, 'inputSchema');
      const args = given({
        inputSchema: schemaText === undefined ? undefined : JSON.parse(schemaText),
        readOnly: readsOnly(target, context.caller, dispatch),
      });
      const prepared = toolArguments.prepare(text, args.value, { wrapSingles: args.wrapSingles ?? false });
      const problems = [...(args.problems ?? []), ...prepared.problems.map((problem) => below(args.path, problem))];
      if (problems.length > 0) throw invalid(`Cannot call tool "${shown(tool)}"`, problems);
      const exact = exactText(prepared.value, args.value, args.text);
      const params = `{"name":${JSON.stringify(name)},"arguments":${exact}${roundsOf(context)}${metaOf(context)}}`;
      const result = await ask('tools/call', params, view, context).catch((error: unknown) => {
        throw error instanceof HubError && error.problems.length > 0 ? inRequest(args.path, error) : error;
      });
      return { result, arguments: exact };
    },
    async prompt({ server, prompt }, args, context) {
      const { view, name } = await find('prompts', { server, name: prompt }, context);
      return ask('prompts/get', `{"name":${JSON.stringify(name)},"arguments":${args}}`, view, context);
    },
    resource(uri, context) {
      const view = views.get(context.caller.principal, context.scope);
      return ask('resources/read', JSON.stringify({ uri }), view, context);
    },
  };
}

/**
 * A tool result with the members that every answer has (CONTRACT §4, Tool call); the others, and every digit, as the
 * server sent them.
 */
export function completeResult(result: string, more: Readonly<Record<string, string>> = {}): string {
  const isError = memberText(result, 'isError') === 'true';
  const content = memberText(result, 'content');
  return editObject(result, { ...(content === undefined && { content: '[]' }), isError: String(isError), ...more });
}

/** As the server, or its settings, say: what a group says is only shown. */
function readsOnly({ server, key }: Target, { settings }: Caller, { governance }: DispatchOptions): boolean {
  const item = toolOf(governance.catalogue().offers.get(server)?.tools, key);
  return item !== undefined && isReadOnly(item, settings.servers.get(server)?.tools.get(key));
}

/** The item by the server's own name or the name the view shows it under; `name` is the latter, `text` the item. */
function located(view: View, kind: 'tools' | 'prompts', { server, name }: { server: string; name: string }) {
  const list: ViewList = kind === 'tools' ? view.all : view.lists.prompts;
  let index = list.targets.findIndex(
    (target) => target.server === server && (target.key === name || target.name === name),
  );
  if (index === -1) {
    const target = kind === 'tools' ? view.tool(name) : view.prompt(name);
    index = target?.server === server ? list.targets.indexOf(target) : -1;
  }
  const [text, target] = [list.texts.at(index), list.targets[index]];
  if (text === undefined || target === undefined) return undefined;
  return { text, target, name: String(JSON.parse(memberText(text, 'name') ?? 'null')) };
}

/** The member of `params` in which MCP carries a trace, and the token that requests progress. */
function metaOf({ traceparent = '', progressed, asClient }: CallContext): string {
  const isTrace = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent);
  const meta = {
    ...(isTrace && { traceparent }),
    ...(progressed && { progressToken: 0 }),
    ...(asClient && {
      [metaKeys.protocolVersion]: statelessRevision,
      [metaKeys.clientCapabilities]: asClient.capabilities,
      ...(asClient.logLevel !== undefined && { [metaKeys.logLevel]: asClient.logLevel }),
    }),
  };
  return Object.keys(meta).length > 0 ? `,"_meta":${JSON.stringify(meta)}` : '';
}

/** The answers to what the server asked, and its state. */
function roundsOf({ asClient }: CallContext): string {
  const { inputResponses, requestState } = asClient?.rounds ?? {};
  const answers = inputResponses === undefined ? '' : `,"inputResponses":${inputResponses}`;
  return requestState === undefined ? answers : `${answers},"requestState":${requestState}`;
}

/** Throws HubError for an error of the server. */
function resultIn(answer: Invoked): string {
  if (answer.kind === 'result') return memberText(answer.text, 'result') ?? '{}';
  const message = `The server refused: ${answer.message.slice(0, coreLimits.textChars)}`;
  if (answer.code === rpcErrors.invalidParams) throw new HubError('invalid_input', message);
  throw new HubError(answer.code === rpcErrors.resourceNotFound ? 'not_found' : 'upstream_failed', message);
}

function unavailable(
  { name, status, phase, nextRetryAt, unreachable, oauth }: ServerState,
  { settings, user }: Caller,
): HubError {
  const server = settings.servers.get(name);
  // Where users sign in alone, the one who asks can be the first.
  if (status === 'oauth_required' && oauth && user && server && isPerUser(server)) {
    const { authorizationUrl } = oauth;
    const text = `No user has signed in to server "${name}" yet. Open ${authorizationUrl} in a browser and sign in there, then try again.`;
    return new HubError('oauth_required', text, { authorizationUrl });
  }
  const retryAfterMs = nextRetryAt === undefined ? 2_000 : Math.max(1_000, Date.parse(nextRetryAt) - Date.now());
  if (status === 'connecting' && phase === 'installing') {
    return saying('upstream_unavailable', 'server_installing', { server: name }, { retryAfterMs: 10_000 });
  }
  if (status === 'connecting')
    return saying('upstream_unavailable', 'server_connecting', { server: name }, { retryAfterMs });
  if (unreachable === undefined && nextRetryAt !== undefined) {
    const seconds = String(Math.ceil(retryAfterMs / 1_000));
    return saying('upstream_unavailable', 'server_away', { server: name, seconds }, { retryAfterMs });
  }
  const text = notConnected(`Server "${name}"`, unreachable, nextRetryAt === undefined ? undefined : retryAfterMs);
  return new HubError('upstream_unavailable', text, { retryAfterMs });
}

/** The failure, with the paths of its problems as the request has them. */
function inRequest(path: string, error: HubError): HubError {
  return new HubError(error.code, error.message, { problems: error.problems.map((problem) => below(path, problem)) });
}

function below(path: string, problem: Problem): Problem {
  if (path === '') return problem;
  const separator = problem.path === '' || problem.path.startsWith('[') ? '' : '.';
  return { path: `${path}${separator}${problem.path}`, message: problem.message };
}

function shown(name: string): string {
  return name.slice(0, 200);
}
