import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { HubError } from '../../src/core/errors.ts';
import type { LogFields, Logger } from '../../src/core/logger.ts';
import type { RpcMessage } from '../../src/core/protocol/rpc.ts';
import type { Channel } from '../../src/upstream/channels/channel.ts';
import { openOpenapiChannel, type OpenapiOptions } from '../../src/upstream/channels/openapi/channel.ts';
import { atEnd } from './at-end.ts';

/** What a REST API got, as it came over the wire. */
export interface Received {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly path: string;
  /** Decoded pairs, in order. */
  readonly query: [string, string][];
  readonly headers: Record<string, string>;
  readonly cookies: [string, string][];
  readonly body: string;
  readonly bodyBase64: string;
}

type Handler = (received: Received, res: ServerResponse) => unknown;

export interface RestApi {
  readonly origin: string;
  readonly received: Received[];
  /** Answers requests of this path, from now on, in another way than by echo. */
  on(path: string, handler: Handler): void;
}

/**
 * A real REST API on 127.0.0.1 that answers every request with what it got, as JSON. It ends with the test, or the
 * file.
 */
export async function restApi(): Promise<RestApi> {
  const handlers = new Map<string, Handler>();
  const received: Received[] = [];
  const server = createServer((req, res) => {
    void read(req).then(async (one) => {
      received.push(one);
      const handler = handlers.get(one.path);
      if (handler === undefined) answerJson(res, one);
      else await handler(one, res);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, received, on: (path, handler) => void handlers.set(path, handler) };
}

export function answerJson(res: ServerResponse, value: unknown, status = 200): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function read(req: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const [path = '', query = ''] = (req.url ?? '').split(/\?(.*)/s);
  const pairs = (text: string, separator: string) =>
    text
      .split(separator)
      .filter((part) => part.trim() !== '')
      .map((part): [string, string] => {
        const [name = '', value = ''] = part.trim().split(/=(.*)/s);
        return [decodeURIComponent(name), decodeURIComponent(value)];
      });
  return {
    method: req.method ?? '',
    target: req.url ?? '',
    path,
    query: pairs(query, '&'),
    headers: Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)])),
    cookies: pairs(req.headers.cookie ?? '', ';'),
    body: bytes.toString(),
    bodyBase64: bytes.toString('base64'),
  };
}

export interface ToolResult {
  readonly content: {
    type: string;
    text?: string;
    data?: string;
    mimeType?: string;
    resource?: Record<string, unknown>;
  }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
}

interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: {
    properties: Record<string, Record<string, unknown>>;
    required?: string[];
    $defs?: Record<string, unknown>;
  };
  readonly annotations: Record<string, unknown>;
}

/** A channel to an API with its requests as promises: a transport failure, and the channel's end, reject them. */
export interface OpenedApi {
  readonly channel: Channel;
  readonly logged: { level: string; message: string; fields: LogFields | undefined }[];
  /** Why the channel closed, once it has. */
  readonly closed: Promise<HubError>;
  request(method: string, params?: unknown): Promise<RpcMessage>;
  /** All pages. */
  tools(): Promise<ListedTool[]>;
  call(name: string, args?: unknown): Promise<ToolResult>;
  /** As `call`, with the JSON text of the arguments as it stands, and what the API received. */
  sent(name: string, args: unknown): Promise<Received>;
}

type Options = Partial<Omit<OpenapiOptions, 'config'>> & { headers?: Record<string, string> };

/** Opens a channel by the settings of a server; private addresses are allowed unless said otherwise. */
export function openApi(openapi: Record<string, unknown>, { headers = {}, ...options }: Options = {}): OpenedApi {
  const logged: OpenedApi['logged'] = [];
  const waiting = new Map<number, { done: (message: RpcMessage) => void; failed: (error: Error) => void }>();
  let end: (error: HubError) => void = () => {};
  const closed = new Promise<HubError>((done) => {
    end = done;
  });
  let lastId = 0;
  const take = (id: number) => {
    const waiter = waiting.get(id);
    waiting.delete(id);
    return waiter;
  };
  const channel = openOpenapiChannel(
    {
      name: 'api',
      config: { type: 'openapi', openapi, headers, env: {} },
      userAgent: 'toolhub/test',
      log: logTo(logged),
      maxMessageBytes: 4 * 1024 * 1024,
      timeoutMs: 60_000,
      allowPrivateAddresses: true,
      allowedCidrs: [],
      ...options,
    },
    {
      message: (message, text, relatedTo) => {
        if (relatedTo === undefined || message.id !== relatedTo || /[\r\n]/.test(text))
          end(new Error(`Not a message: ${text}`) as HubError);
        else take(relatedTo)?.done(message);
        return true;
      },
      large: (answer) => {
        take(answer.id)?.done(answer.read().message);
        return true;
      },
      failed: (id, error) => take(id)?.failed(error),
      closed: (error) => {
        for (const id of waiting.keys()) take(id)?.failed(error);
        end(error);
      },
    },
  );
  atEnd(() => channel.close());

  function requestText(method: string, paramsText: string | undefined): Promise<RpcMessage> {
    const id = ++lastId;
    const promise = new Promise<RpcMessage>((done, failed) => void waiting.set(id, { done, failed }));
    channel.send(
      `{"jsonrpc":"2.0","id":${id},"method":"${method}"${paramsText === undefined ? '' : `,"params":${paramsText}`}}`,
      id,
    );
    return promise;
  }
  const request = (method: string, params?: unknown) =>
    requestText(method, params === undefined ? undefined : JSON.stringify(params));

  async function call(name: string, args: unknown = {}): Promise<ToolResult> {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const answer = await requestText('tools/call', `{"name":${JSON.stringify(name)},"arguments":${text}}`);
    if (answer.result === undefined) throw new Error(JSON.stringify(answer.error));
    return answer.result as ToolResult;
  }

  async function tools(): Promise<ListedTool[]> {
    const found: ListedTool[] = [];
    for (let cursor: string | undefined; ;) {
      const { result } = await request('tools/list', cursor === undefined ? {} : { cursor });
      const page = result as { tools: ListedTool[]; nextCursor?: string };
      found.push(...page.tools);
      if (page.nextCursor === undefined) return found;
      cursor = page.nextCursor;
    }
  }

  async function sent(name: string, args: unknown): Promise<Received> {
    const result = await call(name, args);
    if (result.structuredContent === undefined) throw new Error(result.content[0]?.text);
    return result.structuredContent as unknown as Received;
  }

  return { channel, logged, closed, request, tools, call, sent };
}

/** A document with these paths. */
export function documentOf(
  origin: string,
  paths: unknown,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return { openapi: '3.1.0', info: { title: 'Echo', version: '1.2.3' }, servers: [{ url: origin }], paths, ...more };
}

function logTo(logged: OpenedApi['logged']): Logger {
  const at = (level: string) => (message: string, fields?: LogFields) => void logged.push({ level, message, fields });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
