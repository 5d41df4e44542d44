import { count, flag, listOf, number, object, orNull, saying, text, texts, time } from '../../core/answers/schema.ts';
import type { Subject } from '../frame/operation.ts';

const timeOrNull = orNull(time);

const performance = object({
  enabled: flag,
  config: object({
    provider: {
      type: 'string',
      description: '`builtin`, `openai`, `azure_openai`, or what the settings ask for in vain.',
    },
    model: orNull(text),
    configuredDimensions: orNull(count),
    threshold: saying('Share of the best score that results must reach.', orNull(number)),
  }),
  database: object({ connected: flag, healthy: flag, lastError: orNull(text) }),
  vectorStore: object({
    available: flag,
    place: { enum: ['builtin', 'database', 'memory'] },
    totalRows: count,
    toolRows: count,
    serverRows: count,
    distinctServers: count,
    dimensions: orNull(count),
    byModel: listOf(object({ model: text, toolCount: count, serverCount: count })),
    byServer: listOf(object({ serverName: text, toolCount: count })),
    oldestUpdatedAt: timeOrNull,
    newestUpdatedAt: timeOrNull,
  }),
  coverage: object({
    connectedServers: count,
    indexedServers: count,
    missingIndexServerCount: count,
    missingIndexServers: texts,
    tools: count,
    embeddedTools: count,
    refusals: saying('Why the service refused tools.', texts),
  }),
  service: object({
    state: { enum: ['builtin', 'working', 'degraded'] },
    problem: orNull(text),
    since: timeOrNull,
    nextTrialAt: timeOrNull,
  }),
  next: orNull(object({ model: text, tools: count, embeddedTools: count, problem: orNull(text) })),
  reindexing: flag,
});

const reindexed = object({
  syncedServers: count,
  failedServers: count,
  totalTools: count,
  results: listOf(object({ serverName: text, toolCount: count, ok: flag }, { error: text })),
  reindexing: saying('It takes longer than this answer could wait, and goes on.', flag),
});

export const smartRouting: Subject = {
  name: 'Smart routing',
  operations: {
    'GET /smart-routing/performance': {
      summary: 'Which embedder the search uses, and how much of the tools it covers',
      admin: true,
      answer: { data: performance },
    },
    'POST /smart-routing/reindex': {
      summary: 'Embed all tools again',
      description:
        'What was there answers until it is done; the log of service `search` has the progress. 409 while it runs, or while another model is indexed.',
      admin: true,
      answer: { data: reindexed },
    },
  },
};
