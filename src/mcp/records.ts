import { authLimits } from '../auth/limits.ts';
import { getsCallersValues } from '../core/access/per-user.ts';
import { userOf } from '../core/access/identity.ts';
import { type Activity, type ActivitySink, type NewActivity, searchServer, unknownServer } from '../core/activity.ts';
import { actorOf, type AuditEvent, type AuditSink } from '../core/audit.ts';
import type { ErrorCode, HubError } from '../core/errors.ts';
import type { LargeText } from '../core/json/large-text.ts';
import { mask } from '../core/mask.ts';
import type { SpanId } from '../core/tracing.ts';
import { ownServer } from '../core/own-items.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { hideSecrets } from '../core/secrets/secret-forms.ts';
import { scopeId } from '../core/access/scope.ts';
import { type Principal, principalId } from '../core/access/principal.ts';
import type { Target } from '../core/access/view.ts';
import type { ServerSettings } from '../core/settings/server.ts';
import type { Settings } from '../core/settings/settings.ts';
import { logLimits } from '../logs/limits.ts';
import { hideInUrls, hideKnownForms } from '../settings/export/secret-text.ts';
import type { CallCounts } from '../metrics/calls.ts';
import { clientNameFor } from './client-name.ts';
import type { ClientRequest } from './request.ts';
import { createSearchUsage, type FoundTool, type SearchLink, type SearchUsage } from './search-usage.ts';
import { shownScore } from '../core/smart-tools.ts';

/** What is kept, and counted, of the requests of clients. Its functions need no `this`, are quick and do not wait. */
export interface CallRecords {
  /** A request that went to a server is over: called once for each. */
  readonly finished: (call: FinishedCall) => void;
  /** A tool call was refused before a server saw it. */
  readonly refused: (call: RefusedCall) => void;
  /**
   * Any other request ended with an error of the hub. What decides besides access is for the audit log; in the activity
   * there is nothing of it.
   */
  readonly refusedRead: (request: ClientRequest, error: HubError) => void;
  /** A search or a description was answered. */
  readonly used: (use: SmartUse) => void;
  /**
   * Calls back once what was recorded before outlives this process: at once, or at the end of this turn of the event
   * loop. Answers wait for it.
   */
  readonly afterKeeping: (done: () => void) => void;
}

export interface RecordOptions {
  readonly activity: ActivitySink;
  readonly counts: Pick<CallCounts, 'count'>;
  readonly settings: () => Settings;
  /** Takes secrets out of what a server answered. */
  readonly clean: (text: string) => string;
  /** The first so many characters of arguments or of a result, without secrets. */
  readonly hide: (text: string, chars: number) => string;
  /** A request of the principal has reached a server. Must be quick. */
  readonly called: (principal: Principal) => void;
  readonly audit: Pick<AuditSink, 'counted'>;
}

export function createCallRecords({
  activity,
  counts,
  settings,
  clean,
  hide,
  called,
  audit,
}: RecordOptions): CallRecords {
  const searches = createSearchUsage();
  const keep = (record: NewActivity, ms: number, span?: SpanId): void => {
    activity.record(record);
    counts.count(record, ms, span);
  };
  return {
    finished(call) {
      called(call.request.principal);
      const record = activityOf(call, settings(), searches, { clean, hide });
      if (record) keep(record, call.ms, call.request.trace?.recorded);
    },
    refused(call) {
      keep(refusedActivityOf(call, settings()), call.ms);
      // Arguments that do not fit are a mistake of a model, and no attempt at what is not allowed.
      if (call.code !== 'invalid_input') audit.counted(refusalOf(call, settings()));
    },
    refusedRead(request, error) {
      if (governing.has(error.code)) audit.counted(refusedReadOf(request, error, settings()));
    },
    used: (use) => keep(smartActivityOf(use, settings(), searches, hide), use.ms),
    afterKeeping: activity.afterKeeping,
  };
}

/** What is known of a relayed request once it is over, for the activity log. */
export interface FinishedCall {
  readonly request: ClientRequest;
  readonly target: Target;
  /** Milliseconds from the client's request to its answer. */
  readonly ms: number;
  /** See `NewActivity`. */
  readonly queueMs: number;
  readonly serverMs: number;
  readonly outcome: 'ok' | 'tool_error' | 'error' | 'cancelled' | 'timeout';
  /** What it failed with: of a tool that reports failure, the first text it answered. */
  readonly error: string | undefined;
  /** The result or error as JSON text; undefined when the server gave none. */
  readonly answer: string | LargeText | undefined;
}

