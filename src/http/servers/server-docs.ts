import {
  anyObject,
  count,
  flag,
  listOf,
  object,
  orNull,
  ref,
  type Schema,
  text,
  texts,
} from '../../core/answers/schema.ts';
import { importAnswer, requiredConfig } from '../../core/answers/imports.ts';
import {
  enabledInput,
  itemDescriptionInput,
  itemsSwitchInput,
  newServerInput,
  serverUpdateInput,
  toolLimitInput,
} from '../../settings/server/server-input.ts';
import { overrideShape } from '../../settings/document/tool-override.ts';
import type { Operation, Subject } from '../frame/operation.ts';
import { importInput } from './server-import.ts';
import { serversInput } from './server-routes.ts';
import { payloadsInput } from './server-run-routes.ts';

const server = { data: ref('ServerDetails') };
const pageQuery: Record<string, Schema> = {
  page: { type: 'integer', minimum: 1 },
  limit: { type: 'integer', minimum: 1 },
};

const signOut: Schema = { enum: ['tokens', 'all'], description: '`all`: also the registration of the hub there.' };

/** Overrides of tools. */
const overridePath = '/servers/:server/tools/:item/override';
const overrides: Record<string, Operation> = {
  [`GET ${overridePath}`]: {
    summary: 'What clients see of a tool in place of what the server says',
    description: 'For the owner of the server and admins.',
    answer: { data: ref('ToolOverride') },
  },
  [`PUT ${overridePath}`]: {
    summary: 'Override a tool',
    description: 'The whole override: name, texts and annotations that clients see, arguments that the hub puts in.',
    query: { dryRun: { type: 'boolean', description: 'Change nothing; show what would come of it.' } },
    body: overrideShape,
    answer: { data: ref('ToolOverride') },
  },
  'PUT /servers/:server/tools/:item/max-result-tokens': {
    summary: 'Set the most tokens that a result of a tool may have',
    description: 'For the owner of the server and admins. `null`: as the server has it.',
    body: toolLimitInput,
    answer: { data: object({ item: text, maxResultTokens: orNull(count) }) },
  },
  [`DELETE ${overridePath}`]: { summary: 'Show a tool as the server has it', answer: { data: ref('ToolOverride') } },
};

export const servers: Subject = {
  name: 'Servers',
  operations: {
    'GET /servers': {
      summary: 'The servers within reach, with what they offer',
      query: {
        ...pageQuery,
        items: {
          enum: ['count', 'names'],
          description:
            '`count`: numbers in place of tools, prompts and resources: elements are a `ServerSummary`. `names`: elements are a `ServerNames`.',
        },
        q: {
          type: 'string',
          description:
            'With `items=names`: only tools in whose name, title, description or server all these words are.',
        },
      },
      answer: { data: listOf(ref('Server')), beside: { pagination: ref('Pagination') } },
    },
    'POST /servers': { summary: 'Add a server', body: newServerInput, answer: server, created: true },
    'POST /servers/batch': {
      summary: 'Add several servers',
      description: 'Answers 207 when only some could be added, 400 when none could.',
      body: serversInput,
      answer: {
        data: object({ success: flag, successCount: count, failureCount: count, results: listOf(ref('BatchResult')) }),
      },
    },
    'POST /servers/import': {
      summary: "Add servers from a client's settings",
      description:
        'The body may also be the settings themselves, as JSON or as text/plain. When none was added the answer is 409 (every name is taken) or 400.',
      admin: true,
      query: { dryRun: { type: 'boolean', description: 'Change nothing; say what would come of it.' } },
      body: importInput,
      answer: { data: importAnswer },
      created: true,
    },
    'GET /servers/:name': { summary: 'One server', answer: server },
    'PUT /servers/:name': { summary: 'Change or rename a server', body: serverUpdateInput, answer: server },
    'DELETE /servers/:name': { summary: 'Remove a server' },
    'GET /servers/:name/share-candidates': {
      summary: 'Users with whom a server can be shared',
      description: 'For its owner and admins.',
      answer: { data: texts },
    },
    'POST /servers/:name/toggle': { summary: 'Enable or disable a server', body: enabledInput, answer: server },
    'POST /servers/:name/reload': { summary: 'Connect a server again', answer: server },
    'POST /servers/:name/payloads': {
      summary: 'Keep arguments and results of the calls of a server for a while',
      description: 'For an hour at most; it ends by itself. Not of servers that get what callers set for themselves.',
      admin: true,
      body: payloadsInput,
      answer: server,
    },
    'DELETE /servers/:name/payloads': {
      summary: 'Keep arguments and results of the calls of a server no more',
      admin: true,
      answer: server,
    },
    'POST /servers/:name/oauth/authorize': {
      summary: 'Begin to sign in to a server',
      description: 'Sets a cookie: the sign-in ends in the browser that sent this.',
      answer: { data: object({ authorizationUrl: { type: 'string', format: 'uri' } }) },
    },
    'POST /servers/:name/oauth/disconnect': {
      summary: 'Sign out of a server',
      description: 'With `perUser` you alone; `all` then signs out everybody.',
      body: { type: 'application/json', schema: object({}, { scope: signOut }) },
      bodyOptional: true,
      answer: { data: object({ name: text, scope: signOut }) },
    },
    ...items('tools', 'tool'),
    ...overrides,
    ...items('prompts', 'prompt'),
    ...items('resources', 'resource'),
    'POST /mcpb/upload': {
      summary: 'Add a server from an MCPB bundle',
      admin: true,
      query: { replace: { type: 'boolean', description: 'Take the place of the server of that name.' } },
      body: {
        type: 'multipart/form-data',
        schema: object(
          { mcpbFile: { type: 'string', contentMediaType: 'application/octet-stream' } },
          { userConfig: { type: 'string', description: 'JSON: the values the bundle asks for.' } },
        ),
      },
      answer: { data: object({ manifest: anyObject, server: anyObject, requiredConfig: listOf(requiredConfig) }) },
      created: true,
    },
  },
};

function items(kind: string, one: string): Record<string, Operation> {
  const path = `/servers/:server/${kind}/:item`;
  const described = { data: object({ item: text, description: text }) };
  return {
    [`POST /servers/:server/${kind}/toggle`]: {
      summary: `Enable or disable several ${kind}`,
      description: 'All of them in one change, or none.',
      body: itemsSwitchInput,
      answer: { data: object({ items: texts, enabled: flag }) },
    },
    [`POST ${path}/toggle`]: {
      summary: `Enable or disable a ${one}`,
      body: enabledInput,
      answer: { data: object({ item: text, enabled: flag }) },
    },
    [`PUT ${path}/description`]: { summary: `Describe a ${one}`, body: itemDescriptionInput, answer: described },
    [`DELETE ${path}/description`]: { summary: `Use the server's own description of a ${one}`, answer: described },
  };
}
