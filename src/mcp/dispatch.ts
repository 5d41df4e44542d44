import { errorText, HubError } from '../core/errors.ts';
import { failureOf, type Tracing } from '../core/tracing.ts';
import type { ServerAbout } from '../core/catalogue.ts';
import { errorResponseText, resultText, rpcErrors } from '../core/protocol/rpc.ts';
import type { View } from '../core/access/view.ts';
import { capabilitiesText } from './capabilities.ts';
import type { Hints } from './hints.ts';
import { answerList, listOf } from './lists.ts';
import { levelAsked, type LogLevels } from './log-levels.ts';
import { addressedMethods, relay, relayBy } from './relay/relay.ts';
import type { RelayOptions } from './relay/options.ts';
import { refusalText } from './failure.ts';
import { refusedCall } from './records.ts';
import type { ClientRequest } from './request.ts';
import { sessionRevisions } from '../core/protocol/revisions.ts';
import { metaKeys, statelessRevision } from '../core/protocol/stateless.ts';
import { answerSkills } from './skills.ts';
import { type SmartOptions, smartCall } from './smart.ts';
import { subscribe, unsubscribe } from './subscribe.ts';
import type { Subscriptions } from './subscriptions.ts';
import { isTaskRequest, type Tasks, undeclaredTasks } from './tasks.ts';
import { traced } from './traced.ts';
import { listingFirst, type ListingOptions } from './unlisted.ts';

