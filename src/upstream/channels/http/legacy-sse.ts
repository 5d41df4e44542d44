import { HubError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { type Channel, type ChannelEvents, deadChannel } from '../channel.ts';
import { connectionError } from '../http-errors.ts';
import { upstreamLimits } from '../../limits.ts';
import { LegacyPost, LegacyStream, type StreamSink } from './legacy-exchanges.ts';
import { eachLargeMessage, eachMessage, type MessageSink } from '../messages.ts';
import { answeredId, oversizeError } from '../message-buffer.ts';
import { remote, type Remote, type RemoteOptions } from './remote.ts';

/**
 * Speaks the HTTP+SSE transport of 2024-11-05 with a server: one GET stream brings everything, its first event names
 * the address messages are posted to. Messages sent before that wait. The end of the stream is the end of the channel.
 */
export function openLegacySse(options: RemoteOptions, events: ChannelEvents): Channel {
  let target: Remote;
  try {
    target = remote(options);
  } catch (error) {
    return deadChannel(
      options.name,
      Promise.resolve(error instanceof HubError ? error : connectionError(options.name, error)),
      events,
    );
  }
  const { name, log, maxMessageBytes } = options;
  const posting = new Map<number, LegacyPost>();
  let headers = [...target.headers];
  let state: 'open' | 'closed' = 'open';
  const outbox = openOutbox(name, post);
  let closing: Promise<void> | undefined;

  function post(to: Remote, text: string, requestId: number | undefined): void {
    const exchange = new LegacyPost(to, (error, status) => {
      if (requestId !== undefined) posting.delete(requestId);
      if (!error || state !== 'open') return;
      // The server does not know the session of a stream that it keeps open: only a new stream helps.
      if (status === 404) die(error);
      else if (requestId !== undefined) events.failed(requestId, error, false);
      else log.debug(`A notification was not taken: ${error.message}`);
    });
    if (requestId !== undefined) posting.set(requestId, exchange);
    exchange.send(['content-type', 'application/json', 'accept', 'application/json', ...headers], text);
  }

  function die(error: HubError): void {
    if (state !== 'open') return;
    void close();
    events.closed(error);
  }

  function close(): Promise<void> {
    state = 'closed';
    clearTimeout(timeouts);
    outbox.drop(() => true);
    stream.abort();
    for (const exchange of posting.values()) exchange.abort();
    closing ??= target.pool.destroy();
    return closing;
  }

  const read = dataReader(log, events);
  const stream = new LegacyStream(target, maxMessageBytes, {
    endpoint(path) {
      clearTimeout(timeouts);
      outbox.open({ ...target, path });
    },
    data: (text) => state === 'open' && read.data(text),
    largeData: (message) => state === 'open' && read.largeData(message),
    tooLong(event) {
      const error = oversizeError(name, event, maxMessageBytes);
      const id = answeredId(event);
      if (id === undefined) log.warn(`A message was left out: ${error.message}`);
      else if (state === 'open') events.failed(id, error, false);
    },
    ended: die,
  });
  const timeouts = setTimeout(() => {
    die(
      new HubError(
        'upstream_unavailable',
        `${target.where} did not open an event stream within ${options.connectTimeoutMs} ms.`,
      ),
    );
  }, options.connectTimeoutMs);
  stream.open(headers);

  return {
    send(text, requestId) {
      if (state !== 'open') throw new HubError('upstream_unavailable', `Server "${name}" is not connected.`);
      outbox.send(text, requestId);
    },
    abandon(requestId) {
      outbox.drop((id) => id === requestId);
      posting.get(requestId)?.abort();
      posting.delete(requestId);
    },
    ready(protocolVersion) {
      headers = [...target.headers, 'mcp-protocol-version', protocolVersion];
    },
    forgetSession() {},
    close,
  };
}

/** Takes the data of an event; true when it was an answer that was waited for. */
function dataReader(log: Logger, events: ChannelEvents): Pick<StreamSink, 'data' | 'largeData'> {
  let isAnswer = false;
  const sink: MessageSink = {
    message(message, text) {
      isAnswer = events.message(message, text) && message.method === undefined;
    },
    large(answer) {
      isAnswer = events.large(answer);
    },
  };
  return {
    data(text) {
      isAnswer = false;
      if (!eachMessage(text, sink)) log.debug(`An event is not JSON: ${text.slice(0, 200)}`);
      return isAnswer;
    },
    largeData(message) {
      isAnswer = false;
      if (!eachLargeMessage(message, sink)) log.debug(`An event is not JSON: ${message.head.slice(0, 200)}`);
      return isAnswer;
    },
  };
}

interface Outbox {
  send(text: string, requestId: number | undefined): void;
  /** The address is known: what waited leaves, in order. */
  open(endpoint: Remote): void;
  /** Forgets messages that still wait. */
  drop(which: (requestId: number | undefined) => boolean): void;
}

/** Messages on their way: until the server has said where they go they wait here, bounded. */
function openOutbox(name: string, post: (to: Remote, text: string, requestId: number | undefined) => void): Outbox {
  let endpoint: Remote | undefined;
  let queue: { readonly text: string; readonly requestId: number | undefined }[] = [];
  let chars = 0;
  return {
    send(text, requestId) {
      if (endpoint) {
        post(endpoint, text, requestId);
        return;
      }
      chars += text.length;
      if (chars > upstreamLimits.upstreamBacklogBytes) {
        throw new HubError(
          'upstream_unavailable',
          `Server "${name}" is too slow: too much is waiting for it. Try again later.`,
        );
      }
      queue.push({ text, requestId });
    },
    open(to) {
      endpoint = to;
      for (const { text, requestId } of queue) post(to, text, requestId);
      queue = [];
    },
    drop(which) {
      queue = queue.filter(({ requestId }) => !which(requestId));
    },
  };
}
