import type { ActivitySink } from '../core/activity.ts';
import type { Logger } from '../core/logger.ts';
import { activityOf, refusedActivityOf, smartActivityOf } from '../mcp/activity.ts';
import type { DispatchOptions } from '../mcp/dispatch.ts';
import type { RefusedCall } from '../mcp/refused-call.ts';
import { stateOwner } from '../mcp/request.ts';
import { createSearchUsage } from '../mcp/search-usage.ts';
import type { SmartOptions } from '../mcp/smart.ts';
import type { SettingsStore } from '../settings/store.ts';
import type { Leases } from '../upstream/leases.ts';
import { version } from '../version.ts';
import type { Clients } from './open-clients.ts';

export interface OpenDispatch {
  readonly settings: Pick<SettingsStore, 'current'>;
  readonly leases: Leases;
  readonly records: { readonly activity: ActivitySink };
  readonly smart: SmartOptions;
  readonly clients: Clients;
  readonly log: Logger;
}

/** How requests get to the servers, from MCP clients and from everywhere else, and what is kept of them. */
export function openDispatch({ settings, leases, records, smart, clients, log }: OpenDispatch): DispatchOptions {
  const { activity } = records;
  const searches = createSearchUsage();
  const refused = (call: RefusedCall): void => activity.record(refusedActivityOf(call, settings.current));
  return {
    ...clients.forRequests,
    connection(server, request) {
      clients.needed(server, request);
      return leases.connection(server, { principal: request.principal, session: stateOwner(request) });
    },
    finished(call) {
      clients.forRequests.tasks.learn(call);
      const record = activityOf(call, settings.current, searches);
      if (record) activity.record(record);
    },
    refused,
    smart: { ...smart, refused, used: (use) => activity.record(smartActivityOf(use, settings.current, searches)) },
    version,
    log,
  };
}