/** A tool call that no server has seen. */
export interface RefusedCall {
  readonly principal: Principal;
  readonly address: string | undefined;
  /** As text, like `dev`. */
  readonly scope: string;
  /** As the caller named them: there may be no such thing. */
  readonly server: string;
  readonly tool: string;
  readonly ms: number;
  /** What the caller was told, arguments left out. */
  readonly error: string;
  /** Of the error, where there is one. */
  readonly code?: ErrorCode | undefined;
  /** `mcp` when absent. */
  readonly via?: AuditEvent['via'] | undefined;
  /** Of W3C trace context. */
  readonly traceId: string | undefined;
  /** See `Activity`. */
  readonly client?: string | undefined;
}

/** A search or a description that was answered. */
export interface SmartUse {
  readonly request: ClientRequest;
  /** Of a search: its query, and what it found, best first. */
  readonly search?: { readonly query: string; readonly results: readonly FoundTool[] };
  /** Of a description: the tool. */
  readonly described?: Target;
  readonly ms: number;
  readonly resultBytes: number;
  /** The result as JSON text. */
  readonly answer: string;
}

/**
 * A refused `tools/call` for the record. Its server is known only of a tool the caller sees, and on the endpoint of one
 * server: a call of a hidden tool leaves the same record as a call of a tool that does not exist.
 */
export function refusedCall(request: ClientRequest, error: string, code?: ErrorCode): RefusedCall {
  const { principal, address, scope, view, message, via } = request;
  const params = isObject(message.params) ? message.params : {};
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const named = nameIn(params, view.smart !== undefined);
  const target =
    named === runCodeTarget.key && view.smart?.code ? runCodeTarget : (view.tool(named) ?? view.unlisted?.(named));
  const [only] = view.kind === 'server' ? view.servers : [];
  const { traceparent } = meta;
  const traceId = request.trace?.recorded?.traceId ?? traceIdIn(traceparent);
  return {
    principal,
    address,
    scope: scopeId(scope),
    server: target?.server ?? only ?? unknownServer,
    tool: (target?.key ?? named).slice(0, 200),
    ms: 0,
    error,
    code,
    via,
    traceId,
    client: clientNameFor(request),
  };
}

/** As policies know it. */
export const runCodeTarget: Target = { server: ownServer, key: 'run_code' };

/** The tool that a call is about: on a smart endpoint the one that `call_tool` was to call. */
function nameIn({ name, arguments: given }: Record<string, unknown>, isSmart: boolean): string {
  const named = isSmart && name === 'call_tool' && isObject(given) ? given['toolName'] : name;
  return typeof named === 'string' ? named : '';
}

/**
 * The activity record of a finished tool call (CONTRACT §4); undefined for prompts and resources, of which none is
 * kept.
 */
function activityOf(
  call: FinishedCall,
  settings: Settings,
  searches: SearchUsage,
  { clean, hide }: Pick<RecordOptions, 'clean' | 'hide'>,
): NewActivity | undefined {
  const { request, target, ms, queueMs, serverMs, outcome, error, answer } = call;
  if (request.method !== 'tools/call') return undefined;
  const { principal, username, keyId, keyName, scope, group, sourceIp, traceId, client } = whoAndWhere(
    request,
    settings,
  );
  const server = settings.servers.get(target.server);
  // One that is gone meanwhile may have been such a server.
  const isPrivate = server === undefined || getsCallersValues(server);
  const storesPayload = !isPrivate && (settings.system.storeToolPayload || keepsNow(server));
  const failed = outcome === 'error' || outcome === 'tool_error';
  // Written out: an object that is spread and then added to takes several microseconds.
  const record: NewActivity = {
    server: target.server,
    tool: target.key,
    durationMs: Math.round(ms),
    status: outcome === 'ok' ? 'success' : outcome === 'tool_error' ? 'error' : outcome,
    resultBytes: bytesOf(answer),
    queueMs: Math.round(queueMs),
    serverMs: Math.round(serverMs),
    errorMessage: isPrivate && failed && answer !== undefined ? notKept : error && shortened(clean(error)),
    principal,
    username,
    keyId,
    keyName,
    scope,
    group,
    sourceIp,
    traceId,
    client,
  };
  if (!request.view.smart && !storesPayload) return record;
  return {
    ...record,
    ...(request.view.smart && linkOf(searches.find(request, target), settings)),
    ...(storesPayload && payloads(request.params, answer, hide)),
  };
}

