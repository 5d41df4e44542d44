import { createToolArguments } from '../../../core/arguments/tool.ts';
import { errorText, HubError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { isObject, type RpcMessage } from '../../../core/protocol/rpc.ts';
import type { TransportSettings } from '../../../core/settings/server.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import { upstreamLimits } from '../../limits.ts';
import type { AddressPolicy } from '../safe-address.ts';
import { loadApi } from './api.ts';
import { readConfig, type Security } from './config.ts';
import { type CredentialSource, type OfClient, openCredentials } from './credentials.ts';
import { type Deadline, openDeadline, unlessAborted } from './deadline.ts';
import { createCookieJar } from './cookies.ts';
import { openHttp } from './http.ts';
import { answerTo, type Asked } from './serve.ts';
import { openTokens } from './tokens.ts';

export interface OpenapiOptions extends AddressPolicy {
  readonly name: string;
  /** Placeholders already filled in. */
  readonly config: Extract<TransportSettings, { type: 'openapi' }>;
  /** The headers of the client that the API gets, names in lower case; they do not go where the document is. */
  readonly passed?: Readonly<Record<string, string>> | undefined;
  /** The headers that clients or their users set, in lower case: no argument of a tool does. */
  readonly notArguments?: readonly string[] | undefined;
  /** It is used by one session of a client alone. */
  readonly isOfSession?: boolean | undefined;
  readonly userAgent: string;
  readonly log: Logger;
  readonly maxMessageBytes: number;
  /** How long the document may take to arrive, and one call with all its redirects and its token. */
  readonly timeoutMs: number;
}

/**
 * A REST API, as described by an OpenAPI document, in the place of a tool server: it answers `initialize`, `ping`,
 * `tools/list` and `tools/call`, and -32601 to the rest, so that nothing else in the hub knows the difference. The
 * document is loaded again each time the channel is opened; requests wait for it, and when it cannot be used the
 * channel is closed with the reason. Throws HubError `misconfigured` for settings that cannot work.
 */
export function openOpenapiChannel(options: OpenapiOptions, events: ChannelEvents): Channel {
  const { name, log, maxMessageBytes, timeoutMs, config: transport } = options;
  const config = readConfig(name, transport.openapi);
  // Of a session that several clients share, one would get what the API knows of another.
  const cookies = config.cookieSession && options.isOfSession === true ? createCookieJar() : undefined;
  const http = openHttp(options, options.userAgent, cookies);
  const sourceOf = (security: Security, client?: OfClient): CredentialSource =>
    openCredentials(
      security,
      transport.headers,
      security.type === 'oauth2' ? openTokens(security, http, timeoutMs) : undefined,
      client,
    );
  const { notArguments: names = [], passed = {} } = options;
  const credentials = sourceOf(config.security, { names, headers: passed });
  const documentCredentials =
    config.documentSecurity === config.security && names.length === 0 ? credentials : sourceOf(config.documentSecurity);
  const toolArguments = createToolArguments();
  /** Requests without an answer. */
  const inFlight = new Map<number, Deadline>();
  let closing: Promise<void> | undefined;

  const closed = new AbortController();
  const loading = loadApi({
    name,
    config,
    http,
    documentCredentials,
    credentials,
    timeoutMs,
    signal: closed.signal,
    log,
  });
  loading.catch((error: unknown) => {
    if (closing !== undefined) return;
    void close();
    events.closed(asHubError(error, log));
  });

  function send(text: string, requestId?: number, headers: readonly string[] = []): void {
    if (closing !== undefined)
      throw new HubError('upstream_unavailable', `The connection to server "${name}" is closed.`);
    if (requestId === undefined) return notified(text);
    if (inFlight.size >= upstreamLimits.upstreamInFlight) {
      throw new HubError('upstream_unavailable', `Server "${name}" has too many calls in flight.`, {
        retryAfterMs: 1_000,
      });
    }
    const deadline = openDeadline(timeoutMs, `Server "${name}" did not answer within ${timeoutMs} ms.`);
    inFlight.set(requestId, deadline);
    void answer(requestId, { text, headers }, deadline.signal);
  }

  async function answer(id: number, asked: Asked, signal: AbortSignal): Promise<void> {
    try {
      const api = await unlessAborted(loading, signal);
      const reply = await answerTo(
        { name, api, http, credentials, toolArguments, maxMessageBytes, log },
        asked,
        signal,
      );
      if (finished(id)) events.message(JSON.parse(reply) as RpcMessage, reply, id);
    } catch (error) {
      if (finished(id)) events.failed(id, asHubError(error, log), false);
    }
  }

  /** Whether the request still waited; from now on it does not. */
  function finished(id: number): boolean {
    inFlight.get(id)?.done();
    return inFlight.delete(id);
  }

  function notified(text: string): void {
    const { method, params } = JSON.parse(text) as RpcMessage;
    const id = isObject(params) ? params['requestId'] : undefined;
    if (method === 'notifications/cancelled' && typeof id === 'number') abandon(id);
  }

  function abandon(id: number): void {
    const deadline = inFlight.get(id);
    if (finished(id)) deadline?.abort(new HubError('cancelled', 'The call was cancelled.'));
  }

  function close(): Promise<void> {
    closing ??= http.close();
    closed.abort();
    for (const id of inFlight.keys()) abandon(id);
    return closing;
  }

  return { send, abandon, ready: () => {}, forgetSession: () => {}, close };
}

function asHubError(error: unknown, log: Logger): HubError {
  if (error instanceof HubError) return error;
  const stack = error instanceof Error ? error.stack : errorText(error);
  log.error('a bug in reading an OpenAPI document or calling its API', { error: stack });
  return new HubError('upstream_failed', 'The API could not be read; the log says more.', {
    cause: error,
    // For those who manage the server: an error that no reader of the hub expected may quote the document.
    reason: { code: 'api_failed', values: { why: errorText(error).split('\n', 1)[0] ?? '' } },
  });
}
