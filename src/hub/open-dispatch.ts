import type { ActivitySink, NewActivity } from '../core/activity.ts';
import type { Logger } from '../core/logger.ts';
import type { CallCounts } from '../metrics/calls.ts';
import { askableCall } from '../mcp/server-requests/client-of.ts';
import { activityOf, refusedActivityOf, smartActivityOf } from '../mcp/activity.ts';
import type { DispatchOptions } from '../mcp/dispatch.ts';
import type { RefusedCall } from '../mcp/refused-call.ts';
import { stateOwner } from '../mcp/request.ts';
import { createSearchUsage } from '../mcp/search-usage.ts';
import type { SmartOptions } from '../mcp/smart.ts';
import type { SettingsStore } from '../settings/store.ts';
import type { DedicatedConnections } from '../upstream/connections/dedicated-connections.ts';
import { version } from '../version.ts';
import type { Clients } from './open-clients.ts';

export interface OpenDispatch {
  readonly settings: Pick<SettingsStore, 'current'>;
  readonly dedicated: DedicatedConnections;
  readonly records: { readonly activity: ActivitySink };
  readonly smart: SmartOptions;
  readonly clients: Clients;
  readonly counts: CallCounts;
  readonly log: Logger;
}

/** How requests get to the servers, from MCP clients and from everywhere else, and what is kept of them. */
export function openDispatch(options: OpenDispatch): DispatchOptions {
  const { settings, dedicated, records, smart, clients, counts, log } = options;
  const keep = (record: NewActivity, ms: number): void => {
    records.activity.record(record);
    counts.count(record, ms);
  };
  const searches = createSearchUsage();
  const afterKeeping = (done: () => void): void => records.activity.afterKeeping(done);
  const refused = (call: RefusedCall): void => keep(refusedActivityOf(call, settings.current), call.ms);
  return {
    ...clients.forRequests,
    connection(target, request) {
      const connectionOwner = { principal: request.principal, session: stateOwner(request) };
      const connection = dedicated.connection(target.server, connectionOwner);
      if (!connection) return undefined;
      clients.needed(connection, request);
      const asking = connection.hasGivenUp ? askableCall(request, target) : undefined;
      return asking ? dedicated.forAsking(connection, connectionOwner, asking) : connection;
    },
    finished(call) {
      clients.forRequests.tasks.learn(call);
      const record = activityOf(call, settings.current, searches);
      if (record) keep(record, call.ms);
    },
    afterKeeping,
    refused,
    smart: {
      ...smart,
      refused,
      used: (use) => keep(smartActivityOf(use, settings.current, searches), use.ms),
      afterKeeping,
    },
    version,
    log,
  };
}
