import { activityStatuses, unknownServer } from '../core/activity.ts';
import type { ServerState, ServerStatus } from '../core/hub.ts';
import type { CallCounts } from './calls.ts';
import type { Page, Sample } from './page.ts';
import { databaseStates, type MetricSources, type RowCounts } from './sources.ts';

/** Calls of the servers that are there, and refused ones of no server. */
export function describeCalls(page: Page, calls: CallCounts, states: readonly ServerState[]): void {
  const servers = states.map(({ name }) => name);
  page.counter(
    'toolhub_calls_total',
    'Finished tool calls by server and outcome, as the activity log names them.',
    // From zero on: a reader that counts what was added between two readings would otherwise miss the first call.
    [...servers, unknownServer].flatMap((server) =>
      (server === unknownServer ? (['refused'] as const) : activityStatuses).map((outcome): Sample => {
        return [calls.of(server)?.outcomes[outcome] ?? 0, { server, outcome }];
      }),
    ),
  );
  page.counter(
    'toolhub_call_result_bytes_total',
    'Bytes of the results of tool calls.',
    servers.map((server) => [calls.of(server)?.resultBytes ?? 0, { server }]),
  );
  page.histogram(
    'toolhub_call_duration_seconds',
    'How long tool calls took that reached their server.',
    servers.flatMap((server) => {
      const durations = calls.of(server)?.durations;
      return durations ? [[durations, { server }] as const] : [];
    }),
  );
  page.histogram('toolhub_search_duration_seconds', 'How long tool searches of MCP clients took.', [[calls.searches]]);
}

const statuses: readonly ServerStatus[] = [
  'connecting',
  'connected',
  'asleep',
  'disconnected',
  'oauth_required',
  'disabled',
];

export function describeServers(page: Page, states: readonly ServerState[]): void {
  const enabled = states.filter(({ status }) => status !== 'disabled');
  page.gauge(
    'toolhub_server_up',
    'Whether an enabled server is connected, or asleep and started by its next call.',
    enabled.map(({ name, status }) => [status === 'connected' || status === 'asleep' ? 1 : 0, { server: name }]),
  );
  page.gauge(
    'toolhub_server_state',
    'What a server is doing: 1 for that state, 0 for the others.',
    states.flatMap(({ name, status }) =>
      statuses.map((state): Sample => [state === status ? 1 : 0, { server: name, state }]),
    ),
  );
  page.gauge(
    'toolhub_server_failed_attempts',
    'Failures to connect since the connection last held.',
    enabled.map(({ name, attempts = 0 }) => [attempts, { server: name }]),
  );
  page.gauge(
    'toolhub_server_tools',
    'Tools a server offers.',
    enabled.map(({ name, tools }) => [tools, { server: name }]),
  );
}

export function describeHub(
  page: Page,
  { version, sessions, streams, connections, bodies, database, rows, logEntries }: MetricSources,
): void {
  page.gauge('toolhub_build_info', 'Always 1.', [[1, { version, node: process.versions.node }]]);
  page.gauge('toolhub_sessions', 'Sessions of MCP clients that have a call or a stream open.', [[sessions()]]);
  page.gauge('toolhub_streams', 'Open streams, to MCP clients and to readers of the log.', by('to', streams()));
  const { open, refused } = connections();
  page.gauge('toolhub_connections', 'Connections of clients.', [[open]]);
  page.counter('toolhub_connections_refused_total', 'Connections refused because too many were open.', [[refused]]);
  page.gauge('toolhub_request_body_bytes', 'Memory of request bodies that are being received.', [[bodies().used]]);
  page.counter('toolhub_request_bodies_refused_total', 'Request bodies refused for want of memory.', [
    [bodies().refused],
  ]);
  const state = database();
  page.gauge(
    'toolhub_database_state',
    'What the database is doing: 1 for that state, 0 for the others.',
    databaseStates.map((one) => [one === state ? 1 : 0, { state: one }]),
  );
  const counts = Object.entries(rows());
  const of = (read: (counts: RowCounts) => number) => counts.map(([what, one]): Sample => [read(one), { rows: what }]);
  page.gauge(
    'toolhub_rows_waiting',
    'Rows that are not in the database yet.',
    of(({ waiting }) => waiting),
  );
  page.gauge(
    'toolhub_rows_failing',
    'Whether the database is there and takes no rows: a full disk, as a rule.',
    of(({ failing }) => (failing ? 1 : 0)),
  );
  page.counter(
    'toolhub_rows_written_total',
    'Rows that were written to the database.',
    of(({ written }) => written),
  );
  page.counter(
    'toolhub_rows_dropped_total',
    'Rows that never will be in the database.',
    of(({ dropped }) => dropped),
  );
  page.counter(
    'toolhub_rows_skipped_total',
    'Rows removed unwritten: more newer ones came than the database keeps.',
    of(({ skipped }) => skipped),
  );
  page.counter('toolhub_log_entries_total', 'Log entries by level.', by('level', logEntries));
}

function by(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => [value, { [label]: name }]);
}
