import { setMaxListeners } from 'node:events';
import { principalId } from '../../core/access/principal.ts';
import { unknownServer } from '../../core/activity.ts';
import { HubError } from '../../core/errors.ts';
import { elements, memberText } from '../../core/json/text.ts';
import { isObject, resultText } from '../../core/protocol/rpc.ts';
import { type Scope, scopeId } from '../../core/access/scope.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { Target, View } from '../../core/access/view.ts';
import { clientNameFor } from '../client-name.ts';
import { unknownTarget } from '../failure.ts';
import { admit } from '../relay/admission.ts';
import type { DispatchOptions } from '../dispatch.ts';
import { invoke } from '../invoke.ts';
import { mcpLimits } from '../limits.ts';
import { type RefusedCall, runCodeTarget } from '../records.ts';
import { requestKey } from '../relay/relayed-call.ts';
import { type ClientRequest, viewNow } from '../request.ts';
import { toldOfServer } from '../unlisted.ts';
import { runCode, type ToolCall } from './run-code.ts';

/**
 * Answers `run_code` (CONTRACT §11, Code mode). Each call that the code makes is a call of the request's sender on the
 * endpoint of the same servers: decided, limited, recorded and ended like any other.
 */
async function codeCall(
  request: ClientRequest,
  given: Readonly<Record<string, unknown>>,
  options: DispatchOptions,
): Promise<void> {
  const { code } = given;
  if (typeof code !== 'string' || code.trim() === '') return answer(request, failed('run_code needs "code", a text.'));
  if (code.length > mcpLimits.codeChars)
    return answer(request, failed(`The code may have ${mcpLimits.codeChars} characters.`));
  // Policies, limits and their audit hold for the run as for a call; what it calls is decided one by one.
  const admission = admit(request, runCodeTarget, options.governance);
  if (admission?.question)
    throw new HubError(
      'approval',
      'A policy asks a person before run_code, and code cannot wait for that. Call the tools themselves.',
      {
        data: { policy: admission.question.policy },
      },
    );
  const leaving = new AbortController();
  // Each call that the code waits for listens.
  setMaxListeners(0, leaving.signal);
  const call = { cancel: () => leaving.abort() };
  const { session, reply } = request;
  reply.gone = () => leaving.abort();
  // Before anything is waited for: a session with nothing under way is released, and no call is found in it then.
  session?.inFlight.set(requestKey(request), call);
  try {
    // It takes no place among calls at the same time: with one place there would be none for the calls of the code.
    const counted = await admission?.count(undefined, false);
    counted?.();
    const limits = limitsOf(options.governance.settings());
    const { signal } = leaving;
    const inner = toolCall(request, options, signal);
    const caller = principalId(request.principal);
    const outcome = await runCode(code, limits, { caller, call: inner, signal });
    // What was computed for a caller who is not let in any more is not theirs.
    const view = await viewNow(request, options.views);
    if (view.kind === 'nothing' && request.view.kind !== 'nothing') throw unknownTarget(request);
    const { logs, calls } = outcome;
    if (outcome.kind === 'result') answer(request, { result: outcome.result ?? 'null', logs, calls });
    else answer(request, failed(outcome.message, { line: outcome.line, column: outcome.column, logs, calls }));
  } finally {
    leaving.abort();
    reply.gone = undefined;
    session?.settle({ call, id: requestKey(request) });
  }
}

/** What dispatching is given, and with it the answer to `run_code`. */
export function withCode(options: DispatchOptions): DispatchOptions {
  const all: DispatchOptions = { ...options, runCode: (request, given) => codeCall(request, given, all) };
  return all;
}

/** Bounds of one run; what the settings do not say is as CONTRACT §11 has it. */
function limitsOf({ system: { codeMode } }: Settings) {
  const { timeoutSeconds = 60, memoryMb = 64, calls = 50 } = codeMode ?? {};
  return { timeoutMs: timeoutSeconds * 1_000, memoryBytes: memoryMb * 1024 * 1024, calls };
}

interface Failed {
  readonly error: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly logs: readonly string[];
  readonly calls: number;
}

function failed(error: string, more: Partial<Failed> = {}): Failed {
  return { error, logs: [], calls: 0, ...more };
}

type Succeeded = Pick<Failed, 'logs' | 'calls'> & { readonly result: string };

function answer(request: ClientRequest, outcome: Failed | Succeeded): void {
  const isError = 'error' in outcome;
  const { logs, calls } = outcome;
  const content = isError
    ? JSON.stringify(outcome)
    : `{"result":${outcome.result},"logs":${JSON.stringify(logs)},"calls":${calls}}`;
  const block = `{"type":"text","text":${JSON.stringify(content)}}`;
  const end = request.stateless ? ',"resultType":"complete"' : '';
  const text = `{"content":[${block}],"structuredContent":${content},"isError":${isError}${end}}`;
  request.reply.answer(resultText(request.id, text));
}

