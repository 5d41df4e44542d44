import { anyObject, object, ref, texts } from '../../core/answers/schema.ts';
import type { Operation, Subject } from '../frame/operation.ts';
import { promptInput, resourceInput } from './prompts-resources.ts';
import { searchInput } from './smart-search.ts';
import { callInput } from './tools.ts';

const sessionHeader = {
  'x-session-id': {
    type: 'string',
    description: 'Calls with the same id share one session of a server that keeps state.',
  },
};

const bare = { bareFailures: true, headers: sessionHeader, answer: { bare: ref('ToolResult') } } as const;
const byQuery: Operation = { ...bare, summary: 'Call a tool with arguments from the query' };
const byBody: Operation = {
  ...bare,
  summary: 'Call a tool with arguments from the body',
  body: { type: 'application/json', schema: anyObject },
  bodyOptional: true,
};
const toolsDocument: Operation = {
  summary: 'The tools within reach, each as an operation (OpenAPI 3.1)',
  bareFailures: true,
  answer: { bare: anyObject },
};

export const calls: Subject = {
  name: 'Calls',
  operations: {
    'POST /tools/call/:server': {
      summary: 'Call a tool of a server',
      description:
        'Argument values are converted by the input schema of the tool. A tool that fails answers 200 with `isError`. With `Accept: text/event-stream` progress comes before the answer, as server-sent events `{"type":"progress",…}`, then `{"type":"answer","status","body"}`.',
      headers: sessionHeader,
      body: callInput,
      answer: { data: ref('ToolResult') },
    },
    'POST /mcp/:serverName/prompts/:promptName': {
      summary: 'Get a prompt of a server',
      headers: sessionHeader,
      body: promptInput,
      bodyOptional: true,
      answer: { data: anyObject },
    },
    'POST /resources/read': {
      summary: 'Read a resource',
      headers: sessionHeader,
      body: resourceInput,
      answer: { data: anyObject },
    },
    'POST /smart-routing/search': {
      summary: 'Search for tools as /mcp/$smart does',
      description:
        'With `explain` each result has the score of each channel, and `dropped` tells what was left out and why.',
      body: searchInput,
      admin: true,
      answer: { data: ref('SearchReport') },
    },
    'GET /tools/:serverName/:toolName': byQuery,
    'POST /tools/:serverName/:toolName': byBody,
    'GET /:name/tools/:serverName/:toolName': { ...byQuery, summary: `${byQuery.summary}, in a group or server` },
    'POST /:name/tools/:serverName/:toolName': { ...byBody, summary: `${byBody.summary}, in a group or server` },
    'GET /openapi.json': toolsDocument,
    'GET /openapi.yaml': toolsDocument,
    'GET /:name/openapi.json': { ...toolsDocument, summary: 'The tools of a group or server, each as an operation' },
    'GET /:name/openapi.yaml': { ...toolsDocument, summary: 'The tools of a group or server, each as an operation' },
    'GET /openapi/servers': { summary: 'The connected servers', answer: { data: texts } },
    'GET /openapi/stats': {
      summary: 'How many tools each server offers',
      answer: {
        data: object({
          totalServers: { type: 'integer' },
          totalTools: { type: 'integer' },
          serverBreakdown: { type: 'array' },
        }),
      },
    },
  },
};