export interface DispatchOptions extends RelayOptions, ListingOptions {
  readonly connections: RelayOptions['connections'];
  readonly version: string;
  /** Undefined where the hub has no search: smart endpoints then have no tools that can be called. */
  readonly smart?: SmartOptions;
  /** Answers `run_code` (`code/code-call.ts`). */
  readonly runCode?: (request: ClientRequest, given: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly subscriptions: Subscriptions;
  readonly logLevels: LogLevels;
  readonly tasks: Tasks;
  /** What is known of a server of the catalogue. */
  readonly about: (server: string) => ServerAbout | undefined;
  /** What caches may do with the lists of a view (2026-07-28, Caching). */
  readonly hints: Hints;
  /** Undefined where nothing is exported. */
  readonly tracing?: Tracing | undefined;
}

/** Answers one request, now or later, through its reply. Never throws. */
export function dispatch(request: ClientRequest, options: DispatchOptions): void {
  if (options.tracing) traced(request, options.tracing);
  attempt(request, options, handle);
}

function attempt(request: ClientRequest, options: DispatchOptions, how: typeof handle): void {
  try {
    how(request, options);
  } catch (error) {
    refuse(request, error, options);
  }
}

function refuse(request: ClientRequest, error: unknown, { log, records }: DispatchOptions): void {
  const { method, reply } = request;
  request.trace?.failed(failureOf(error));
  const answer = (): void => {
    if (reply.refused) reply.refused(error);
    else reply.answer(refusalText(request, error), statusOf(request, error));
  };
  if (!(error instanceof HubError)) log.error('request failed', { method, error: errorText(error) });
  else if (method === 'tools/call') {
    records.refused(refusedCall(request, error.message, error.code));
    return records.afterKeeping(answer);
  } else records.refusedRead(request, error);
  answer();
}

function handle(request: ClientRequest, options: DispatchOptions): void {
  const list = listOf.get(request.method);
  if (list) return answerList(request, list.kind, list.member, options.hints);
  const listing = listingFirst(request, options, (view) => attempt({ ...request, view }, options, handleListed));
  if (listing) return void listing.catch((error: unknown) => refuse(request, error, options));
  handleListed(request, options);
}

/** For a request that waits for no server's list (any more). */
function handleListed(request: ClientRequest, options: DispatchOptions): void {
  if (request.view.smart && options.smart && request.method === 'tools/call') {
    const call = smartCall(request, request.view.smart, options.smart, options);
    if (call instanceof Promise) return void call.catch((error: unknown) => refuse(request, error, options));
    return call && relay(call, options);
  }
  if (addressedMethods.has(request.method)) return relay(request, options);
  if (answerSkills(request, options)) return;
  const revisionOf = (server: string): string | undefined => options.about(server)?.protocolVersion;
  if (isTaskRequest(request, options.tasks, revisionOf)) return relayTask(request, options);
  if (request.method === 'server/discover') {
    return request.reply.answer(resultText(request.id, discoverResult(request, options)));
  }
  const own = request.stateless ? undefined : sessionMethods.get(request.method);
  if (own) {
    void Promise.resolve(own(request, options)).then(
      () => request.reply.answer(resultText(request.id, '{}')),
      (error: unknown) => refuse(request, error, options),
    );
    return;
  }
  const text = errorResponseText(
    request.id,
    rpcErrors.methodNotFound,
    `Method not found: ${request.method.slice(0, 100)}`,
  );
  request.trace?.failed({ type: String(rpcErrors.methodNotFound), code: rpcErrors.methodNotFound });
  // 2026-07-28, Streamable HTTP: an unknown method is 404 there, and 200 with an error before.
  request.reply.answer(text, request.stateless ? 404 : 200);
}

function relayTask(request: ClientRequest, options: DispatchOptions): void {
  const refusal = undeclaredTasks(request);
  if (refusal === undefined) return relayBy(options.tasks.addressed, request, options);
  request.trace?.failed({ type: String(rpcErrors.missingClientCapability), code: rpcErrors.missingClientCapability });
  request.reply.answer(refusal, 400);
}

/** What the hub does for sessions itself; the answer is an empty result. */
const sessionMethods: ReadonlyMap<string, (request: ClientRequest, options: DispatchOptions) => Promise<void>> =
  new Map([
    ['ping', async () => undefined],
    ['resources/subscribe', (request, { subscriptions }) => subscribe(request, subscriptions)],
    ['resources/unsubscribe', async (request) => unsubscribe(request)],
    ['logging/setLevel', setLevel],
  ]);

async function setLevel(request: ClientRequest, { logLevels }: DispatchOptions): Promise<void> {
  const level = levelAsked(request);
  const { session, principal, scope } = request;
  if (!session) return;
  session.setLogLevel(level);
  await logLevels.set(session.facts.sid, { principal, scope, level });
}

function statusOf(request: ClientRequest, error: unknown): number {
  return request.stateless && error instanceof HubError && error.code === 'invalid_input' ? 400 : 200;
}

/** The result of `initialize`, as JSON text. An endpoint of one server has that server's name and instructions. */
export function initializeResult(
  view: View,
  revision: string,
  { version, about }: Pick<DispatchOptions, 'version' | 'about'>,
): string {
  const instructions = view.single?.instructions;
  const tail = instructions === undefined ? '' : `,"instructions":${JSON.stringify(instructions)}`;
  const capabilities = capabilitiesText(view, about, 'session');
  return `{"protocolVersion":"${revision}","capabilities":${capabilities},"serverInfo":${serverInfo(view, version)}${tail}}`;
}

/** The result of `server/discover` (2026-07-28, Discovery), as JSON text. */
function discoverResult({ view, principal, scope }: ClientRequest, { version, about, hints }: DispatchOptions): string {
  const instructions = view.single?.instructions;
  const tail = instructions === undefined ? '' : `,"instructions":${JSON.stringify(instructions)}`;
  const versions = JSON.stringify([statelessRevision, ...sessionRevisions]);
  const meta = `"_meta":{${JSON.stringify(metaKeys.serverInfo)}:${serverInfo(view, version)}}`;
  const capabilities = capabilitiesText(view, about, 'stateless');
  const cache = hints.ofHub(principal, scope);
  return `{"supportedVersions":${versions},"capabilities":${capabilities}${tail},"resultType":"complete",${cache},${meta}}`;
}

function serverInfo(view: View, version: string): string {
  return view.single?.info ?? JSON.stringify({ name: 'toolhub', title: 'Tool Hub', version });
}
