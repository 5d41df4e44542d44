import { Hono } from 'hono';
import type { ServerState } from '../../core/hub.ts';
import type { Logger } from '../../core/logger.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import type { Embeddings } from '../../smart/embeddings.ts';
import type { HostedState } from '../../smart/hosted/hosted-index.ts';
import type { SpaceContents } from '../../smart/vector-store.ts';
import { requireEmptyBody } from '../frame/body.ts';
import { adminOnly, type ApiEnv, editorOf } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';
import { httpLimits } from '../limits.ts';

export interface SmartRoutingOptions {
  readonly embeddings: Pick<Embeddings, 'status' | 'contents' | 'reindex' | 'reindexed'>;
  readonly database: Pick<DatabaseHandle, 'state'>;
  readonly states: () => readonly ServerState[];
  readonly log: Logger;
}

/** The state of the search, and indexing its tools again (reference: MCPHub §3.6). */
export function smartRoutingRoutes({ embeddings, database, states, log }: SmartRoutingOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/smart-routing/performance', adminOnly, async (c) => {
    const status = embeddings.status();
    // What memory or the database hold is worth a look, not a failure.
    const spaces = await embeddings.contents().catch(() => undefined);
    const kept = database.state();
    return ok(c, {
      enabled: true,
      config: {
        provider: status.provider,
        model: status.service?.model ?? null,
        configuredDimensions: status.service?.dimensions ?? null,
        threshold: status.service?.threshold ?? null,
      },
      database: {
        connected: kept.state === 'ready',
        healthy: kept.state === 'ready' || kept.state === 'off',
        lastError: kept.state === 'down' ? kept.error : null,
      },
      vectorStore: storeAnswer(status, spaces),
      coverage: coverageAnswer(status, states()),
      service: serviceAnswer(status),
      next: status.next ? { model: status.next.service.model, ...progress(status.next.state) } : null,
      reindexing: status.next !== undefined || (status.state?.reindexing ?? false),
    });
  });

  routes.post('/smart-routing/reindex', adminOnly, async (c) => {
    await requireEmptyBody(c.req.raw);
    const by = editorOf(c.var.caller);
    embeddings.reindex();
    log.info('the tools are to be indexed again', { by: by.username });
    await embeddings.reindexed(httpLimits.reindexAnswerMs);
    const status = embeddings.status();
    const results = status.servers.map(({ name, tools, embedded }) => ({
      serverName: name,
      toolCount: embedded,
      ok: embedded === tools,
      ...(embedded < tools && { error: `${tools - embedded} of ${tools} tools are not embedded` }),
    }));
    const failed = results.filter((result) => !result.ok).length;
    const answer = {
      syncedServers: results.length - failed,
      failedServers: failed,
      totalTools: results.reduce((sum, { toolCount }) => sum + toolCount, 0),
      results,
      reindexing: status.state?.reindexing ?? false,
    };
    const message = answer.reindexing
      ? 'The tools are still being indexed; see the log of service "search".'
      : 'The tools are indexed.';
    return ok(c, answer, { message });
  });

  return routes;
}

type Status = ReturnType<Embeddings['status']>;

function storeAnswer({ place, service, servers, state }: Status, spaces: readonly SpaceContents[] | undefined) {
  const rows = (spaces ?? []).reduce((sum, { vectors }) => sum + vectors, 0);
  const times = (spaces ?? []).flatMap(({ oldest, newest }) => [oldest, newest].filter((time) => time !== undefined));
  const sorted = times.map((time) => time.toISOString()).sort();
  return {
    available: spaces !== undefined,
    place: service ? place : 'builtin',
    totalRows: rows,
    toolRows: rows,
    serverRows: 0,
    distinctServers: servers.filter(({ embedded }) => embedded > 0).length,
    dimensions: state?.dimensions ?? null,
    byModel: (spaces ?? []).map(({ space, vectors }) => ({ model: space, toolCount: vectors, serverCount: 0 })),
    byServer: servers.map(({ name, embedded }) => ({ serverName: name, toolCount: embedded })),
    oldestUpdatedAt: sorted[0] ?? null,
    newestUpdatedAt: sorted.at(-1) ?? null,
  };
}

function coverageAnswer({ servers, state }: Status, states: readonly ServerState[]) {
  const connected = new Set(
    states.filter(({ status }) => status === 'connected' || status === 'asleep').map(({ name }) => name),
  );
  const missing = servers.filter(({ name, tools, embedded }) => connected.has(name) && embedded < tools);
  return {
    connectedServers: connected.size,
    indexedServers: servers.filter(({ tools, embedded }) => embedded === tools).length,
    missingIndexServerCount: missing.length,
    missingIndexServers: missing.map(({ name }) => name),
    tools: servers.reduce((sum, { tools }) => sum + tools, 0),
    embeddedTools: servers.reduce((sum, { embedded }) => sum + embedded, 0),
    refusals: state?.refusals ?? [],
  };
}

function serviceAnswer({ service, state, problem }: Status) {
  const failing = state?.problem;
  return {
    state: problem === undefined ? (service ? 'working' : 'builtin') : 'degraded',
    problem: problem ?? null,
    since: failing ? new Date(failing.since).toISOString() : null,
    nextTrialAt: failing ? new Date(failing.nextTrialAt).toISOString() : null,
  };
}

function progress({ tools, missing, problem }: HostedState) {
  return { tools, embeddedTools: tools - missing.length, problem: problem?.reason ?? null };
}
