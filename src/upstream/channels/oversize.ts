import { HubError } from '../../core/errors.ts';
import type { TooLong } from './message-buffer.ts';

/** The failure of a request whose answer was too large to take. */
export function oversizeError(server: string, message: TooLong, maxBytes: number): HubError {
  return new HubError(
    'upstream_failed',
    `The answer of server "${server}" has ${megabytes(message.bytes)} and at most ${megabytes(maxBytes)} are taken from it. ` +
      'Ask for less, or raise the server\'s "maxMessageBytes".',
  );
}

/**
 * The id of the request that an over-long message answers, found at its start or its end, where every known server
 * writes it. Undefined when it is not there, or when the message is a request of the server itself.
 */
export function answeredId({ head, tail }: TooLong): number | undefined {
  if (/^\s*\{[^{[]*"method"\s*:/.test(head)) return undefined;
  const found =
    /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,15})\s*,/.exec(head) ??
    /[\]}"\w]\s*,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

function megabytes(bytes: number): string {
  return bytes < 100_000 ? `${bytes} bytes` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
