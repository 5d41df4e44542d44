import { activityKinds, activityStatuses } from '../activity.ts';
import {
  anyObject,
  count,
  flag,
  listOf,
  number,
  object,
  oneOf,
  orNull,
  saying,
  type Schema,
  type Shape,
  text,
  texts,
  time,
} from './schema.ts';

// Calls, searches, logs, and how clients are connected, as the API answers them.

// Calls and searches

export const toolResult = object(
  { content: listOf(anyObject), isError: saying('The tool itself reports failure.', flag) },
  {
    structuredContent: anyObject,
    toolName: text,
    arguments: anyObject,
    resultType: saying('For callers with `client`: `input_required` when the server asks something first.', text),
    inputRequests: saying('What it asks, by name: requests as in MCP.', anyObject),
    requestState: saying('Sent back with the answers (`inputResponses`).', text),
  },
);

const channels = object({ words: number, grams: number, meaning: number, server: number });
const reportedTool = {
  name: saying("The name it is called by; the server's own where it cannot be called.", text),
  serverName: text,
  toolName: text,
  description: text,
};

export const searchReport = object(
  {
    query: text,
    searched: saying('How many tools could have been found.', count),
    threshold: saying('The score that results had to reach.', number),
    confident: saying('False when even the best result may well have nothing to do with the query.', flag),
    results: listOf(object({ ...reportedTool, score: number }, { channels })),
    dropped: listOf(
      object(
        {
          ...reportedTool,
          reason: saying(
            '`unavailable`: its server is not connected. `switched_off`: the tool is, at its server.',
            oneOf(['threshold', 'unavailable', 'not_in_group', 'switched_off']),
          ),
        },
        { score: saying('Absent for what did not take part in the search.', number), channels },
      ),
    ),
  },
  { degraded: text },
);
export type SearchReport = Shape<typeof searchReport>;

// Records

export const logEntry = object({
  id: count,
  timestamp: time,
  level: oneOf(['debug', 'info', 'warn', 'error']),
  service: saying('hub, gateway, api, search, or server:<name>.', text),
  message: text,
});
export type LogEntry = Shape<typeof logEntry>;
export type LogLevel = LogEntry['level'];

const kind = oneOf(activityKinds);
const status = oneOf(activityStatuses);

/** What was done with a result of a search. */
const searchUse = object({ kind, server: text, tool: text, status, timestamp: time, rank: count });
export type SearchUse = Shape<typeof searchUse>;

export const activity = object(
  {
    id: text,
    timestamp: time,
    kind,
    server: text,
    tool: text,
    duration: saying('Milliseconds; the same as durationMs.', number),
    durationMs: number,
    status,
    principal: oneOf(['anonymous', 'user', 'key']),
    resultBytes: count,
  },
  {
    errorMessage: text,
    username: text,
    keyId: text,
    keyName: text,
    group: text,
    scope: text,
    sourceIp: text,
    traceId: text,
    client: saying('What the AI client calls itself; absent for calls over REST.', text),
    input: text,
    output: text,
    queueMs: saying('Of durationMs, what a call waited in the hub before it was sent.', count),
    serverMs: saying('Of durationMs, what passed then until the answer of the server.', count),
    searchId: saying('The same in a search and in what was done with its results.', text),
    query: text,
    searchRank: saying('Where what was called or described stood among the results; from 1.', count),
    results: listOf(object({ server: text, tool: text, score: number })),
    uses: listOf(searchUse),
  },
);
export type Activity = Shape<typeof activity>;
export type ActivityStatus = Activity['status'];

const overTime = object({ calls: listOf(count), failed: listOf(count) });

/** Calls that are alike in what they are grouped by. */
const activityGroup = object(
  {
    calls: count,
    failed: saying('Those that did not succeed, however they ended; refused calls are in no group.', count),
    p50: saying('Milliseconds.', number),
    p95: saying('Milliseconds.', number),
    largest: saying('Bytes of the largest result.', count),
    last: saying('When the last call ended.', time),
  },
  { server: text, tool: text, group: text, scope: text, username: text, keyName: text, client: text, overTime },
);
export type ActivityGroup = Shape<typeof activityGroup>;