/** Without keys and tokens either, whose they may be: a server may repeat what it was sent. */
function shortened(said: string): string {
  const { errorChars } = logLimits;
  const text = hideSecrets(said).replace(tokens, mask);
  return text.length <= errorChars ? text : `${text.slice(0, errorChars - 1)}…`;
}

/** A server's own error may repeat what it was sent. */
const notKept = 'The server answered with an error, which is not kept.';

function bytesOf(answer: FinishedCall['answer']): number {
  if (answer === undefined) return 0;
  return typeof answer === 'string' ? Buffer.byteLength(answer) : answer.bytes;
}

/**
 * The record of a search or a description. The query is kept, unless `activityLog.storeSearchQueries` is off: without
 * it the record does not show how good the search is. The context and what was answered are payload.
 */
function smartActivityOf(
  use: SmartUse,
  settings: Settings,
  searches: SearchUsage,
  hide: RecordOptions['hide'],
): NewActivity {
  const { request, search, described, ms, resultBytes, answer } = use;
  const common = {
    durationMs: Math.round(ms * 10) / 10,
    status: 'success',
    resultBytes,
    ...whoAndWhere(request, settings),
    ...(settings.system.storeToolPayload && payloads(request.params, answer, hide)),
  } as const;
  if (described) {
    const link = linkOf(searches.find(request, described), settings);
    return { ...common, kind: 'describe', server: described.server, tool: described.key, ...link };
  }
  const { query = '', results = [] } = search ?? {};
  const searchId = searches.note(request, { query, results });
  const kept = results.slice(0, logLimits.activityResults).map(({ target: { server, key }, score }) => ({
    server,
    tool: key,
    score: shownScore(score),
  }));
  const words = storesQueries(settings) && { query: query.slice(0, logLimits.searchEchoChars) };
  return { ...common, kind: 'search', server: searchServer, tool: 'search_tools', searchId, ...words, results: kept };
}

function linkOf(link: SearchLink | undefined, settings: Settings): Partial<SearchLink> {
  if (!link || storesQueries(settings)) return { ...link };
  const { query: _, ...rest } = link;
  return rest;
}

function storesQueries({ system }: Settings): boolean {
  return system.storeSearchQueries ?? true;
}

/** The same for the audit log. */
function refusalOf(
  { principal, address, server, tool, error, via = 'mcp' }: RefusedCall,
  settings: Settings,
): AuditEvent {
  const target = server === unknownServer ? tool : `${server}/${tool}`;
  const actor = actorOf(settings, principal);
  return { actor, address, via, action: 'call', target, after: { why: error }, result: 'refused' };
}

/** What refuses a request for something that its sender sees. */
const governing: ReadonlySet<ErrorCode> = new Set(['policy', 'approval', 'guard']);

/** The same of a prompt, a resource, a completion, the result of a task. */
function refusedReadOf(request: ClientRequest, { message: why }: HubError, settings: Settings): AuditEvent {
  const { method, message, view, principal, address, via = 'mcp' } = request;
  const { name, uri, taskId, ref } = isObject(message.params) ? message.params : {};
  const named = name ?? uri ?? taskId ?? (isObject(ref) ? (ref['name'] ?? ref['uri']) : undefined);
  const text = typeof named === 'string' ? shownName(named) : method;
  const found = typeof name === 'string' ? view.prompt(name) : typeof uri === 'string' ? view.resource(uri) : undefined;
  const target = found ? `${found.server}/${shownName(found.key)}` : text;
  const actor = actorOf(settings, principal);
  return { actor, address, via, action: 'read', target, after: { why }, result: 'refused' };
}

/** The first characters of a name or a URI, without the credentials in it. */
function shownName(name: string): string {
  const start = name.slice(0, logLimits.activityPayloadChars);
  const known = hideKnownForms(start, () => mask);
  return hideInUrls(known, () => mask).slice(0, 200);
}

/** The record of a tool call that was refused before it reached a server. */
function refusedActivityOf(call: RefusedCall, settings: Settings): NewActivity {
  const { server, tool, scope, ms, error, principal, address, traceId, client } = call;
  return {
    server,
    tool,
    scope,
    durationMs: Math.round(ms),
    status: 'refused',
    resultBytes: 0,
    errorMessage: error,
    client,
    ...who(principal, settings),
    ...(address !== undefined && { sourceIp: address }),
    ...(traceId !== undefined && { traceId }),
  };
}

