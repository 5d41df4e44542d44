import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { atEnd } from './at-end.ts';
import { until, within } from './until.ts';

/** The members of results that tests look at; everything else is there too, untyped. */
export interface AnyResult {
  [member: string]: unknown;
  tools?: { name: string; description?: string; [member: string]: unknown }[];
  prompts?: { name: string; [member: string]: unknown }[];
  resources?: { uri: string; name?: string; [member: string]: unknown }[];
  resourceTemplates?: { uriTemplate: string; [member: string]: unknown }[];
  content?: { type: string; text?: string; [member: string]: unknown }[];
  contents?: { uri: string; text?: string; [member: string]: unknown }[];
  messages?: { role: string; content: { type: string; text?: string } }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  nextCursor?: string;
  protocolVersion?: string;
  capabilities?: Record<string, Record<string, unknown> | undefined>;
  serverInfo?: { name: string; version: string };
  instructions?: string;
}

/** Any JSON-RPC message from the hub. */
export interface Message {
  jsonrpc?: string;
  id?: string | number | null;
  method?: string;
  params?: {
    [member: string]: unknown;
    progressToken?: string | number;
    progress?: number;
    message?: string;
    data?: unknown;
  };
  result?: AnyResult;
  error?: { code: number; message: string; data?: unknown };
}

export interface RawOptions {
  method?: string;
  /** Added to the usual ones of an MCP client; `undefined` takes one away. */
  headers?: Record<string, string | undefined>;
  /** Text as it is, or anything else as JSON. */
  body?: unknown;
  timeoutMs?: number;
}

/**
 * A complete HTTP answer. `messages` and `texts` (the same, as JSON text) hold what it carried, be it JSON or an event
 * stream.
 */
export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly messages: Message[];
  readonly texts: string[];
  /** The last message: of a JSON-RPC exchange the response. */
  readonly message: Message;
  readonly result: AnyResult | undefined;
  readonly error: Message['error'];
}

export const jsonHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** As clients do it: a connection that is free is used again, and no request waits for one. */
const agent = new Agent({ keepAlive: true });

function open(url: string, options: RawOptions): Promise<{ incoming: IncomingMessage; destroy(): void }> {
  const { method = 'POST', body } = options;
  const content = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const headers = Object.fromEntries(
    Object.entries({
      ...(content === undefined ? { accept: 'text/event-stream' } : jsonHeaders),
      ...options.headers,
    }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent, headers }, (incoming) =>
      resolve({ incoming, destroy: () => outgoing.destroy() }),
    );
    outgoing.on('error', reject);
    outgoing.end(content);
  });
}

/** The whole body. By events, since a loop over the stream costs as much as the request. */
function textOf(incoming: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => void chunks.push(chunk));
    incoming.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    incoming.on('error', reject);
  });
}

/** One HTTP exchange without any client library, header for header as given. */
export async function raw(url: string, options: RawOptions = {}): Promise<RawAnswer> {
  const exchange = async () => {
    const { incoming } = await open(url, options);
    return { incoming, text: await textOf(incoming) };
  };
  const { incoming, text } = await within(
    `${options.method ?? 'POST'} ${url}`,
    exchange(),
    options.timeoutMs ?? 60_000,
  );
  const type = incoming.headers['content-type'] ?? '';
  const texts = type.includes('text/event-stream')
    ? splitEvents(text).events.flatMap((event) => (event.data === '' ? [] : [event.data]))
    : [text];
  const messages = texts.flatMap((one) => {
    try {
      return [JSON.parse(one) as Message];
    } catch {
      return [];
    }
  });
  const message = messages.at(-1) ?? {};
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    text,
    messages,
    texts,
    message,
    result: message.result,
    error: message.error,
  };
}

/** POSTs one JSON-RPC request. */
export function rpc(
  url: string,
  method: string,
  params?: unknown,
  options: RawOptions & { id?: string | number } = {},
): Promise<RawAnswer> {
  const { id = 1, ...rest } = options;
  return raw(url, { ...rest, body: { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) } });
}

export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Events of a text so far, and the unfinished rest. */
function splitEvents(text: string): { events: SseEvent[]; rest: string } {
  const blocks = text.split(/\r\n\r\n|\n\n|\r\r/);
  const rest = blocks.pop() ?? '';
  const events = blocks.map((block) => {
    const fields = block.split(/\r\n|\n|\r/).map((line) => /^([^:]*):? ?(.*)$/s.exec(line) ?? ['', '', '']);
    const last = (name: string) => fields.findLast(([, field]) => field === name)?.[2];
    const data = fields.filter(([, field]) => field === 'data').map(([, , value]) => value);
    return { event: last('event') ?? 'message', data: data.join('\n'), id: last('id') };
  });
  return { events, rest };
}

/** An event stream that stays open. */
export interface Stream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Every event so far, comments left out. */
  readonly events: SseEvent[];
  /** The id of every event so far, those that carry nothing else included. */
  readonly ids: string[];
  /** Every JSON-RPC message so far. */
  readonly messages: Message[];
  ended(): boolean;
  /** The body, where it turned out to be one message and no stream. */
  json(): Promise<Message>;
  /** The first message (also one that came before the question) that fits. */
  message(what: string, fits: (message: Message) => boolean, timeoutMs?: number): Promise<Message>;
  close(): void;
}

export async function stream(url: string, options: RawOptions = {}): Promise<Stream> {
  const { incoming, destroy } = await within(
    `opening ${url}`,
    open(url, { method: 'GET', ...options }),
    options.timeoutMs ?? 60_000,
  );
  const events: SseEvent[] = [];
  const ids: string[] = [];
  const messages: Message[] = [];
  let rest = '';
  let ended = false;
  incoming.setEncoding('utf8');
  let whole = '';
  const isStream = (incoming.headers['content-type'] ?? '').includes('event-stream');
  let tail = '';
  incoming.on('data', (chunk: string) => {
    if (!isStream) whole += chunk;
    // Looking through all of a large event again for each of its pieces would take half a minute on a busy machine.
    const isUnfinished = !/[\r\n]{2}/.test(tail + chunk);
    tail = (tail + chunk).slice(-3);
    if (isUnfinished) {
      rest += chunk;
      return;
    }
    const split = splitEvents(rest + chunk);
    rest = split.rest;
    for (const event of split.events) {
      if (event.id !== undefined) ids.push(event.id);
      if (event.data === '') continue;
      events.push(event);
      if (event.event === 'message') messages.push(JSON.parse(event.data) as Message);
    }
  });
  incoming.on('close', () => (ended = true)).on('error', () => (ended = true));
  atEnd(destroy);
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    events,
    ids,
    messages,
    ended: () => ended,
    json: async () => {
      await until('the body is complete', () => ended);
      return JSON.parse(whole) as Message;
    },
    message: (what, fits, timeoutMs) => until(what, () => messages.find(fits), timeoutMs),
    close: destroy,
  };
}
