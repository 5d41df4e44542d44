import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { slotsOf } from '../core/access/per-user.ts';
import { isTrusted } from '../core/access/grants.ts';
import type { Closers } from '../core/closers.ts';
import { errorText } from '../core/errors.ts';
import type { LoggerFor } from '../core/logger.ts';
import type { ServerSettings } from '../core/settings/server.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { EndedSession } from '../core/tracing.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type { Env } from '../env/env.ts';
import type { LogBook } from '../logs/log.ts';
import type { DataDir } from '../settings/data-dir.ts';
import { type ExpandedServer, expandServer } from '../settings/server/placeholders.ts';
import type { SettingsStore } from '../settings/store.ts';
import { upstreamLimits } from '../upstream/limits.ts';
import { logWhileInSettings } from '../upstream/connections/server-log.ts';
import { startCatalogue } from '../upstream/connections/saved-catalogue.ts';
import type { ChannelEvents } from '../upstream/channels/channel.ts';
import { inheritableEnv } from '../upstream/channels/stdio/child-env.ts';
import { openEraMemory } from '../upstream/connections/eras/memory.ts';
import { createInstallQueue } from '../upstream/channels/stdio/install-queue.ts';
import { createDedicatedConnections } from '../upstream/connections/dedicated-connections.ts';
import { type ChannelOpener, loadChannel, openChannel } from '../upstream/channels/open-channel.ts';
import { sandboxPlaces } from '../upstream/channels/stdio/sandbox.ts';
import { endOrphans, ownerMark } from '../upstream/channels/stdio/orphans.ts';
import { createPool } from '../upstream/connections/pool.ts';
import type { OpenedFor } from '../upstream/connections/owner.ts';
import type { WithoutCredentials } from '../upstream/connections/passed-headers.ts';
import { cleanLog, hiding, valuesOf } from '../upstream/connections/hidden-values.ts';
import type { SignIns, SignInsOptions } from '../upstream/sign-in/sign-ins.ts';
import type { UserCredentials } from '../upstream/user-credentials/user-credentials.ts';
import type { AuditSink } from '../core/audit.ts';
import { openReaper } from '../upstream/channels/stdio/reaper.ts';
import { version } from '../version.ts';
import type { Clients } from './open-clients.ts';
import { openSignIns } from './open-sign-ins.ts';
import { openUserCredentials } from './open-user-credentials.ts';
import type { SecretFiles } from './secret-files.ts';
import { createOverrideWarnings } from './warn-of-overrides.ts';
import { restartedByAll, type Worker } from './worker.ts';

interface UpstreamStorage {
  readonly book: LogBook;
  readonly log: LoggerFor;
  readonly dataDir: DataDir;
  readonly settings: SettingsStore;
  readonly database: DatabaseHandle;
  readonly audit: Pick<AuditSink, 'record'>;
  readonly files: SecretFiles;
  readonly worker: Worker | undefined;
}

interface UpstreamNeeds {
  /** Something about a server changed: set a flag and return. */
  readonly changed: () => void;
  /** The same for a token of a server, or a sign-in. */
  readonly signInsChanged: () => void;
  /** Gets the notifications and requests of servers that belong to no call. */
  readonly clients: () => Pick<Clients, 'said' | 'asked' | 'abilitiesOf' | 'ownConnection' | 'isInUse' | 'forRequests'>;
  readonly withoutCredentials: WithoutCredentials;
  /** Where browsers reach the hub, without `BASE_PATH`. */
  readonly address: () => string;
  readonly tracing: SignInsOptions['tracing'];
}

/**
 * Everything on the side of the servers: connections, sign-ins, and what they left behind on disk. Nothing connects
 * before `pool.reconcile`.
 */
