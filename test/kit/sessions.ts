import { raw, stream } from './raw.ts';
import type { Message, RawAnswer, RawOptions, Stream } from './raw.ts';
import { until } from './until.ts';

export interface SessionOptions {
  headers?: Record<string, string>;
  protocolVersion?: string;
  capabilities?: Record<string, unknown>;
  clientInfo?: { name: string; version: string };
}

/** A client of the session era over streamable HTTP, hand-made so that it can misbehave. */
export interface Session {
  readonly id: string;
  readonly initialized: RawAnswer;
  /** Headers that belong to each request of this session. */
  readonly headers: Record<string, string>;
  request(method: string, params?: unknown, options?: RawOptions & { id?: string | number }): Promise<RawAnswer>;
  call(
    name: string,
    args?: unknown,
    options?: RawOptions & { id?: string | number; meta?: Record<string, unknown> },
  ): Promise<RawAnswer>;
  notify(method: string, params?: unknown): Promise<RawAnswer>;
  /** A request whose answer is read while it comes. */
  begin(method: string, params?: unknown, options?: RawOptions & { id?: string | number }): Promise<Stream>;
  /** The stream for the server's messages outside of requests. */
  listen(): Promise<Stream>;
  end(): Promise<RawAnswer>;
}

/** Initializes a session as a 2025-11-25 client does. */
export async function session(url: string, options: SessionOptions = {}): Promise<Session> {
  const initialized = await raw(url, {
    body: {
      jsonrpc: '2.0',
      id: 'init',
      method: 'initialize',
      params: initializeParams(options),
    },
    ...(options.headers && { headers: options.headers }),
  });
  const id = initialized.headers['mcp-session-id'];
  if (initialized.status !== 200 || typeof id !== 'string') {
    throw new Error(`initialize answered ${initialized.status} without a session: ${initialized.text}`);
  }
  const headers = {
    ...options.headers,
    'mcp-session-id': id,
    'mcp-protocol-version': initialized.result?.protocolVersion ?? '2025-11-25',
  };
  let nextId = 0;
  const body = (method: string, params: unknown, requestId: string | number | undefined) => ({
    jsonrpc: '2.0',
    ...(requestId === undefined ? {} : { id: requestId }),
    method,
    ...(params === undefined ? {} : { params }),
  });
  const own: Session = {
    id,
    initialized,
    headers,
    request: (method, params, { id = ++nextId, ...rest } = {}) =>
      raw(url, { ...rest, headers: { ...headers, ...rest.headers }, body: body(method, params, id) }),
    call: (name, args = {}, { meta, ...rest } = {}) =>
      own.request('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) }, rest),
    notify: (method, params) => raw(url, { headers, body: body(method, params, undefined) }),
    begin: (method, params, { id = ++nextId, ...rest } = {}) =>
      stream(url, {
        ...rest,
        method: 'POST',
        headers: { ...headers, ...rest.headers },
        body: body(method, params, id),
      }),
    listen: () => stream(url, { headers }),
    end: () => raw(url, { method: 'DELETE', headers }),
  };
  await own.notify('notifications/initialized');
  return own;
}

/**
 * Whether the hub says that it does this. What it does not advertise it must refuse; so a test can check either case.
 */
export function advertises(own: Session, capability: string, member?: string): boolean {
  const value = own.initialized.result?.capabilities?.[capability];
  return member === undefined ? value !== undefined : value?.[member] === true;
}

/** A client of the HTTP+SSE transport of 2024-11-05. */
export interface LegacySession {
  readonly stream: Stream;
  /** Where it posts, as the hub named it. */
  readonly endpoint: string;
  post(message: unknown): Promise<RawAnswer>;
  request(method: string, params?: unknown, id?: string | number): Promise<Message>;
}

export async function legacySession(url: string, options: SessionOptions = {}): Promise<LegacySession> {
  const { headers = {} } = options;
  const events = await stream(url, { headers });
  if (events.status !== 200) throw new Error(`GET ${url} answered ${events.status}`);
  const first = await until('the endpoint event', () => events.events.find((event) => event.event === 'endpoint'));
  const endpoint = new URL(first.data, url).href;
  let nextId = 0;
  const own: LegacySession = {
    stream: events,
    endpoint,
    post: (message) => raw(endpoint, { headers, body: message }),
    request: async (method, params, id = `legacy-${++nextId}`) => {
      const posted = await own.post({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
      if (posted.status >= 300) throw new Error(`POST ${method} answered ${posted.status}: ${posted.text}`);
      return events.message(
        `the answer to ${method} ${id}`,
        (message) => message.id === id && message.method === undefined,
      );
    },
  };
  await own.request('initialize', initializeParams({ protocolVersion: '2024-11-05', ...options }));
  await own.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return own;
}

function initializeParams(options: SessionOptions) {
  return {
    protocolVersion: options.protocolVersion ?? '2025-11-25',
    capabilities: options.capabilities ?? {},
    clientInfo: options.clientInfo ?? { name: 'raw', version: '1' },
  };
}

/** `_meta` of a request of 2026-07-28. */
export function modernMeta(more: Record<string, unknown> = {}) {
  return {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    ...more,
  };
}

export interface ModernOptions extends RawOptions {
  id?: string | number;
  meta?: Record<string, unknown>;
}

/**
 * One stateless request of 2026-07-28 with the headers that the revision demands; options take away or change what they
 * say.
 */
export function modernRequest(method: string, params: Record<string, unknown>, options: ModernOptions): RawOptions {
  const { id = 1, meta, headers, ...rest } = options;
  const name = params['name'] ?? params['uri'];
  return {
    ...rest,
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && ['tools/call', 'prompts/get', 'resources/read'].includes(method)
        ? { 'mcp-name': name }
        : {}),
      ...headers,
    },
    body: { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta ?? modernMeta() } },
  };
}

export function modern(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  options: ModernOptions = {},
): Promise<RawAnswer> {
  return raw(url, modernRequest(method, params, options));
}