/** The endpoint on which the calls of the code are made: the same servers, and their tools themselves. */
function innerScope({ scope }: ClientRequest): Scope {
  const group = scope.kind === 'smart' ? scope.group : undefined;
  return group === undefined ? { kind: 'all' } : { kind: 'named', name: group };
}

function toolCall(request: ClientRequest, options: DispatchOptions, signal: AbortSignal): ToolCall {
  const { principal, clientHeaders, address, senderNow, trace: within } = request;
  const scope = innerScope(request);
  const isOfGroup = scope.kind === 'named';
  const client = clientNameFor(request);
  const { codeResultBytes: mostBytes } = mcpLimits;
  return async (server, tool, args) => {
    const viewed = () => viewNow({ principal, scope, senderNow }, options.views);
    // Behind the endpoint of a group is no server of the same name.
    const nameIn = (seen: View) => (isOfGroup && seen.kind !== 'group' ? undefined : exposedName(seen, server, tool));
    const called = `${server}.${tool}`.slice(0, mcpLimits.codeLogChars);
    const refused = (error: string, code: HubError['code'] = 'not_found') => {
      options.records.refused(refusedInCode(request, { called, scope, error, code, client }));
      return { error };
    };
    let view = await viewed();
    let name = nameIn(view);
    const starting = name === undefined ? serverMeant(view.restarting ?? [], server) : undefined;
    if (starting !== undefined) {
      try {
        await options.listed(starting, mcpLimits.waitForConnectionMs);
      } catch (error) {
        const told = toldOfServer(error, starting);
        if (told instanceof HubError) return refused(told.message, told.code);
        throw told;
      }
      view = await viewed();
      name = nameIn(view);
    }
    if (name === undefined) return refused(`There is no tool ${called}. Names come from search_tools.`);
    if (!args.startsWith('{')) return { error: `The arguments of ${called} must be an object.` };
    const params = `{"name":${JSON.stringify(name)},"arguments":${args}}`;
    const sessionId = request.session ? `code ${request.session.facts.sid}` : request.sessionId;
    const sent = { principal, scope, clientHeaders, address, senderNow, view, sessionId, signal, client, mostBytes };
    const invoked = await invoke({ ...sent, within, method: 'tools/call', params }, options);
    if (invoked.kind === 'error') return { error: invoked.message };
    const result = memberText(invoked.text, 'result') ?? '{}';
    return invoked.result['isError'] === true ? { error: textsOf(result) } : { value: valueOf(result) };
  };
}

/** A call of a tool that its sender does not see, as any other call of one is recorded. */
function refusedInCode(
  { principal, address, trace }: ClientRequest,
  {
    called,
    scope,
    error,
    code,
    client,
  }: Pick<RefusedCall, 'error' | 'code' | 'client'> & { readonly called: string; readonly scope: Scope },
): RefusedCall {
  const traceId = trace?.recorded?.traceId;
  const of = { principal, address, scope: scopeId(scope), server: unknownServer, tool: called.slice(0, 200) };
  return { ...of, ms: 0, error, code, traceId, client };
}

/** The name under which a view shows a tool; names that are no words can be written with `_` in place of the rest. */
function exposedName(view: View, server: string, tool: string): string | undefined {
  const { targets, texts } = view.lists.tools;
  const at =
    placeOf(targets, (one) => one.server === server && ownName(one) === tool) ??
    placeOf(targets, (one) => word(one.server) === server && word(ownName(one)) === tool);
  const name = at === undefined ? undefined : memberText(texts.at(at) ?? '{}', 'name');
  return name === undefined ? undefined : (JSON.parse(name) as string);
}

function serverMeant(names: Iterable<string>, server: string): string | undefined {
  const all = [...names];
  return all.find((one) => one === server) ?? all.find((one) => word(one) === server);
}

function placeOf(targets: readonly Target[], is: (one: Target) => boolean): number | undefined {
  const at = targets.findIndex(is);
  return at === -1 ? undefined : at;
}

function ownName({ key, name = key }: Target): string {
  return name;
}

function word(name: string): string {
  return name.replace(/[^\w$]/g, '_');
}

/** What the code gets: the structured content, else the one text (parsed where it is JSON), else the content. */
function valueOf(result: string): string {
  const structured = memberText(result, 'structuredContent');
  if (structured !== undefined) return structured;
  const content = memberText(result, 'content') ?? '[]';
  const blocks = elements(content);
  const only: unknown = blocks.length === 1 ? JSON.parse(blocks[0] ?? 'null') : undefined;
  if (!isObject(only) || only['type'] !== 'text' || typeof only['text'] !== 'string') return content;
  const { text } = only;
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}

function textsOf(result: string): string {
  const texts = elements(memberText(result, 'content') ?? '[]').flatMap((block) => {
    const value: unknown = JSON.parse(block);
    return isObject(value) && typeof value['text'] === 'string' ? [value['text']] : [];
  });
  return texts.join('\n').slice(0, mcpLimits.codeLogChars) || 'The tool failed.';
}
