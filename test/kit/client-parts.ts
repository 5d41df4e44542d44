import type { DispatchOptions } from '../../src/mcp/dispatch.ts';
import type { CallRecords } from '../../src/mcp/records.ts';
import type { RelayConnection, RelayConnections, ServerConnection } from '../../src/mcp/relay/options.ts';
import { createRunningCalls } from '../../src/mcp/relay/running-calls.ts';
import { createLogLevels } from '../../src/mcp/log-levels.ts';
import { createSubscriptions } from '../../src/mcp/subscriptions.ts';
import { createTasks } from '../../src/mcp/tasks.ts';
import type { Views } from '../../src/core/access/view.ts';
import { emptyCatalogue } from '../../src/core/catalogue.ts';
import type { Settings } from '../../src/core/settings/settings.ts';
import { createCallCounts } from '../../src/governance/call-counts.ts';
import { logLines } from './channel-log.ts';

type Parts = Pick<
  DispatchOptions,
  | 'views'
  | 'governance'
  | 'subscriptions'
  | 'logLevels'
  | 'tasks'
  | 'about'
  | 'hints'
  | 'records'
  | 'running'
  | 'results'
  | 'listed'
>;

const nothing = { settings: () => emptySettings, catalogue: () => emptyCatalogue };

/**
 * What a request needs of the client side besides its server, for tests of a part of it: nothing is known of any
 * server.
 */
export function clientParts(views: Views): Parts {
  return {
    views,
    subscriptions: createSubscriptions({ views, connection: () => undefined, log: logLines() }),
    logLevels: createLogLevels({ views, shared: () => undefined, own: () => [], ofUser: () => [] }),
    tasks: createTasks({ views, ...nothing, life: () => undefined }),
    governance: {
      ...nothing,
      counts: createCallCounts(),
      audit: { counted: () => undefined },
      guards: { ask: async () => ({ kind: 'failed', why: 'is none', code: 'no_decision' }), noted: () => undefined },
      approvals: { approved: async () => '', giveBack: async () => undefined, passRound: async () => undefined },
    },
    records: noRecords,
    results: { limit: () => undefined, shortened: (_request, _target, text) => text },
    running: createRunningCalls(),
    listed: async () => undefined,
    about: () => undefined,
    hints: { of: () => '"ttlMs":0,"cacheScope":"private"', ofHub: () => '"ttlMs":0,"cacheScope":"private"' },
  };
}

const emptySettings = { servers: new Map(), groups: [], users: [], keys: [], system: {} } as unknown as Settings;

/** Keeps nothing. */
export const noRecords: CallRecords = {
  finished: () => undefined,
  refused: () => undefined,
  refusedRead: () => undefined,
  used: () => undefined,
  afterKeeping: (done) => done(),
};

/** The connections of a hub whose only server is reached by this one. */
export function connectionsBy(connection: RelayConnection | undefined): RelayConnections {
  return {
    connection: () => connection as ServerConnection | undefined,
    forAsking: (connection) => connection,
    ownerOf: () => undefined,
    withoutCredentials: () => undefined,
  };
}
