import { type ErrorCode, HubError } from '../core/errors.ts';
import { editObject, memberText } from '../core/json/text.ts';
import { ownServer } from '../core/own-items.ts';
import { coreLimits } from '../core/limits.ts';
import { isObject, resultText } from '../core/protocol/rpc.ts';
import { searchGuideline, shownScore } from '../core/smart-tools.ts';
import type { SmartView, Target, View, Views } from '../core/access/view.ts';
import { logLimits } from '../logs/limits.ts';
import { declarationOf } from './code/declarations.ts';
import type { ToolSearch } from '../smart/tool-search.ts';
import { type CallRecords, refusedCall, type SmartUse } from './records.ts';
import type { FoundTool } from './search-usage.ts';
import { failureOf } from '../core/tracing.ts';
import { abilitiesFor, type ClientRequest, clientRequest, viewNow } from './request.ts';
import { showsApps } from '../core/protocol/server-requests.ts';
import { searchable } from './searchable.ts';

/** What smart routing needs of the rest of the hub. */
export interface SmartOptions {
  readonly search: ToolSearch['search'];
  /** The key of a tool in the index. */
  readonly key: (target: Target) => string;
  /** Whether the server can be called now: what cannot is not offered (CONTRACT §6). */
  readonly available: (server: string) => boolean;
  /** Arguments against the tool's schema: the problems with their paths. */
  readonly problems: (toolText: string, argumentsValue: unknown) => readonly { path: string; message: string }[];
}

interface SmartParts {
  readonly views: Views;
  readonly records: CallRecords;
  /** Answers `run_code`. */
  readonly runCode?: ((request: ClientRequest, given: Readonly<Record<string, unknown>>) => Promise<void>) | undefined;
}

/**
 * Answers `tools/call` on a smart endpoint (SPEC, Smart routing tools; CONTRACT §6). Returns the request to relay for
 * `call_tool` and for a pinned tool, undefined when it was answered here, and a promise when it will be. Throws
 * HubError `not_found` for any other tool: what is not listed is not there.
 */
export function smartCall(
  request: ClientRequest,
  view: SmartView,
  options: SmartOptions,
  { views, records, runCode }: SmartParts,
): ClientRequest | Promise<void> | undefined {
  const params = isObject(request.message.params) ? request.message.params : {};
  const given = isObject(params['arguments']) ? params['arguments'] : {};
  const startedAt = performance.now();
  const respond = (found: Answer): void => {
    const text = resultOf(request, found);
    const ms = performance.now() - startedAt;
    if (found.use) records.used({ ...found.use, request, ms, resultBytes: Buffer.byteLength(text), answer: text });
    records.afterKeeping(() => request.reply.answer(resultText(request.id, text)));
  };
  switch (params['name']) {
    case 'search_tools':
      return tracedSearch(
        request,
        search(given, view, options, () => viewNow(request, views)),
      ).then(respond);
    case 'describe_tool':
      if (!view.progressive) break;
      respond(describe(given, view, options));
      return undefined;
    case 'run_code':
      if (!view.code || !runCode) break;
      return runCode(request, given);
    case 'call_tool': {
      if (view.code) break;
      const refusal = refusalOf(given, view, options);
      if (!refusal) return callRequest(request, given);
      records.refused(refusedCall(request, refusal.error ?? '', refusal.code));
      respond(refusal);
      return undefined;
    }
  }
  const name = typeof params['name'] === 'string' ? params['name'] : '?';
  if (view.isPinned(name) || request.view.tool(name)?.server === ownServer) return request;
  // A page calls the tools of its server itself; models have `call_tool`.
  if (showsApps(abilitiesFor(request)) && request.view.tool(name)?.hasPages === true) return request;
  throw new HubError('not_found', `Unknown tool: ${name.slice(0, 300)}`);
}

/** A search as a part of its request; what is searched for is in no span. */
async function tracedSearch({ trace }: ClientRequest, searching: Promise<Answer>): Promise<Answer> {
  const part = trace?.part('search tools', {});
  if (!part) return searching;
  try {
    const found = await searching;
    part.end(undefined, { 'toolhub.search.results': found.use?.search?.results.length ?? 0 });
    return found;
  } catch (error) {
    part.end(failureOf(error));
    throw error;
  }
}

interface Answer {
  /** JSON text of an object. */
  readonly content: string;
  /** What was wrong; the answer is an error then. */
  readonly error?: string;
  readonly code?: ErrorCode;
  readonly use?: Pick<SmartUse, 'search' | 'described'>;
}

