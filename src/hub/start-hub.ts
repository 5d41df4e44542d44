import { withCode } from '../mcp/code/code-call.ts';
import type { RequestListener } from 'node:http';
import { availableParallelism, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Closers, newClosers } from '../core/closers.ts';
import { deferred, loadedOnce } from '../core/deferred.ts';
import { errorText } from '../core/errors.ts';
import { exposure } from '../core/access/exposure.ts';
import type { Hub } from '../core/hub.ts';
import type { Logger } from '../core/logger.ts';
import { createLoop, type Loop } from '../core/loop.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { createOutside, type Outside } from '../core/access/outside.ts';
import { mayHear } from '../core/access/decision.ts';
import { needsCredential } from '../core/access/identity.ts';
import { createViews } from '../core/access/view.ts';
import type { Env } from '../env/env.ts';
import { leftOfMcphub } from '../env/left-of-mcphub.ts';
import { readableText } from '../env/withdraw.ts';
import { createChanges } from '../http/dashboard/changes.ts';
import type { Arrived } from '../http/frame/client-address.ts';
import { otherPaths } from '../http/frame/open-routes.ts';
import { createPublicUrl, type PublicUrl } from '../http/frame/public-url.ts';
import { closeServer } from '../http/frame/server.ts';
import { takenPaths } from '../http/frame/taken-paths.ts';
import { metadataUrl } from '../http/open/metadata-url.ts';
import { createProbe, readinessOf } from '../http/open/probes.ts';
import { createMcpEntry } from '../mcp/mcp-entry.ts';
import { createGuard } from '../http/frame/guard.ts';
import { createHttpEntry } from '../http/frame/http-entry.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { SettingsStore } from '../settings/store.ts';
import { createAuditSinks } from '../logs/audit/sinks.ts';
import { createLog, type LogBook } from '../logs/log.ts';
import { usualFormat } from '../logs/output.ts';
import { catalogueSaver } from '../upstream/connections/saved-catalogue.ts';
import type { Pool } from '../upstream/connections/pool.ts';
import type { OpenReplicas, Replicas } from '../replicas/replicas.ts';
import { version } from '../version.ts';
import { auditOutputs } from './audit-outputs.ts';
import { bodyBudget } from './body-budget.ts';
import type { AppParts } from './build-app.ts';
import { hubLimits } from './limits.ts';
import type { Accounts } from './open-accounts.ts';
import { openBackup } from './open-backup.ts';
import { openClients } from './open-clients.ts';
import { openServerPins } from './open-pins.ts';
import { openGovernance } from './open-governance.ts';
import { secretsOf } from './open-embeddings.ts';
import { createHttpServer, type HttpServer } from './open-server.ts';
import { openTelemetry } from './open-telemetry.ts';
import { openSmart } from './open-smart.ts';
import { openUpstream } from './open-upstream.ts';
import { openCallRecords } from './open-call-records.ts';
import { openAccess } from './open-access.ts';
import { openSeenSettings } from './seen-settings.ts';
import { internalUrls, openReplicas } from './open-replicas.ts';
import { openStorage } from './open-storage.ts';
import type { Worker } from './worker.ts';
import { createSecretFiles } from './secret-files.ts';
import { createServerReadiness, type ServerReadiness } from './server-readiness.ts';

/**
 * Builds every part of the hub in order and starts it; the only place that knows them all. Returns as soon as it
 * listens: servers connect afterwards. Throws HubError `misconfigured` or `conflict` when it cannot start; nothing is
 * left open then. A hub whose settings are in a database that is away listens, answers 503, and waits for it, until
 * `stop` is aborted. `worker`: set for one of several processes of one hub.
 */
export async function startHub(env: Env, stop?: AbortSignal, worker?: Worker): Promise<Hub> {
  const closers = newClosers();
  try {
    return await build(env, closers, { stop, worker });
  } catch (error) {
    await closers.close();
    throw error;
  }
}

interface Asked {
  readonly stop: AbortSignal | undefined;
  readonly worker: Worker | undefined;
}