export async function openUpstream(env: Env, storage: UpstreamStorage, closers: Closers, needs: UpstreamNeeds) {
  const { book, log, dataDir, worker } = storage;
  const { changed } = needs;
  const settings = () => storage.settings.current;
  const catalogueIn = (folder: string) => join(folder, 'catalogue.json');
  const ofFirst = worker && worker.number > 1 ? catalogueIn(worker.dataDir) : undefined;
  const { saved, savedDigest } = await startCatalogue(catalogueIn(dataDir.path), ofFirst, log('hub'));
  const eras = await openEraMemory(join(dataDir.path, 'eras.json'), log('hub'));
  closers.add(() => eras.close());
  const processes = openProcesses({ ...env, dataDir: worker?.dataDir ?? env.dataDir }, dataDir, log, closers);
  const { connectTimeoutMs, requestTimeoutMs } = env;
  // The environment and the files are the operator's: nothing of them is put into the settings of a server that is not
  // trusted.
  const trusted = (server: ServerSettings) => isTrustedNow(settings(), server);
  const expanded = (server: ServerSettings) =>
    trusted(server) ? expandServer(server, env.variables, storage.files.read) : expandServer(server, {});
  const addresses = (server: ServerSettings) => ({
    allowPrivateAddresses: trusted(server),
    allowedCidrs: settings().system.allowedCidrs ?? [],
  });
  const userAgent = `toolhub/${version}`;
  const { signIns, grants } = await openSignIns(env, storage, {
    publicUrl: needs.address,
    expand: (server) => expanded(server).transport,
    addresses,
    userAgent,
    tracing: needs.tracing,
    signedIn({ server, holder }) {
      pool.connection(server)?.retryNow();
      dedicated.retry(server, holder);
    },
    relist: (server) => pool.connection(server)?.reconnect(),
    changed: needs.signInsChanged,
  });
  closers.add(() => signIns.close());
  const credentials = await openUserCredentials(env, storage, closers, {
    page: () => `${needs.address()}${env.basePath}/account/credentials`,
    changed(server, listing) {
      // Calls under way keep their connection: those whose user took the credentials back are ended first.
      needs.clients().forRequests.running.endWithdrawn();
      setImmediate(() => dedicated.reconcile());
      const connection = pool.connection(server);
      if (listing) connection?.reconnect();
      else if (connection?.status.kind === 'disconnected') connection.retryNow();
    },
  });
  const serverLog = hidingCredentials(credentials, (server) =>
    logWhileInSettings(server, settings, log(`server:${server.name}`)),
  );
  const opener = { addresses, ...processes, connectTimeoutMs, requestTimeoutMs, userAgent };
  const unset = unsetVariables(log);
  const expand = reporting(expanded, unset.found);
  const connecting = {
    load: loadChannel,
    open: opening({ ...opener, expand, log: serverLog }, { signIns, credentials, programs: worker?.programs }),
    version,
    connectTimeoutMs,
    requestTimeoutMs,
    startsAtOnce: Math.max(upstreamLimits.startsAtOnce, availableParallelism() * upstreamLimits.startsPerCore),
    eras,
    sessionEnded: (session: EndedSession, ms: number) => needs.tracing?.()?.sessionEnded(session, ms),
    requestIds: worker && { of: worker.count, remainder: worker.number - 1 },
    log: serverLog,
    inUse: (server: string) => needs.clients().isInUse(server),
    // The last output of a server that ended may hold a secret, and clients are told of it.
    clean: (text: string) => hiding(credentials.secrets(), (given) => book.clean(given))(text),
  };
  const pool = createPool({
    ...connecting,
    changed,
    saved,
    restarting: worker && ((server: string) => restartedByAll(worker, server)),
    authorizationUrl: signIns.authorizationUrl,
    unasked: (server, ...said) => needs.clients().said(server, undefined, ...said),
  });
  closers.add(() => pool.close());
  worker?.restarts.onTold((server) => void pool.restart(server, true));
  const dedicated = createDedicatedConnections({
    ...connecting,
    settings,
    shared: (server) => pool.connection(server),
    refusal: signIns.refusal,
    withoutCredentials: needs.withoutCredentials,
    credentials,
    unasked: (...said) => needs.clients().said(...said),
    asked: (...asked) => needs.clients().asked(...asked),
    abilitiesOf: (connectionOwner) => needs.clients().abilitiesOf(connectionOwner),
    changed: (...changed) => needs.clients().ownConnection(...changed),
  });
  closers.add(() => dedicated.close());
  const asked = { pool, signIns, credentials, unsetVariables: unset.of };
  const warnOfOverrides = createOverrideWarnings({ settings, catalogue: () => pool.catalogue, log: log('hub') });
  return { asked, pool, dedicated, signIns, grants, savedDigest, warnOfOverrides };
}

