import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import type { Hono } from 'hono';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { createIdentify, type Identify } from './auth/identify.ts';
import { createLoginLimiter } from './auth/limiter.ts';
import { createLogin, type Login } from './auth/login.ts';
import { logFailures } from './auth/login-log.ts';
import { createPasswords, type Passwords } from './auth/passwords.ts';
import { openTokens } from './auth/open-tokens.ts';
import type { Tokens } from './auth/tokens.ts';
import { type Closers, newClosers } from './core/closers.ts';
import { errorText } from './core/errors.ts';
import { exposure } from './core/exposure.ts';
import type { Hub } from './core/hub.ts';
import { limits } from './core/limits.ts';
import type { Logger, LoggerFor } from './core/logger.ts';
import { createLoop, type Loop } from './core/loop.ts';
import { createViews, type Views } from './core/view.ts';
import { createDatabase, type DatabaseHandle } from './database/supervise.ts';
import type { Env } from './env.ts';
import { createApp } from './http/app.ts';
import { callResources } from './http/calls/resources.ts';
import { type Changes, createChanges } from './http/dashboard/changes.ts';
import { dashboardRoutes } from './http/dashboard/files.ts';
import { dashboardResources } from './http/dashboard/resources.ts';
import { docsRoutes } from './http/docs/routes.ts';
import { createApi, isOpen, refusalText } from './http/frame/api.ts';
import type { ApiEnv } from './http/frame/caller.ts';
import { type Arrived, clientAddress } from './http/frame/client-address.ts';
import { createPublicUrl, hubUrl, type PublicUrl } from './http/frame/public-url.ts';
import { closeServer, listen } from './http/frame/server.ts';
import { watchHealth } from './http/open/health.ts';
import { metadataUrl, protectedResourceRoutes } from './http/open/protected-resource.ts';
import { publicConfigRoutes } from './http/open/public-config.ts';
import { peopleResources } from './http/people/resources.ts';
import { recordResources } from './http/records/resources.ts';
import { settingsResources } from './http/settings/resources.ts';
import { type SignInCookies, signInCookies } from './http/sign-in/cookie.ts';
import { oauthRoutes } from './http/sign-in/oauth-routes.ts';
import { serverOAuthRoutes } from './http/sign-in/server-oauth.ts';
import { createLog } from './logs/log.ts';
import { openRecords, type Records } from './logs/records.ts';
import type { DispatchOptions } from './mcp/dispatch.ts';
import { createDoor } from './mcp/door.ts';
import { isLoopbackName } from './mcp/guard.ts';
import type { SettingsBackend } from './settings/backend.ts';
import { type DataDir, openDataDir } from './settings/data-dir.ts';
import { settingsFile } from './settings/file.ts';
import { firstAdmin } from './settings/first-admin.ts';
import { makeSampleFolder, sampleSettings } from './settings/sample.ts';
import { openSettings, type SettingsStore } from './settings/store.ts';
import { settingsTable } from './settings/table.ts';
import type { Embeddings } from './smart/embeddings.ts';
import { catalogueSaver } from './upstream/catalogue-saver.ts';
import type { SignIns } from './upstream/oauth/sign-ins.ts';
import type { Pool } from './upstream/pool.ts';
import { environmentWins } from './environment-wins.ts';
import { openClients } from './open-clients.ts';
import { openDispatch } from './open-dispatch.ts';
import { secretsOf } from './open-embeddings.ts';
import { openSmart } from './open-smart.ts';
import { openUpstream } from './open-upstream.ts';
import { version } from './version.ts';
import { createFront } from './wire/front.ts';

/**
 * Builds every part of the hub in order and starts it; the only place that knows them all. Returns as soon as it listens: servers connect afterwards. Throws
 * HubError `misconfigured` or `conflict` when it cannot start; nothing is left open then. When `stop` is aborted meanwhile it waits for no database any more.
 */
export async function startHub(env: Env, stop?: AbortSignal): Promise<Hub> {
  const closers = newClosers();
  try {
    return await build(env, closers, stop);
  } catch (error) {
    await closers.close();
    throw error;
  }
}