async function build(env: Env, closers: Closers, { stop, worker }: Asked): Promise<Hub> {
  const book = openLog(env, closers, worker);
  const httpServer = createHttpServer(env, book.for('hub'), worker);
  const storage = await openStorage({ env, book, httpServer, stop, worker }, closers);
  const { log, dataDir, database, settings, records } = storage;
  const group = await openReplicas({ ...storage, env, httpServer }, closers);

  let listening = '';
  let hideSecrets = (): void => {};
  const files = createSecretFiles(log('hub'), () => hideSecrets());
  const address = () => env.installBaseUrl ?? settings.current.system.baseUrl ?? listening;
  const upstream = await openUpstream(env, { ...storage, files, worker }, closers, {
    changed: () => loop.flag(),
    signInsChanged() {
      // Tokens are secrets too.
      hideSecrets();
      loop.flag();
    },
    clients: () => clients,
    withoutCredentials: (...header) => access.withoutCredentials(...header),
    address,
    tracing: () => figures.tracing,
  });
  const { pool, dedicated, signIns, grants, savedDigest } = upstream;
  hideSecrets = () => book.setSecrets([...secretsOf(settings.current, env, files), ...grants.secrets()]);
  hideSecrets();
  const seen = await openSeenSettings({ env, ...storage, worker, changed: () => loop.flag() }, closers);
  const snapshots = { settings: () => seen(settings.current), catalogue: () => pool.catalogue };
  const pins = await openServerPins({ env, ...storage, ...snapshots, changed: () => loop.flag() }, closers);
  const shown = () => pins.applied(pool.catalogue);
  const views = createViews(() => ({ settings: seen(settings.current), catalogue: shown() }));
  const settingsBaseUrl = () => settings.current.system.baseUrl;
  const outside = createOutside(env, settingsBaseUrl);
  const guard = createGuard({ ...env, settingsBaseUrl, machineName: hostname(), exposed: outside.exposed });
  const whom = whomOf(env, outside, () => access);
  const hearing = (...asked: AskedToHear) => mayHear({ settings: snapshots.settings(), catalogue: shown() }, ...asked);
  const seenParts = { views, catalogue: shown, mayHear: hearing, ownItems: snapshots.settings };
  const clients = openClients({ ...whom, ...seenParts, ...group, dataDir, settings, pool, dedicated, log }, closers);
  const saveCatalogue = catalogueSaver(join(dataDir.path, 'catalogue.json'), savedDigest, pool, log('hub'));
  closers.add(() => saveCatalogue.close());
  const changes = createChanges();
  // Before anything is waited for: the loop may run then.
  const smart = openSmart({ env, settings, database, pool, files, log: log('search') }, closers);
  const loop = reconciling(log('hub'), closers, () => {
    signIns.reconcile();
    pool.reconcile(settings.current);
    pins.learn();
    upstream.warnOfOverrides();
    dedicated.reconcile();
    smart.reconcile();
    clients.reconcile();
    saveCatalogue.soon();
    changes.announce();
    servers.look();
  });
  const servers = createServerReadiness(() => pool.states(), closers);
  settings.subscribe((now) => {
    // Not in the loop: a new server with a free name may belong to another user.
    pool.retire(now);
    dedicated.reconcile();
    hideSecrets();
    loop.flag();
  });
  warnOfEnvironment(env, settings.current, log('hub'));
  storage.audit.handOn(createAuditSinks(() => auditOutputs(settings.current, env, files), log('hub')));
  const access = await openAccess(env, storage, files, closers);
  const bodies = bodyBudget(() => settings.current);
  const figures = await openTelemetry(env, { ...storage, ...httpServer, clients, pool, bodies, worker }, closers);
  const { arrivals, forRequests } = openCallRecords({ ...storage, ...figures, ...book, changes }, closers);
  const governed = { ...storage, ...snapshots, store: settings, env, files, address, hide: book.hide, changes, pins };
  const governance = openGovernance({ ...governed, ...access.authorization }, closers);
  const forCalls = { ...clients.forRequests, ...forRequests, governance, tracing: figures.tracing };
  const dispatch = withCode({ ...forCalls, smart: smart.options, version, log: log('gateway') });
  const publicUrl = createPublicUrl({ ...env, settingsBaseUrl });
  const asked = { ...upstream.asked, views, dispatch, changes, arrivals, embeddings: smart.embeddings, ...figures };
  const parts = { ...storage, ...group, ...asked, governance, ...access, publicUrl, env, bodies, outside, guard };
  const others = otherAnswers(env, database, group.replicas);
  const entryParts = { ...access, ...dispatch, ...clients, views, outside, bodies, publicUrl };
  const sections = { mcp: mcpEntryOf(env, entryParts, () => settings.current), other: others.section };
  const httpEntry = createHttpEntry({ ...env, ...sections, ...publicUrl, ...group, guard, log: log('gateway') });

  // What the last run knew is served from the first request on.
  pool.prepare(settings.current);
  httpServer.open(httpEntry, bodies);
  listening = await httpServer.listen();
  drainAtEnd(closers, httpServer, [clients.streams, records.logStream, changes], { ...clients, ...group });
  dataDir.announce(`${listening}${env.basePath}`);
  pool.reconcile(settings.current);
  await setImmediate(); // The first of them are being started.
  const api = { ...parts, backup: openBackup(env, storage), log: log('api') };
  // Not before the hub listens: a start that fails would leave an admin whose password was never shown.
  const { passwords, ...first } = await (await import('./open-accounts.ts')).openAccounts(api);
  others.open(() => loadManagement(api, passwords), closers);
  group.replicas?.join(internalUrls(env, httpServer.ownUrl ?? listening), servers.settled(hubLimits.startCalmMs));
  startInBackground(servers, database, smart, others, log('hub'));
  return hubOf(env, { url: `${listening}${env.basePath}`, outside, settings, pool, servers, closers, ...first });
}