interface OpenedWith {
  readonly signIns: SignIns;
  readonly credentials: UserCredentials;
  readonly programs: ChannelOpener['programs'];
}

/**
 * Opens channels: those of one owner with what is theirs, and the one that lists with what users share for that. The
 * program of the latter runs once for all workers.
 */
function opening(opener: ChannelOpener, { signIns, credentials, programs }: OpenedWith) {
  return (server: ServerSettings, events: ChannelEvents, opened?: OpenedFor) => {
    const given: OpenedFor = opened ?? { own: credentials.forListing(server) };
    const { user, headers, own } = given;
    const hide = hiding(valuesOf(given));
    return openChannel(server, events, {
      ...opener,
      passed: headers,
      isOfSession: given.isOfSession,
      own,
      programs: opened ? undefined : programs,
      // Its own values, also when others are bound by now: a program that ends still prints the old ones.
      log: (of) => cleanLog(opener.log(of), hide),
      credential: (wanted, transport) => signIns.credential(wanted, transport, user),
    });
  };
}

/** What users set at a server is in no entry of its log: the server may write it. */
function hidingCredentials(credentials: UserCredentials, log: ChannelOpener['log']): ChannelOpener['log'] {
  return (server) => {
    if (slotsOf(server).length === 0) return log(server);
    let secrets = credentials.secrets(server.name);
    let hide = hiding(secrets);
    return cleanLog(log(server), (text) => {
      const now = credentials.secrets(server.name);
      if (now !== secrets) hide = hiding((secrets = now));
      return hide(text);
    });
  };
}

/** Expands a server's settings, and says which of their variables are not set. */
function reporting(
  expand: (server: ServerSettings) => ExpandedServer,
  found: UnsetVariables['found'],
): ChannelOpener['expand'] {
  return (server) => {
    const { transport, missing } = expand(server);
    found(server.name, missing);
    return transport;
  };
}

/** What all programs that the hub starts share. What an earlier run left behind is ended. */
function openProcesses(env: Env, dataDir: DataDir, log: LoggerFor, closers: Closers) {
  const reaper = openReaper();
  closers.add(() => reaper.close());
  const installs = createInstallQueue(availableParallelism());
  closers.add(() => installs.close());
  endOrphans(dataDir.path, log('hub'), installs).catch((error: unknown) => {
    log('hub').warn('processes of an earlier run could not be looked for', { error: errorText(error) });
  });
  return {
    reaper,
    installs,
    owner: ownerMark(dataDir.path),
    inheritedEnv: inheritableEnv(env.variables),
    sandboxes: sandboxPlaces(env),
  };
}

/**
 * A connection keeps the settings it was made with; who is responsible for its server may have changed since. When the
 * settings have another transport now, it is about to be closed and not trusted.
 */
function isTrustedNow(settings: Settings, server: ServerSettings): boolean {
  const now = settings.servers.get(server.name) ?? server;
  const isSame = now === server || JSON.stringify(now.transport) === JSON.stringify(server.transport);
  return isSame && isTrusted(settings, now);
}

interface UnsetVariables {
  /** Says so in the log when they changed: not at each attempt to connect. */
  found(this: void, server: string, variables: readonly string[]): void;
  /** Those of the last attempt to connect. */
  of(this: void, server: string): readonly string[];
}

/** Which variables (`${NAME}`) of servers' settings are not set. */
function unsetVariables(log: LoggerFor): UnsetVariables {
  const known = new Map<string, readonly string[]>();
  return {
    found(server, missing) {
      const variables = missing.join(', ');
      if (variables !== '' && known.get(server)?.join(', ') !== variables)
        log(`server:${server}`).warn('variables are not set; they are taken as empty', { variables });
      known.set(server, missing);
    },
    of: (server) => known.get(server) ?? [],
  };
}
