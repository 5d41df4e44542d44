import { anyObject, count, flag, listOf, object, type Schema, type Subject, text, texts } from './operation.ts';

const cost = object({ tools: count, tokens: count });

const callable: Schema = { anyOf: [{ type: 'null' }, object({ servers: texts, tools: count })] };

export const dashboard: Subject = {
  name: 'Dashboard',
  operations: {
    'GET /events': {
      summary: 'Says when something has changed (server-sent events)',
      description: 'The data of each event is `{"type":"changed"}`: ask again for what you show.',
      answer: { bare: text, type: 'text/event-stream' },
    },
    'GET /connect': {
      summary: 'How each AI client is connected to an endpoint',
      query: {
        group: { type: 'string', description: 'Its id or name.' },
        server: text,
        smart: { type: 'boolean', description: 'By searching for tools, instead of listing all.' },
      },
      answer: {
        data: object({
          url: text,
          keyRequired: flag,
          clients: listOf(
            object({ client: text, title: text, where: text, language: text, text }, { installUrl: text }),
          ),
          cost: object({ all: cost, smart: cost }),
        }),
      },
    },
    'GET /exposure': {
      summary: 'What somebody without a credential can call',
      admin: true,
      answer: { data: object({ loopback: flag, http: callable, mcp: callable }) },
    },
    'GET /registry/servers': {
      summary: 'Servers of the MCP registry, thirty at a time',
      description: '503 when the registry (`MCP_REGISTRY_URL`) cannot be reached from the machine of the hub.',
      query: { search: text, cursor: text },
      answer: { data: object({ servers: listOf(anyObject) }, { nextCursor: text }) },
    },
  },
};