/** `now` gives the view when the search is over: an embedding service may take seconds. */
async function search(
  given: Record<string, unknown>,
  view: SmartView,
  options: SmartOptions,
  now: () => View | Promise<View>,
): Promise<Answer> {
  const { query } = given;
  // Models write null for what they leave out.
  const context = given['context'] ?? undefined;
  const limit = given['limit'] ?? coreLimits.searchResults;
  if (typeof query !== 'string' || query.trim() === '')
    return failure('search_tools needs "query", a text that says what you want to do.');
  if (context !== undefined && typeof context !== 'string') return failure('"context" must be a text.');
  if (typeof limit !== 'number' || !Number.isInteger(limit))
    return failure(`"limit" must be an integer from 1 to ${coreLimits.searchResultsMost}.`);
  const { allowed } = searchable(view, options);
  const found = await options.search({
    query,
    context,
    limit: Math.min(coreLimits.searchResultsMost, Math.max(1, limit)),
    allowed,
  });
  const { smart: seen } = await now();
  const places = seen && searchable(seen, options).places;
  const results: FoundTool[] = [];
  const tools: string[] = [];
  for (const { key, score } of found.results) {
    const index = places?.get(key) ?? -1;
    const target = seen?.tools.targets[index];
    if (!seen || !target) continue;
    results.push({ target, score });
    tools.push(foundText(shown(seen, index, target), target, score));
  }
  const metadata = {
    query: query.slice(0, logLimits.searchEchoChars),
    mode: view.progressive ? 'progressive' : 'standard',
    threshold: shownScore(found.threshold),
    totalResults: tools.length,
    progressiveDisclosure: view.progressive,
    guideline: searchGuideline(tools.length, view.progressive, view.code),
    ...(!found.confident && tools.length > 0 && { lowConfidence: true }),
    ...(found.degraded !== undefined && { degraded: found.degraded }),
  };
  const content = `{"tools":[${tools.join(',')}],"metadata":${JSON.stringify(metadata)}}`;
  return { content, use: { search: { query, results } } };
}

/** A tool as search shows it, as JSON text. */
function shown(view: SmartView, index: number, { server, key, name = key }: Target): string {
  const text = view.tools.texts.at(index) ?? '{}';
  if (view.code) {
    const tool = JSON.parse(text) as Record<string, unknown>;
    const { name: exposed, description } = tool;
    return JSON.stringify({ name: exposed, description, declaration: declarationOf(server, name, tool) });
  }
  if (!view.progressive) return text;
  const description = memberText(text, 'description');
  return `{"name":${memberText(text, 'name') ?? '""'}${description === undefined ? '' : `,"description":${description}`}}`;
}

function foundText(tool: string, { server }: Target, score: number): string {
  return editObject(tool, { score: String(shownScore(score)), serverName: JSON.stringify(server) });
}

function describe(given: Record<string, unknown>, view: SmartView, options: SmartOptions): Answer {
  const { toolName } = given;
  const index = place(toolName, view, options);
  if (index === undefined) return unknownTool('describe_tool', toolName);
  const text = view.tools.texts.at(index) ?? '{}';
  const target = view.tools.targets[index];
  const tool = target === undefined ? text : editObject(text, { serverName: JSON.stringify(target.server) });
  return { content: `{"tool":${tool}}`, ...(target && { use: { described: target } }) };
}

/** Why `call_tool` is not passed on; undefined when it is. */
function refusalOf(given: Record<string, unknown>, view: SmartView, options: SmartOptions): Answer | undefined {
  const { toolName } = given;
  const own = given['arguments'] ?? {};
  const index = place(toolName, view, options);
  if (index === undefined) return { ...unknownTool('call_tool', toolName), code: 'not_found' };
  if (!isObject(own)) return { ...failure('"arguments" must be an object.'), code: 'invalid_input' };
  const text = view.tools.texts.at(index) ?? '{}';
  const problems = options.problems(text, own);
  if (problems.length === 0) return undefined;
  const inputSchema = memberText(text, 'inputSchema') ?? '{}';
  const error = `The arguments do not fit the input schema of ${String(toolName)}. Correct them and call again.`;
  return { content: editObject(JSON.stringify({ error, problems }), { inputSchema }), error, code: 'invalid_input' };
}

/** Where a tool stands that can be called now. */
function place(name: unknown, view: SmartView, options: SmartOptions): number | undefined {
  const index = typeof name === 'string' ? view.indexOf(name) : undefined;
  const target = index === undefined ? undefined : view.tools.targets[index];
  return target && options.available(target.server) ? index : undefined;
}

/** The tool's own call: its name and its arguments as the client wrote them, the rest of the request as it is. */
function callRequest(request: ClientRequest, given: Record<string, unknown>): ClientRequest {
  const wrapper = memberText(request.params ?? '{}', 'arguments') ?? '{}';
  const name = given['toolName'];
  const sent = given['arguments'] === null ? undefined : memberText(wrapper, 'arguments');
  const edits = { name: JSON.stringify(name), arguments: sent ?? '{}' };
  const params = {
    ...(isObject(request.message.params) && request.message.params),
    name,
    arguments: given['arguments'] ?? {},
  };
  const message = { ...request.message, params };
  return clientRequest(
    { message, id: request.id, params: editObject(request.params ?? '{}', edits) },
    request,
    request,
  );
}

function unknownTool(asked: string, name: unknown): Answer {
  return failure(
    typeof name === 'string'
      ? `Tool "${name.slice(0, 300)}" not found or not available. Names come from search_tools.`
      : `${asked} needs "toolName", the name of a tool as search_tools gives it.`,
  );
}

function failure(error: string): Answer {
  return { content: JSON.stringify({ error }), error };
}

/** The result as JSON text. */
function resultOf(request: ClientRequest, { content, error }: Answer): string {
  const text = `{"type":"text","text":${JSON.stringify(content)}}`;
  const end = request.stateless ? ',"resultType":"complete"' : '';
  return `{"content":[${text}],"structuredContent":${content},"isError":${error !== undefined}${end}}`;
}
