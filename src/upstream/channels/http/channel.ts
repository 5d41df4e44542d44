import { HubError } from '../../../core/errors.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import { SignInRequired } from '../credential.ts';
import { HttpAnswer } from '../http-errors.ts';
import { openLegacySse } from './legacy-sse.ts';
import type { RemoteOptions } from './remote.ts';
import { openStreamableHttp } from './streamable-http.ts';

/** The channel to a server at an address, over the transport that its settings name. */
export function openHttpChannel(
  options: RemoteOptions & { readonly type: 'streamable-http' | 'sse' | 'auto' },
  events: ChannelEvents,
): Channel {
  switch (options.type) {
    case 'streamable-http':
      return openStreamableHttp(options, events);
    case 'sse':
      return openLegacySse(options, events);
    case 'auto':
      return openEither(options, events);
  }
}

/**
 * What a server of the HTTP+SSE transport says to a POST at its stream's address (MCP, Transports, Backwards
 * Compatibility).
 */
const notHere = new Set([400, 404, 405, 406, 415]);

/**
 * Opens a channel to a server whose transport was not told (`auto`): streamable HTTP, and when its first `initialize`
 * is refused as such, legacy SSE at the same address.
 */
export function openEither(options: RemoteOptions, events: ChannelEvents): Channel {
  let undecided = true;
  let closing: Promise<void> | undefined;
  /** The request the decision hangs on. */
  let first: { readonly text: string; readonly requestId: number } | undefined;

  let channel = openStreamableHttp(options, {
    message(message, text, relatedTo) {
      undecided = false;
      return events.message(message, text, relatedTo);
    },
    large: (answer) => events.large(answer),
    failed(requestId, error, sessionLost) {
      if (undecided && first?.requestId === requestId && refusedAsSuch(error)) fallBack(first, error);
      else events.failed(requestId, error, sessionLost);
    },
    closed: (error) => events.closed(error),
  });

  function fallBack(
    { text, requestId }: { readonly text: string; readonly requestId: number },
    refusal: HubError,
  ): void {
    undecided = false;
    options.log.debug(`No streamable HTTP here, trying legacy SSE: ${refusal.message}`);
    void channel.close();
    let reached = false;
    channel = openLegacySse(options, {
      message(message, text) {
        reached = true;
        return events.message(message, text);
      },
      large: (answer) => events.large(answer),
      failed: (id, error, sessionLost) => events.failed(id, error, sessionLost),
      // When neither works, the first refusal says more about a wrong address than the second, unless the second can be
      // solved by a user who signs in.
      closed: (error) =>
        events.closed(reached || error.cause instanceof SignInRequired ? error : neither(refusal, error)),
    });
    channel.send(text, requestId);
  }

  return {
    send(text, requestId, headers) {
      if (undecided && first === undefined && requestId !== undefined && isInitialize(text))
        first = { text, requestId };
      channel.send(text, requestId, headers);
    },
    abandon(requestId) {
      if (first?.requestId === requestId) undecided = false;
      channel.abandon(requestId);
    },
    ready(protocolVersion) {
      undecided = false;
      first = undefined;
      channel.ready(protocolVersion);
    },
    forgetSession: () => channel.forgetSession(),
    close() {
      undecided = false;
      closing ??= channel.close();
      return closing;
    },
  };
}

function refusedAsSuch(error: HubError): boolean {
  return error.cause instanceof HttpAnswer && notHere.has(error.cause.status);
}

function isInitialize(text: string): boolean {
  return (
    /"method"\s*:\s*"initialize"/.test(text.slice(0, 1_000)) || /"method"\s*:\s*"initialize"/.test(text.slice(-200))
  );
}

function neither(streamable: HubError, legacy: HubError): HubError {
  return new HubError(streamable.code, `${streamable.message} (Legacy SSE was tried too: ${legacy.message})`, {
    cause: streamable.cause,
  });
}
