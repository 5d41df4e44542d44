import type { Handler } from 'hono';
import type { ServerState } from '../../core/hub.ts';
import type { DatabaseHandle, DatabaseState } from '../../database/supervise.ts';
import type { FullDiskRetry } from '../../disk/full-disk-retry.ts';
import type { ActivityLog } from '../../logs/activity.ts';
import type { AuditLog } from '../../logs/audit/audit-log.ts';
import type { LogStore } from '../../logs/log-store.ts';
import type { WriteCounts } from '../../logs/writer.ts';
import type { TelemetryState } from '../../core/telemetry.ts';
import type { Embeddings, EmbeddingsBrief } from '../../smart/embeddings.ts';

/** The body of `GET /health` (CONTRACT §4). */
export interface Health {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly message: string;
  readonly version: string;
  /** Seconds since the start. */
  readonly uptime: number;
  /** ISO 8601. */
  readonly timestamp: string;
  /** Enabled servers only; every one that is neither connected nor asleep counts as disconnected. */
  readonly servers: {
    readonly total: number;
    readonly connected: number;
    readonly disconnected: number;
    /** Those that start on demand and are not used now; absent when there is none. */
    readonly asleep?: number;
    /** Those of `disconnected` whose package is being installed; absent when there is none. */
    readonly installing?: number;
  };
  /** `vectors`: embeddings are kept in it. `off` is a choice, `down` is not. */
  readonly database: { readonly state: DatabaseState['state']; readonly kind?: string; readonly vectors?: boolean };
  /**
   * Which embedder the tool search uses, whether it can, and where vectors are compared: in memory where the database
   * cannot.
   */
  readonly smartRouting: EmbeddingsBrief;
  /** What was to be kept and is not in the database. */
  readonly logs: Unwritten;
  readonly activity: Unwritten;
  readonly audit: Unwritten;
  /** Hubs on the same database with the same secret, this one included; absent where there is no other. */
  readonly hubs?: HubCounts;
  /** Whether the collector takes traces, metrics and logs; absent where none are exported. */
  readonly telemetry?: TelemetryState;
}

/** How many hubs use the database now, and how many of them this one can reach. */
export interface HubCounts {
  readonly known: number;
  readonly reachable: number;
}

/** Since the start: how many are not written yet, and how many never will be. */
export type Unwritten = Pick<WriteCounts, 'waiting' | 'dropped'>;

