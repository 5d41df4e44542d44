import { clientSeen, connect, exposure, serverCost } from '../../core/answers/records.ts';
import { anyObject, listOf, object, text } from '../../core/answers/schema.ts';
import type { Subject } from '../frame/operation.ts';

export const dashboard: Subject = {
  name: 'Dashboard',
  operations: {
    'GET /events': {
      summary: 'Says when something has changed, or was called (server-sent events)',
      description:
        'The data of an event is `{"type":"changed"}`: ask again for what you show; or `{"type":"called"}`: there are new activities that you may see.',
      answer: { bare: text, type: 'text/event-stream' },
    },
    'GET /clients': {
      summary: 'The clients that connected last',
      description: 'Newest first, since the start of the hub. Users see their own, admins all.',
      answer: { data: listOf(clientSeen) },
    },
    'GET /connect': {
      summary: 'How each AI client is connected to an endpoint',
      query: {
        group: { type: 'string', description: 'Its id or name.' },
        server: text,
        smart: { type: 'boolean', description: 'By searching for tools, instead of listing all.' },
        code: { type: 'boolean', description: 'In code: `/mcp/$code`.' },
        key: {
          type: 'boolean',
          description:
            'True: with the place of an access key, also where none is needed. False: without, for clients that sign in.',
        },
      },
      answer: { data: connect },
    },
    'GET /costs': {
      summary: 'What each tool of an endpoint costs every client that lists them, in tokens',
      description: 'By server, as the clients of the caller see the endpoint.',
      query: {
        group: { type: 'string', description: 'Its id or name. Without it: the endpoint of all servers.' },
        smart: {
          type: 'boolean',
          description: 'The endpoint that searches: its own tools, and those that are pinned.',
        },
      },
      answer: { data: listOf(serverCost) },
    },
    'GET /exposure': {
      summary: 'What a caller without a credential can call',
      admin: true,
      answer: { data: exposure },
    },
    'GET /registry/servers': {
      summary: 'Servers of the MCP registry, thirty at a time',
      description: '503 when the registry (`MCP_REGISTRY_URL`) cannot be reached from the machine of the hub.',
      query: { search: text, cursor: text },
      answer: { data: object({ servers: listOf(anyObject) }, { nextCursor: text }) },
    },
  },
};