/**
 * What answers all but MCP and the probes. Loading it takes a tenth of a second, so it goes by steps, between which
 * clients of MCP endpoints are answered.
 */
async function loadManagement(parts: Omit<AppParts, 'passwords'>, passwords: Accounts['passwords']) {
  const loaded = { ...parts, passwords: await passwords() };
  await setImmediate();
  await import('./web-classes.ts');
  await setImmediate();
  const { openManagement } = await import('./open-management.ts');
  await setImmediate();
  return openManagement(loaded);
}

type AskedToHear = [Parameters<typeof mayHear>[1], Parameters<typeof mayHear>[2]];

type EntryParts = Omit<
  Parameters<typeof createMcpEntry>[0],
  'basePath' | 'settings' | 'taken' | 'pageSize' | 'address' | 'metadataUrl'
> & { readonly publicUrl: PublicUrl; readonly addressOf: (req: Arrived) => string };

function mcpEntryOf({ basePath }: Env, parts: EntryParts, settings: () => Settings) {
  return createMcpEntry({
    ...parts,
    basePath,
    settings,
    taken: takenPaths,
    pageSize: () => settings().system.listPageSize,
    address: parts.addressOf,
    metadataUrl: metadataUrl({ ...parts, basePath }),
  });
}

/** What is answered beside MCP: probes from the start, everything else once it is open and loaded. */
function otherAnswers(
  { basePath, database: { kind } }: Env,
  database: Pick<DatabaseHandle, 'state'>,
  replicas: Pick<Replicas, 'hello'> | undefined,
) {
  const management = deferred<() => Promise<RequestListener>>();
  const answer = loadedOnce(async () => (await management.promise)());
  let life = { isOpen: false, isStopping: false };
  const ready = () => readinessOf({ ...life, database: database.state(), isShared: kind === 'postgres' });
  return {
    section: otherPaths(basePath, answer, createProbe(ready, replicas?.hello)),
    /**
     * What answers all but MCP and the probes; it is loaded when it is asked for first, here or by a request, and again
     * after that failed.
     */
    answer,
    open(load: () => Promise<RequestListener>, closers: Closers): void {
      management.resolve(load);
      life = { ...life, isOpen: true };
      closers.add(() => void (life = { ...life, isStopping: true }));
    },
  };
}

interface Startable {
  start(after: Promise<void>): void;
}

/**
 * No caller waits for these, and servers that start need the cores more. The database has a thread of its own, which
 * takes a core that they leave idle.
 */