export interface HealthFacts {
  readonly servers: readonly ServerState[];
  readonly database: DatabaseState;
  readonly smartRouting: EmbeddingsBrief;
  readonly logs: Omit<WriteCounts, 'written' | 'skipped'>;
  readonly activity: Omit<WriteCounts, 'written' | 'skipped'>;
  readonly audit: Omit<WriteCounts, 'written' | 'skipped'>;
  readonly hubs: HubCounts | undefined;
  /** Undefined where nothing is exported. */
  readonly telemetry?: TelemetryState | undefined;
  /** Whether something waits for room on the disk. */
  readonly diskFull: boolean;
  readonly version: string;
  /** Since the start, by a clock that is never set. */
  readonly uptimeMs: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Servers or a database that are down degrade the hub: it serves without them (CONTRACT §4, Health). */
export function assessHealth(facts: HealthFacts): Health {
  const { servers, database, smartRouting, logs, activity, audit, telemetry } = facts;
  const enabled = servers.filter(({ status }) => status !== 'disabled');
  const total = enabled.length;
  const connected = enabled.filter(({ status }) => status === 'connected').length;
  const asleep = enabled.filter(({ status }) => status === 'asleep').length;
  const missing = total - connected - asleep;
  const installing = enabled.filter(({ status, phase }) => status === 'connecting' && phase === 'installing').length;
  const degraded = whyDegraded(facts, { missing, installing });
  return {
    status: degraded === undefined ? 'healthy' : 'degraded',
    message: degraded ?? 'All enabled MCP servers are ready',
    ...atMoment(facts),
    servers: {
      total,
      connected,
      disconnected: missing,
      ...(asleep > 0 && { asleep }),
      ...(installing > 0 && { installing }),
    },
    database: shownDatabase(database),
    smartRouting,
    logs: { waiting: logs.waiting, dropped: logs.dropped },
    activity: { waiting: activity.waiting, dropped: activity.dropped },
    audit: { waiting: audit.waiting, dropped: audit.dropped },
    ...(facts.hubs && facts.hubs.known > 1 && { hubs: facts.hubs }),
    ...(telemetry && { telemetry }),
  };
}

/** The first reason there is. */
function whyDegraded(
  { database, smartRouting, logs, activity, audit, hubs, diskFull }: HealthFacts,
  { missing, installing }: { readonly missing: number; readonly installing: number },
): string | undefined {
  if (diskFull) return 'The disk has no room; what the hub could not keep is in its log, and it serves without';
  if (installing > 0) return 'Some enabled MCP servers are not ready; packages are being installed';
  if (missing > 0) return 'Some enabled MCP servers are not ready';
  if (database.state === 'down') return 'The database is not available; the hub serves without it';
  if (database.state === 'ready' && database.isSlow) return 'The database is slow; changes and listings wait for it';
  if (logs.failing || activity.failing || audit.failing)
    return 'The database takes no records; they wait, and what it says is in the log of the hub';
  if (hubs && hubs.reachable < hubs.known)
    return 'Another hub on the same database cannot be reached; what belongs to it waits, or begins again';
  if (smartRouting.state === 'degraded')
    return 'The embedding service is not available; the tool search goes on without it';
  return undefined;
}

/** The health of a hub that has no settings yet: what is known then. */
export function unreadyHealth(
  facts: { readonly message: string } & Pick<HealthFacts, 'database' | 'version' | 'uptimeMs' | 'now'>,
): Omit<Health, 'smartRouting' | 'logs' | 'activity' | 'audit' | 'hubs'> {
  return {
    status: 'unhealthy',
    message: facts.message,
    ...atMoment(facts),
    servers: { total: 0, connected: 0, disconnected: 0 },
    database: shownDatabase(facts.database),
  };
}

function atMoment({ version, uptimeMs, now }: Pick<HealthFacts, 'version' | 'uptimeMs' | 'now'>) {
  return { version, uptime: Math.floor(uptimeMs / 1000), timestamp: new Date(now).toISOString() };
}

/** Without the reason why it is down, which may name the machine it is on. */
function shownDatabase(database: DatabaseState): Health['database'] {
  if (database.state !== 'ready') return { state: database.state };
  return { state: 'ready', kind: database.kind, vectors: database.hasVector };
}

export interface HealthSources {
  readonly servers: () => readonly ServerState[];
  readonly database: Pick<DatabaseHandle, 'state'>;
  readonly embeddings: Pick<Embeddings, 'brief'>;
  readonly room: Pick<FullDiskRetry, 'isFull'>;
  readonly records: { readonly logs: Pick<LogStore, 'counts'>; readonly activity: Pick<ActivityLog, 'counts'> };
  readonly audit: Pick<AuditLog, 'counts'>;
  readonly replicas: { readonly counts: () => HubCounts } | undefined;
  readonly telemetry?: (() => TelemetryState) | undefined;
  readonly version: string;
}

/** Gives the health of this moment; the hub starts now. */
export function watchHealth({
  servers,
  database,
  embeddings,
  records,
  audit,
  replicas,
  room,
  telemetry,
  version,
}: HealthSources): () => Health {
  const startedAt = performance.now();
  return () =>
    assessHealth({
      servers: servers(),
      database: database.state(),
      smartRouting: embeddings.brief(),
      logs: records.logs.counts(),
      activity: records.activity.counts(),
      audit: audit.counts(),
      hubs: replicas?.counts(),
      telemetry: telemetry?.(),
      diskFull: room.isFull,
      version,
      uptimeMs: performance.now() - startedAt,
      now: Date.now(),
    });
}

/**
 * `GET /health`: 200 also when servers are down (a hub that cannot serve yet answers 503, see unready.ts). Open to all,
 * so it names no server and no machine.
 */
export function healthRoute(read: () => Health): Handler {
  return (c) => {
    c.header('Cache-Control', 'no-store');
    return c.json(read());
  };
}
