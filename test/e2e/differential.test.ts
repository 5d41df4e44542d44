import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { atEnd } from '../kit/at-end.ts';
import { httpFixture, stdioFixture } from '../kit/conformance-fixture.ts';
import { testHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

// One client talks to the server itself, another through the hub, and both hear the same (CONTRACT §5). Compared is
// what the transport delivered, before the client's library could drop anything.

const clients = ['v1', 'v2', 'v2 stateless'] as const;
type Kind = (typeof clients)[number];

interface Message {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

interface Recorder {
  /** Sends a request and answers what came in until it was answered, the answer last. */
  request(method: string, params?: Record<string, unknown>, options?: SendOptions): Promise<Message[]>;
  /** Sends a request and does not wait. */
  begin(method: string, params: Record<string, unknown>, options: SendOptions): void;
  /** Everything that ever came in. */
  readonly heard: Message[];
}

interface SendOptions {
  onprogress?: () => void;
  signal?: AbortSignal;
}

const who = { name: 'toolhub-test', version: '1.0.0' };

async function record(kind: Kind, url: string): Promise<Recorder> {
  const heard: Message[] = [];
  const listenTo = (transport: { onmessage?: unknown }) => {
    const inner = transport.onmessage as (...args: unknown[]) => void;
    transport.onmessage = (...args: unknown[]) => {
      heard.push(structuredClone(args[0] as Message));
      inner(...args);
    };
  };
  const send = kind === 'v1' ? await openV1(url, listenTo) : await openV2(kind, url, listenTo);
  return {
    heard,
    begin(method, params, options) {
      send({ method, params }, options).catch(() => {});
    },
    async request(method, params = {}, options = {}) {
      const before = heard.length;
      const failure = await within(
        method,
        send({ method, params }, options).then(() => undefined, String),
      );
      const messages = heard.slice(before);
      if (messages.some((one) => one.method === undefined)) return messages;
      // An error that comes with a status of its own is not delivered as a message; the library quotes it.
      const quoted = /\{"jsonrpc".*\}$/s.exec(failure ?? '')?.[0];
      if (quoted === undefined) throw new Error(`${method} was not answered: ${failure}`);
      return [...messages, JSON.parse(quoted) as Message];
    },
  };
}

type Send = (request: { method: string; params: Record<string, unknown> }, options: SendOptions) => Promise<unknown>;

async function openV1(url: string, listenTo: (transport: HttpV1) => void): Promise<Send> {
  const client = new ClientV1(who);
  const transport = new HttpV1(new URL(url));
  await client.connect(transport);
  atEnd(() => client.close());
  listenTo(transport);
  return (request, options) => client.request(request, z.any(), options);
}

async function openV2(kind: Kind, url: string, listenTo: (transport: HttpV2) => void): Promise<Send> {
  const client = new ClientV2(who, {
    versionNegotiation: { mode: kind === 'v2 stateless' ? { pin: '2026-07-28' } : 'legacy' },
  });
  const transport = new HttpV2(new URL(url));
  await client.connect(transport);
  atEnd(() => client.close());
  listenTo(transport);
  return (request, options) => client.request(request, z.any(), options);
}

/** A message without what belongs to the connection that carried it: ids, tokens, and who answers. */
function essence({ method, params, result, error }: Message): Message {
  const { progressToken: _token, ...rest } = params ?? {};
  return structuredClone({
    ...(method !== undefined && { method, params: rest }),
    ...(result && { result: anonymous(result) }),
    ...(error && { error }),
  });
}

/** Cache hints are left out: a server of the old era gives none, and the hub must. */
function anonymous({
  _meta,
  ttlMs: _ttl,
  cacheScope: _scope,
  ...result
}: Record<string, unknown>): Record<string, unknown> {
  const { 'io.modelcontextprotocol/serverInfo': _server, ...meta } = (_meta ?? {}) as Record<string, unknown>;
  return { ...result, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}

type Step = [method: string, params?: Record<string, unknown>, hearing?: 'progress'];

const tool = (name: string, args: Record<string, unknown> = {}, more = {}): Step => [
  'tools/call',
  { name, arguments: args, ...more },
];
const prompt = (name: string, args: Record<string, unknown> = {}): Step => ['prompts/get', { name, arguments: args }];
const read = (uri: string): Step => ['resources/read', { uri }];
const complete = (ref: Record<string, string>, name: string, value: string, context = {}): Step => [
  'completion/complete',
  { ref, argument: { name, value }, ...context },
];
const simple = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };

const script: Record<string, Step[]> = {
  'lists of everything': [['tools/list'], ['prompts/list'], ['resources/list'], ['resources/templates/list']],
  'results of tools': [
    tool('test_simple_text'),
    tool('test_image_content'),
    tool('test_audio_content'),
    tool('test_embedded_resource'),
    tool('test_multiple_content_types'),
    tool('test_structured_content', { city: 'Ulm' }),
    tool('json_schema_2020_12_tool', { name: 'n', email: 'e' }),
  ],
  'failures of tools, and arguments they refuse': [
    tool('test_error_handling'),
    tool('test_structured_content'),
    tool('test_structured_content', { city: 5 }),
    tool('json_schema_2020_12_tool', { name: 'n' }),
  ],
  'the _meta of a call': [
    tool(
      'test_request_meta',
      {},
      { _meta: { 'example.org/x': { y: [1] }, traceparent: '00-ab-cd-01', baggage: 'a=b' } },
    ),
  ],
  'prompts, and arguments they refuse': [
    prompt('test_simple_prompt'),
    prompt('test_prompt_with_arguments', { arg1: 'a', arg2: 'ü' }),
    prompt('test_prompt_with_embedded_resource', { resourceUri: 'test://x' }),
    prompt('test_prompt_with_image'),
    prompt('test_prompt_with_arguments', { arg1: 'a' }),
  ],
  resources: [
    read('test://static-text'),
    read('test://static-binary'),
    read('test://watched-resource'),
    read('test://template/7/data'),
    read('test://template/%C3%BC/data'),
    read('ui://fixture/panel'),
    read('test://no-such-resource'),
  ],
  completion: [
    complete(simple, 'arg1', 'par'),
    complete(simple, 'arg2', 'par', { context: { arguments: { arg1: 'park' } } }),
    complete({ type: 'ref/resource', uri: 'test://template/{id}/data' }, 'id', '12'),
  ],
  'progress, in order and before the result': [
    ['tools/call', { name: 'test_tool_with_progress' }, 'progress'],
    ['tools/call', { name: 'test_progress_burst' }, 'progress'],
    tool('test_progress_burst'),
  ],
};

/** What only clients with sessions do. */
const sessionScript: Record<string, Step[]> = {
  'ping, and an argument that newer clients send in a header too': [
    ['ping'],
    tool('test_header_parameter', { region: 'eu', shard: 3, query: 'x' }),
  ],
};

/** What the hub refuses itself: the code is the same, the words are its own. */
const unknown: Step[] = [
  tool('test_no_such_tool'),
  prompt('test_no_such_prompt'),
  complete({ type: 'ref/prompt', name: 'test_no_such_prompt' }, 'x', ''),
  ['test/no-such-method'],
  ['tools/no-such-method', { name: 'x' }],
];

const servers = ['http', 'stdio'] as const;
let hubUrl: (server: string) => string;
let direct: Record<Kind, string>;

beforeAll(async () => {
  const old = await httpFixture('old');
  direct = { v1: old, v2: old, 'v2 stateless': await httpFixture('new') };
  const hub = await testHub({
    mcpServers: { http: { type: 'streamable-http', url: await httpFixture('old') }, stdio: stdioFixture('old') },
  });
  await hub.connected(2);
  hubUrl = (server) => hub.mcp(server);
});

/** Two of the same client: one at the server itself, one at the hub. */
const pair = (kind: Kind, server: string) =>
  Promise.all([record(kind, direct[kind]), record(kind, hubUrl(server))] as const);

async function compare([own, through]: readonly [Recorder, Recorder], requests: Step[]): Promise<void> {
  for (const [method, params, hearing] of requests) {
    const options = hearing ? { onprogress: () => {} } : {};
    const there = (await own.request(method, params, options)).map(essence);
    const here = (await through.request(method, params, options)).map(essence);
    expect(here, `${method} ${JSON.stringify(params)}`).toEqual(there);
  }
}

describe.each(clients)('a %s client', (kind) => {
  const scripts = { ...script, ...(kind !== 'v2 stateless' && sessionScript) };

  describe.each(servers)('of a server over %s', (server) => {
    let both: readonly [Recorder, Recorder];
    beforeAll(async () => {
      both = await pair(kind, server);
    });

    test.each(Object.entries(scripts))('hears the same through the hub: %s', async (_, requests) => {
      await compare(both, requests);
    });

    test('is refused with the same code through the hub what does not exist', async () => {
      const [own, through] = both;
      for (const [method, params] of unknown) {
        const there = (await own.request(method, params)).at(-1)?.error?.code;
        const here = (await through.request(method, params)).at(-1)?.error?.code;
        expect(there, method).toBeLessThan(0);
        expect(here, method).toBe(there);
      }
    });

    test('sees the same come and go', async () => {
      for (const times of [1, 2]) {
        const [there, here] = await Promise.all(both.map((one) => afterChange(one, kind, times)));
        expect(here).toEqual(there);
      }
    });

    test('ends a call at the server when it cancels, and hears nothing more of it', async () => {
      for (const one of both) {
        const before = await cancellations(one);
        const abort = new AbortController();
        one.begin('tools/call', { name: 'test_wait_for_cancellation', arguments: {} }, { signal: abort.signal });
        await until('the call runs', async () => (await cancellations(one)).running === before.running + 1);
        abort.abort();
        await until('it was cancelled', async () => (await cancellations(one)).cancelled === before.cancelled + 1);
        expect((await cancellations(one)).running).toBe(before.running);
        expect(JSON.stringify(one.heard)).not.toContain('Cancelled.');
      }
    });
  });
});

test.each(['v1', 'v2'] as const)('a %s client hears the log of a call at the level it asked for', async (kind) => {
  const both = await pair(kind, 'http');
  for (const level of ['debug', 'warning', 'emergency']) {
    await compare(both, [['logging/setLevel', { level }], tool('test_logging_tool'), tool('test_tool_with_logging')]);
  }
});

/**
 * Has the server change its tools and prompts, waits until the client can know, and asks for both lists and what came
 * or went.
 */
async function afterChange(one: Recorder, kind: Kind, times: number): Promise<unknown[]> {
  const present = times % 2 === 1;
  for (const name of ['test_trigger_tool_change', 'test_trigger_prompt_change']) {
    await one.request('tools/call', { name, arguments: {} });
  }
  const lists = await until('the lists changed', async () => {
    const [tools, prompts] = [await one.request('tools/list'), await one.request('prompts/list')];
    const texts = [JSON.stringify(tools.at(-1)), JSON.stringify(prompts.at(-1))];
    return texts.every((text) => text.includes('test_passing_') === present) && [tools.at(-1), prompts.at(-1)];
  });
  if (kind !== 'v2 stateless') {
    for (const list of ['tools', 'prompts']) {
      const notice = `notifications/${list}/list_changed`;
      await until(notice, () => one.heard.filter(({ method }) => method === notice).length >= times);
    }
  }
  const passing = await one.request('tools/call', { name: 'test_passing_tool', arguments: {} });
  return [...lists, ...(present ? passing : [])].map((message) => message && essence(message));
}

async function cancellations(one: Recorder): Promise<{ running: number; cancelled: number }> {
  const answer = (await one.request('tools/call', { name: 'test_cancellations', arguments: {} })).at(-1);
  const [content] = (answer?.result?.['content'] ?? []) as { text: string }[];
  return JSON.parse(content?.text ?? '') as { running: number; cancelled: number };
}