interface Who {
  readonly principal: Activity['principal'];
  readonly username?: string;
  readonly keyId?: string;
  readonly keyName?: string;
}

/** Settings are immutable snapshots, so what they have for a principal is looked up once. */
const known = new WeakMap<Settings, Map<string, Who>>();

function who(principal: Principal, settings: Settings): Who {
  let ofSettings = known.get(settings);
  if (!ofSettings) {
    ofSettings = new Map();
    known.set(settings, ofSettings);
  }
  const id = principalId(principal);
  let found = ofSettings.get(id);
  if (!found) {
    found = lookUp(principal, settings);
    // Bounded: each token of a deleted account adds an entry.
    if (ofSettings.size < authLimits.verifiedTokens) ofSettings.set(id, found);
  }
  return found;
}

function lookUp(principal: Principal, settings: Settings): Who {
  const key = principal.kind === 'key' ? settings.keys.find((key) => key.id === principal.id) : undefined;
  const user = userOf(settings, principal);
  const username = user?.username ?? nameOfGone(principal, settings);
  return {
    principal: principal.kind === 'app' || principal.kind === 'issued' ? 'user' : principal.kind,
    ...(username !== undefined && { username }),
    ...(key && { keyId: key.id, keyName: key.name }),
    ...(principal.kind === 'app' && { keyName: 'OAuth' }),
    // In no `username`: a user of that name is another person.
    ...(principal.kind === 'issued' && { keyName: `${principal.name} (${principal.issuer})` }),
  };
}

/** Undefined when another account has this name now: the record would count as that account's. */
function nameOfGone(principal: Principal, { users }: Settings): string | undefined {
  if (principal.kind !== 'user' || users.some(({ username }) => username === principal.username)) return undefined;
  return principal.username;
}

function whoAndWhere(request: ClientRequest, settings: Settings) {
  const { principal, scope, address } = request;
  const group = scope.kind === 'smart' ? scope.group : scope.kind === 'named' ? scope.name : undefined;
  // One that is not recorded is nowhere to be found.
  const traceId = request.trace?.recorded?.traceId ?? traceIdOf(request.message.params);
  const { principal: kind, username, keyId, keyName } = who(principal, settings);
  return {
    principal: kind,
    username,
    keyId,
    keyName,
    scope: scopeId(scope),
    group: request.view.kind === 'group' ? group : undefined,
    sourceIp: address,
    traceId,
    client: clientNameFor(request),
  };
}

/** The trace id of W3C trace context, which travels in `_meta.traceparent`. */
function traceIdOf(params: unknown): string | undefined {
  const meta = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {};
  return traceIdIn(meta['traceparent']);
}

/** Undefined where it is no trace context. */
export function traceIdIn(traceparent: unknown): string | undefined {
  return typeof traceparent === 'string' ? /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent)?.[1] : undefined;
}

function payloads(
  input: string | undefined,
  output: FinishedCall['answer'],
  hide: RecordOptions['hide'],
): { input?: string; output?: string } {
  // Of a large one, what is left when it is cut: no character has more than four bytes.
  const kept = typeof output === 'object' ? output.slice(0, logLimits.activityPayloadChars * 8).toString() : output;
  return {
    ...(input !== undefined && { input: withoutSecrets(input, hide, logLimits.activityPayloadChars) }),
    ...(kept !== undefined && { output: withoutSecrets(kept, hide, logLimits.activityPayloadChars) }),
  };
}

/** The first characters of a JSON text, without secrets of the settings, tokens, and members named as secrets. */
export function withoutSecrets(text: string, hide: RecordOptions['hide'], chars: number): string {
  return hideSecrets(hide(text, chars)).replace(tokens, mask).replace(secretMembers, `$1"${mask}"`);
}

const tokens = /mcphub_[0-9a-f]{64}|eyJ[\w-]+\.[\w-]+\.[\w-]+/g;
/** Members of JSON that are named as secrets, with a text as their value. */
const secretMembers =
  /("[\w-]{0,40}(?:passw(?:or)?d|passphrase|secret|api[-_]?key|private[-_]?key|access[-_]?token|refresh[-_]?token|authorization)[\w-]{0,40}"\s*:\s*)"(?:[^"\\]|\\.)*"/gi;

/** An admin wants to see the calls of this server for a while; by the clock, which all hubs and restarts share. */
function keepsNow(server: ServerSettings | undefined): boolean {
  return server?.keepPayloadsUntil !== undefined && Date.now() < server.keepPayloadsUntil;
}