function startInBackground(
  servers: ServerReadiness,
  database: Startable,
  smart: Startable,
  others: { answer(): Promise<unknown> },
  log: Logger,
): void {
  database.start(servers.settled(hubLimits.startCalmMs, availableParallelism() - 1));
  const settled = servers.settled(hubLimits.startCalmMs);
  smart.start(settled);
  void settled
    .then(() => others.answer())
    .catch((error: unknown) => log.error('the API and the dashboard cannot be loaded', { error: errorText(error) }));
}

/**
 * What a stopping hub does first: what comes is answered for the last time over its connection, the other hubs send
 * nothing more here, what runs is answered, streams end.
 */
function drainAtEnd(
  closers: Closers,
  { server, fastPath, closeOthers }: Pick<HttpServer, 'server' | 'fastPath' | 'closeOthers'>,
  streams: readonly { close(): void }[],
  { replicas, waiting }: { readonly replicas: OpenReplicas | undefined; readonly waiting: () => number },
): void {
  const passed = replicas ? [replicas.streams] : [];
  let leftAt: number | undefined;
  closers.add(async () => {
    // What has arrived while this process got no CPU is read first: new connections, then requests on them.
    await setImmediate();
    await setImmediate();
    // They had a part of their time already, while this hub could still be reached.
    const waitedMs = leftAt === undefined ? 0 : performance.now() - leftAt;
    const drainMs = Math.max(hubLimits.drainMs / 2, hubLimits.drainMs - waitedMs);
    await closeServer(server, fastPath, drainMs, [...streams, ...passed], closeOthers());
  });
  if (replicas)
    closers.add(() => {
      leftAt = performance.now();
      return replicas.leave(waiting);
    });
  closers.add(() => fastPath.lastAnswers());
}

function openLog(env: Env, closers: Closers, worker: Worker | undefined): LogBook {
  const format = env.logFormat ?? usualFormat();
  const book = createLog({ level: env.logLevel, format, ...(worker && { always: { worker: worker.number } }) });
  closers.add(() => book.close());
  return book;
}

/** Names what of MCPHub does nothing here, and secrets that programs could read in other processes. */
function warnOfEnvironment(env: Env, { servers }: Settings, log: Logger): void {
  for (const text of leftOfMcphub(env)) log.warn(text);
  if (![...servers.values()].some(({ transport }) => transport.type === 'stdio')) return;
  for (const secrets of env.readable) log.warn(readableText(secrets));
}

/** The one loop that brings the actual state to the wanted state. */
function reconciling(log: Logger, closers: Closers, run: () => void): Loop {
  const loop = createLoop({
    debounceMs: hubLimits.reconcileDebounceMs,
    eager: true,
    run,
    failed: (error) => log.error('reconcile failed', { error: errorText(error) }),
  });
  closers.add(() => loop.close());
  return loop;
}

interface Built {
  readonly url: string;
  readonly outside: Outside;
  readonly settings: SettingsStore;
  readonly pool: Pool;
  readonly servers: ServerReadiness;
  readonly adminPassword: string | undefined;
  readonly adminPasswordFile: string | undefined;
  readonly closers: Closers;
}

function hubOf(env: Env, built: Built): Hub {
  const { url, outside, settings, pool, servers, adminPassword, adminPasswordFile, closers } = built;
  const exposed = outside.exposed();
  return {
    url,
    mcpUrl: `${url}/mcp`,
    settingsPath: resolve(env.settingsPath),
    firstStart: settings.firstStart,
    keyRequired: needsCredential(settings.current, exposed),
    ...(adminPassword !== undefined && { adminPassword }),
    ...(adminPasswordFile !== undefined && { adminPasswordFile }),
    ...(exposed && { exposure: exposure(settings.current) }),
    servers: () => pool.states(),
    settled: (timeoutMs) => servers.settled(timeoutMs),
    close: () => closers.close(),
  };
}

/** What is asked of `access` once it is there: it needs what is made before it. */
function whomOf(env: Env, outside: Outside, access: () => Awaited<ReturnType<typeof openAccess>>) {
  return {
    env,
    outside,
    who: () => access().identity,
    address: (req: Arrived) => access().addressOf(req),
    fromProxy: (req: Arrived) => access().fromProxy(req),
  };
}
