import {
  Client as ClientV2,
  SSEClientTransport as SseV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { atEnd } from './at-end.ts';

/**
 * Every official client the hub promises to serve: version of the library, transport, and for v2 the era it negotiates.
 */
export const clientKinds = ['v1 http', 'v1 sse', 'v2 http', 'v2 sse', 'v2 stateless'] as const;
export type ClientKind = (typeof clientKinds)[number];

const who = { name: 'toolhub-test', version: '1.0.0' };

/** The part of both libraries' clients that the tests use. */
export interface AnyClient {
  readonly kind: ClientKind;
  /** Whether the hub told this client that it does this. */
  can(capability: 'completions' | 'logging'): boolean;
  listTools(): Promise<{ tools: { name: string; description?: string | undefined }[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  listResources(): Promise<{ resources: { uri: string; name: string }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  readResource(uri: string): Promise<{ contents: { uri: string; text?: string }[] }>;
  getPrompt(name: string, args?: Record<string, string>): Promise<{ messages: { role: string; content: unknown }[] }>;
  complete(prompt: string, argument: string, value: string): Promise<string[]>;
  callTool(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallResult>;
  /** Times a `tools/list_changed` was heard. */
  toolChanges(): number;
  close(): Promise<void>;
}

export interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: { progress: number; total?: number | undefined; message?: string | undefined }) => void;
}

export interface CallResult {
  content: { type: string; text?: string }[];
  structuredContent?: unknown;
  isError?: boolean | undefined;
}

/** How a client answers what servers ask. */
export interface Answers {
  elicit(params: Record<string, unknown>): ElicitResult | Promise<ElicitResult>;
  sample(params: Record<string, unknown>): {
    role: 'assistant';
    model: string;
    content: { type: 'text'; text: string };
  };
  roots(): { roots: { uri: string; name?: string }[] };
}

export interface ElicitResult {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string | number | boolean | string[]>;
}

const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } };

/**
 * Connects one official client to a scope of the hub, the way its users do: `connect('v1 sse', hub.url, 'my-group')`.
 */
export async function connect(
  kind: ClientKind,
  hubUrl: string,
  scope = '',
  headers: Record<string, string> = {},
  answers?: Answers,
): Promise<AnyClient> {
  const path = scope === '' ? '' : `/${scope}`;
  const http = new URL(`${hubUrl}/mcp${path}`);
  const sse = new URL(`${hubUrl}/sse${path}`);
  const client = kind.startsWith('v1')
    ? await connectV1(kind, kind === 'v1 sse' ? sse : http, headers, answers)
    : await connectV2(kind, kind === 'v2 sse' ? sse : http, headers, answers);
  atEnd(() => client.close());
  return client;
}

async function connectV1(
  kind: ClientKind,
  url: URL,
  headers: Record<string, string>,
  answers: Answers | undefined,
): Promise<AnyClient> {
  let changes = 0;
  const client = new ClientV1(who, {
    ...(answers && { capabilities: everything }),
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void changes++ } },
  });
  if (answers) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ ...(await answers.elicit(params)) }));
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => answers.sample(params));
    client.setRequestHandler(ListRootsRequestSchema, async () => answers.roots());
  }
  const transport =
    kind === 'v1 sse' ? new SseV1(url, { requestInit: { headers } }) : new HttpV1(url, { requestInit: { headers } });
  await client.connect(transport);
  return {
    kind,
    can: (capability) => client.getServerCapabilities()?.[capability] !== undefined,
    listTools: () => client.listTools(),
    listPrompts: () => client.listPrompts(),
    listResources: () => client.listResources(),
    listResourceTemplates: () => client.listResourceTemplates(),
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (name, args = {}) => client.getPrompt({ name, arguments: args }),
    complete: async (name, argument, value) =>
      (await client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value } })).completion
        .values,
    callTool: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, undefined, options)) as CallResult,
    toolChanges: () => changes,
    close: () => client.close(),
  };
}

async function connectV2(
  kind: ClientKind,
  url: URL,
  headers: Record<string, string>,
  answers: Answers | undefined,
): Promise<AnyClient> {
  let changes = 0;
  const client = new ClientV2(who, {
    ...(answers && { capabilities: everything }),
    versionNegotiation: { mode: kind === 'v2 stateless' ? { pin: '2026-07-28' } : 'legacy' },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void changes++ } },
  });
  if (answers) {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({ ...(await answers.elicit(params)) }));
    client.setRequestHandler('sampling/createMessage', async ({ params }) => answers.sample(params));
    client.setRequestHandler('roots/list', async () => answers.roots());
  }
  await client.connect(
    kind === 'v2 sse' ? new SseV2(url, { requestInit: { headers } }) : new HttpV2(url, { requestInit: { headers } }),
  );
  return {
    kind,
    can: (capability) => client.getServerCapabilities()?.[capability] !== undefined,
    listTools: () => client.listTools(),
    listPrompts: () => client.listPrompts(),
    listResources: () => client.listResources(),
    listResourceTemplates: () => client.listResourceTemplates(),
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (name, args = {}) => client.getPrompt({ name, arguments: args }),
    complete: async (name, argument, value) =>
      (await client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value } })).completion
        .values,
    callTool: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, options),
    toolChanges: () => changes,
    close: () => client.close(),
  };
}