const otherGroups = object({ groups: count, calls: count, failed: count }, { overTime });
const grouped = {
  groups: saying(
    'With `groupBy`; what a group is alike in is empty where the records have none.',
    listOf(activityGroup),
  ),
  others: saying('With `groupBy`: all other groups together.', otherGroups),
  since: saying(
    'With `groupBy`: the oldest record that is kept, whatever the filter. Absent when there is none.',
    time,
  ),
};

const statistics = {
  totalCalls: count,
  successCount: count,
  errorCount: count,
  avgDuration: number,
  search: object({ searches: count, empty: count, used: count, meanRank: number, firstShare: number }),
};

export const activityStatistics = object(statistics, grouped);
export type ActivityStatistics = Shape<typeof activityStatistics>;

const activityBucket = object({
  start: time,
  calls: count,
  errors: count,
  p50: saying('Milliseconds.', number),
  p95: saying('Milliseconds.', number),
});
export type ActivityBucket = Shape<typeof activityBucket>;

export const activityTimeline = object(
  { bucketMs: count, buckets: listOf(activityBucket) },
  { ...grouped, totals: saying('With `totals=true`: the same calls together.', object(statistics)) },
);
export type ActivityTimeline = Shape<typeof activityTimeline>;

export const activityFailure = object({
  server: text,
  status,
  cause: saying('The text of the newest error, empty where there is none.', text),
  tools: saying('The tools that were called, those that failed most first.', texts),
  calls: count,
  first: time,
  last: time,
  latest: saying('The id of the newest record.', text),
});
export type ActivityFailure = Shape<typeof activityFailure>;

/** The values that occur in the activity. */
export const activityChoices = object({
  servers: texts,
  tools: texts,
  groups: texts,
  usernames: texts,
  keyNames: texts,
  clients: texts,
});
export type ActivityChoices = Shape<typeof activityChoices>;

// The dashboard

const snippet = object(
  { client: text, title: text, where: text, language: oneOf(['shell', 'json', 'toml', 'text']), text },
  {
    installUrl: text,
    command: saying('A command line of `toolhub connect` that does it.', text),
  },
);
export type Snippet = Shape<typeof snippet>;

const cost = object({ tools: count, tokens: count });

/** How each client is connected to one endpoint. */
export const connect = object({
  url: text,
  keyRequired: saying(
    'Clients need an access key; the texts say YOUR_ACCESS_KEY in its place, with `key=true` always, with `key=false` never.',
    flag,
  ),
  signIn: saying('Clients that know OAuth can do without a key: their users log in at the hub.', flag),
  clients: listOf(snippet),
  cost: saying(
    'What a client is told before it asks anything: with all tools listed, with searching, and in code.',
    object({ all: cost, smart: cost, code: cost }),
  ),
});
export type Connect = Shape<typeof connect>;

const tokensByTool: Schema<Readonly<Record<string, number>>> = { type: 'object', additionalProperties: count };

/** What the tools of one server cost every client of an endpoint. */
export const serverCost = object({
  name: saying('`$smart` for the tools of smart routing itself.', text),
  managed: saying('The caller may switch its tools.', flag),
  tools: saying(
    "An estimate of what each costs a client, in tokens, by the server's own name of the tool.",
    tokensByTool,
  ),
  off: saying('The same of tools that are switched off, for who manages the server.', tokensByTool),
});
export type ServerCost = Shape<typeof serverCost>;

/** A client that said who it is when it connected. */
export const clientSeen = object(
  {
    id: text,
    name: saying('What it calls itself, as plain text.', text),
    version: text,
    scope: saying('The endpoint: empty for all servers.', text),
    at: time,
    hasCalled: saying('A request with its credential has reached a server since.', flag),
    credential: oneOf(['anonymous', 'user', 'key', 'app', 'issued']),
  },
  { username: text, keyId: text, keyName: text },
);
export type ClientSeen = Shape<typeof clientSeen>;

const callable = object({ servers: texts, tools: count });
export type Callable = Shape<typeof callable>;

/** What can be called without a credential; null where that is closed. */
export const exposure = object({ loopback: flag, http: orNull(callable), mcp: orNull(callable) });
export type Exposure = Shape<typeof exposure>;