async function build(env: Env, closers: Closers, stop: AbortSignal | undefined): Promise<Hub> {
  const storage = await openStorage(env, closers, stop);
  const { book, log, dataDir, database, settings, records } = storage;
  const passwords = createPasswords();

  let listening = '';
  const { pool, leases, signIns, grants, savedText } = await openUpstream(env, storage, closers, {
    // Tokens are secrets too.
    changed() {
      hideSecrets();
      loop.flag();
    },
    clients: () => clients,
    address: () => env.installBaseUrl ?? settings.current.system.baseUrl ?? listening,
  });
  const hideSecrets = (): void => book.setSecrets([...secretsOf(settings.current, env), ...grants.secrets()]);
  hideSecrets();
  const seen = environmentWins(env);
  const views = createViews(() => ({ settings: seen(settings.current), catalogue: pool.catalogue }));
  const clients = openClients({ env, views, dataDir, settings, pool, leases, log, who: () => identity }, closers);
  const saveCatalogue = catalogueSaver(join(dataDir.path, 'catalogue.json'), savedText, pool, log('hub'));
  closers.add(() => saveCatalogue.close());
  const changes = createChanges((headers) => identity.identify(headers));
  const loop = reconciling(log('hub'), () => {
    signIns.reconcile();
    pool.reconcile(settings.current);
    leases.reconcile();
    smart.sync(settings.current);
    clients.reconcile();
    saveCatalogue.soon();
    changes.announce();
  });
  closers.add(() => loop.close());
  settings.subscribe(() => {
    hideSecrets();
    loop.flag();
  });

  const loopback = isLoopbackName(env.host);
  const { tokens, identity } = await openAccess(env, storage, closers);
  const addressOf = clientAddress(env.trustProxy, log('hub'));
  const smart = openSmart({ env, settings, database, pool, log: log('search') }, closers);
  const dispatch = openDispatch({ settings, leases, records, clients, smart: smart.options, log: log('gateway') });
  const publicUrl = createPublicUrl(env);
  const parts = {
    database,
    publicUrl,
    env,
    settings,
    records,
    passwords,
    tokens,
    identity,
    addressOf,
    pool,
    signIns,
    dataDir,
    views,
    dispatch,
    changes,
    embeddings: smart.embeddings,
  };
  const app = buildApp({ ...parts, log: log('api') });
  const door = createDoor({
    ...dispatch,
    basePath: env.basePath,
    guard: { loopback, allowedHosts: env.allowedHosts, allowedOrigins: env.allowedOrigins },
    settings: () => settings.current,
    other: getRequestListener(app.fetch, { overrideGlobalObjects: false, autoCleanupIncoming: false }),
    foreign: (request, why) => refusalText(`${env.basePath}/api`, request, why),
    views,
    ...clients,
    pageSize: () => settings.current.system.listPageSize,
    address: addressOf,
    metadataUrl: metadataUrl({ publicUrl, basePath: env.basePath }),
  });

  // What the last run knew is served from the first request on.
  pool.prepare(settings.current);
  const server = createServer({ keepAliveTimeout: limits.idleConnectionMs, requestTimeout: limits.requestReadMs });
  server.on('request', door.enter);
  const front = createFront(server, { takes: door.isMcp, handle: door.enterMcp });
  const address = await listen(server, env.host, env.port);
  closers.add(() => closeServer(server, front, limits.drainMs, [clients.streams, records.logStream, changes]));
  // Not before: a start that fails would leave an admin whose password nobody has seen.
  const adminPassword = await firstAdmin(settings, passwords, env.adminPassword);
  listening = address;
  dataDir.announce(`${address}${env.basePath}`);
  pool.reconcile(settings.current);
  database.start();
  void smart.load();
  return hubOf(env, { url: `${address}${env.basePath}`, settings, pool, adminPassword, closers });
}

/** The one loop that makes what is what should be. */
function reconciling(log: Logger, run: () => void): Loop {
  return createLoop({
    debounceMs: limits.reconcileDebounceMs,
    run,
    failed: (error) => log.error('reconcile failed', { error: errorText(error) }),
  });
}

