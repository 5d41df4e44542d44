import type { HubError } from '../../src/core/errors.ts';
import type { Logger } from '../../src/core/logger.ts';
import type { RpcMessage } from '../../src/core/protocol/rpc.ts';
import type { Channel, ChannelEvents } from '../../src/upstream/channels/channel.ts';
import type { RemoteOptions } from '../../src/upstream/channels/http/remote.ts';
import { atEnd } from './at-end.ts';
import { until } from './until.ts';

export interface Heard {
  readonly message: RpcMessage;
  readonly text: string;
  readonly relatedTo: number | undefined;
}

/** Everything a channel reported, in order, and ways to wait for it. */
export interface ChannelLog extends ChannelEvents {
  readonly heard: Heard[];
  readonly failures: { readonly id: number; readonly error: HubError; readonly sessionLost: boolean }[];
  readonly closings: HubError[];
  /** The answer to this request, as soon as it is there. */
  answer(id: number, timeoutMs?: number): Promise<RpcMessage>;
  failure(id: number, timeoutMs?: number): Promise<{ readonly error: HubError; readonly sessionLost: boolean }>;
  closing(timeoutMs?: number): Promise<HubError>;
}

export function channelLog(): ChannelLog {
  const heard: Heard[] = [];
  const failures: { id: number; error: HubError; sessionLost: boolean }[] = [];
  const closings: HubError[] = [];
  return {
    heard,
    failures,
    closings,
    message(message, text, relatedTo) {
      heard.push({ message, text, relatedTo });
      // All requests of tests have a number as id.
      return message.method !== undefined || typeof message.id === 'number';
    },
    large(answer) {
      heard.push({ ...answer.read(), relatedTo: undefined });
      return true;
    },
    failed: (id, error, sessionLost) => void failures.push({ id, error, sessionLost }),
    closed: (error) => void closings.push(error),
    answer: (id, timeoutMs) =>
      until(`request ${id} is answered`, () => heard.find(({ message }) => message.id === id)?.message, timeoutMs),
    failure: (id, timeoutMs) => until(`request ${id} fails`, () => failures.find((one) => one.id === id), timeoutMs),
    closing: (timeoutMs) => until('the channel closes', () => closings[0], timeoutMs),
  };
}

export interface LogLines extends Logger {
  readonly lines: { readonly level: string; readonly message: string }[];
}

/** A logger that keeps what it is told. */
export function logLines(): LogLines {
  const lines: { level: string; message: string }[] = [];
  const at = (level: string) => (message: string) => void lines.push({ level, message });
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** A request as JSON text. */
export function request(id: number, method: string, params: unknown = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

/** Opens a channel to a URL, closed at the end of the test. */
export function openHttp(
  opener: (options: RemoteOptions, events: ChannelEvents) => Channel,
  url: string,
  options: Partial<RemoteOptions> = {},
): { readonly channel: Channel; readonly events: ChannelLog; readonly log: LogLines } {
  const events = channelLog();
  const log = logLines();
  const defaults = { headers: {}, maxMessageBytes: 32_000_000, connectTimeoutMs: 2_000, userAgent: 'toolhub/test' };
  const channel = opener({ name: 'x', url, log, ...defaults, ...options }, events);
  atEnd(() => channel.close());
  return { channel, events, log };
}