/** What outlives the process: the log, the data folder, the database, the settings, what was recorded. */
async function openStorage(env: Env, closers: Closers, stop: AbortSignal | undefined) {
  const book = createLog({ level: env.logLevel, format: env.logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json') });
  closers.add(() => book.close());
  const log: LoggerFor = (service) => book.for(service);
  const dataDir = openDataDir(env.dataDir);
  closers.add(() => dataDir.close());
  const database = createDatabase({ url: databaseUrl(env), dataDir: dataDir.path, log: log('hub') });
  closers.add(() => database.close());
  // Only as long as nothing has to be written any more: later it is the last to be closed.
  const giveUp = (): void => void database.close();
  stop?.addEventListener('abort', giveUp);
  const settings = await openSettings({
    backend: settingsBackend(env, dataDir, database, log('hub')),
    log: log('hub'),
    initial: () => sampleSettings(dataDir.path, process.cwd()),
  }).finally(() => stop?.removeEventListener('abort', giveUp));
  closers.add(() => settings.close());
  makeSampleFolder(settings.current, dataDir.path, process.cwd());
  const records = openRecords(book, database, log('hub'));
  closers.add(() => records.close());
  return { book, log, dataDir, database, settings, records };
}

type Storage = Awaited<ReturnType<typeof openStorage>>;

/** Who may come in. */
async function openAccess(env: Env, { settings, dataDir, database, log }: Storage, closers: Closers) {
  const tokens = await openTokens({
    secret: env.jwtSecret ?? dataDir.secret('jwt', 32).toString('hex'),
    path: join(dataDir.path, 'revocations.json'),
    shared: env.database.kind === 'postgres' ? database : undefined,
    log: log('hub'),
  });
  closers.add(() => tokens.close());
  return { tokens, identity: createIdentify({ settings: () => settings.current, tokens }) };
}

interface ApiParts {
  readonly env: Env;
  readonly settings: SettingsStore;
  readonly passwords: Passwords;
  readonly tokens: Tokens;
  readonly identity: Identify;
  readonly addressOf: (req: Arrived) => string;
  readonly database: DatabaseHandle;
  readonly records: Records;
  readonly publicUrl: PublicUrl;
  readonly pool: Pool;
  readonly signIns: SignIns;
  readonly dataDir: DataDir;
  readonly views: Views;
  readonly dispatch: DispatchOptions;
  readonly changes: Changes;
  readonly embeddings: Embeddings;
  readonly log: Logger;
}

/** Everything but MCP. */
function buildApp(parts: ApiParts) {
  const { env, settings, passwords, database, records, pool, publicUrl, log } = parts;
  const limiter = createLoginLimiter();
  const login = logFailures(createLogin({ settings: () => settings.current, passwords, limiter }), log);
  const entrances = { login, cookies: signInCookies(publicUrl) };
  const app = createApp({
    basePath: env.basePath,
    health: watchHealth({ servers: () => pool.states(), database, embeddings: parts.embeddings, records, version }),
    dashboard: env.disableWeb ? undefined : dashboardRoutes({ ...env, version }),
    api: buildApi({ ...parts, ...entrances }),
    log,
  });
  app.route('/', oauthRoutes({ ...parts, ...entrances }));
  app.route('/', publicConfigRoutes({ basePath: env.basePath, version }));
  app.route('/', protectedResourceRoutes({ publicUrl, basePath: env.basePath }));
  return app;
}

/** The management API, a line per resource. */
function buildApi(parts: ApiParts & { readonly login: Login; readonly cookies: SignInCookies }) {
  const { env, settings, records, passwords, tokens, identity, addressOf, pool, dataDir, log } = parts;
  const { signIns, login, cookies } = parts;
  const current = () => settings.current;
  const mount = `${env.basePath}/api`;
  const states = () => pool.states();
  const { allowedOrigins } = env;
  const api: Hono<ApiEnv> = createApi({
    mount,
    settings: current,
    identify: identity.identify,
    address: (c) => addressOf((c.env as HttpBindings).incoming),
    readonly: env.readonly,
    resources: [
      ...peopleResources({ settings, login, passwords, tokens, claims: identity.claims, log }),
      ...recordResources({ records, settings, identify: identity.identify, log }),
      ...settingsResources({ settings, pool, states, signIns, dataDir: dataDir.path, log }),
      serverOAuthRoutes({ settings, signIns, cookies, restart: (name) => pool.restart(name), log }),
      ...dashboardResources({ ...parts, ...env, hubUrl: hubUrl(parts.publicUrl) }),
      docsRoutes({ mounted: () => api.routes, isOpen, mount, version, web: !env.disableWeb }),
      ...callResources({ ...parts, states, allowedOrigins, hubUrl: hubUrl(parts.publicUrl) }),
    ],
    log,
  });
  return api;
}

/** `DB_URL` as the database wants it: undefined is the embedded one. */
function databaseUrl({ database }: Env): string | undefined {
  return database.kind === 'postgres' ? database.url : database.kind === 'off' ? 'off' : undefined;
}

/** With `DB_URL` the settings are a row that replicas share, filled from the file once; otherwise they are the file. */
function settingsBackend(env: Env, dataDir: DataDir, database: DatabaseHandle, log: Logger): SettingsBackend {
  const file = settingsFile(env.settingsPath);
  if (env.database.kind !== 'postgres') return file;
  database.start();
  return settingsTable({ database, importFrom: file, copyPath: join(dataDir.path, 'settings-copy.json'), log });
}

interface Built {
  readonly url: string;
  readonly settings: SettingsStore;
  readonly pool: Pool;
  readonly adminPassword: string | undefined;
  readonly closers: Closers;
}

function hubOf(env: Env, { url, settings, pool, adminPassword, closers }: Built): Hub {
  return {
    url,
    mcpUrl: `${url}/mcp`,
    settingsPath: resolve(env.settingsPath),
    firstStart: settings.firstStart,
    keyRequired: settings.current.system.routing.enableBearerAuth ?? !isLoopbackName(env.host),
    ...(adminPassword !== undefined && { adminPassword }),
    ...(!isLoopbackName(env.host) && { exposure: exposure(settings.current) }),
    servers: () => pool.states(),
    async settled(timeoutMs) {
      const end = Date.now() + timeoutMs;
      const busy = (): boolean => pool.states().some((state) => state.status === 'connecting');
      while (busy() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    close: () => closers.close(),
  };
}
