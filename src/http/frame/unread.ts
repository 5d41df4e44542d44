import { HubError } from '../../core/errors.ts';
import { wireLimits } from '../../wire/limits.ts';

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * A body, piece by piece, that can be left at any point. The rest is read and dropped after the answer. If the
 * connection were closed instead, a client that sends everything before it reads would not get the answer, and a client
 * that keeps connections would lose its next request. A body of which nothing was read is dropped by the server itself.
 * Throws HubError `cancelled` when its sender leaves in the middle.
 */
export async function* bodyChunks(request: Pick<Request, 'body'>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = bodyOf(request)?.getReader();
  let ended = false;
  try {
    for (;;) {
      const read = await reader?.read().catch(senderLeft);
      if (read?.done !== false) {
        ended = true;
        return;
      }
      yield read.value;
    }
  } finally {
    if (reader && !ended) void readAway(reader);
  }
}

/** The request cannot give the body of a sender who has left already. */
function bodyOf(request: Pick<Request, 'body'>): Request['body'] {
  try {
    return request.body;
  } catch (error) {
    return senderLeft(error);
  }
}

function senderLeft(cause: unknown): never {
  throw new HubError('cancelled', 'The client left while sending.', { cause });
}

/**
 * As far as `wireLimits.lingerBytes` and `wireLimits.lingerMs` allow; then the body, and with it the connection,
 * is closed.
 */
async function readAway(reader: Reader): Promise<void> {
  let size = 0;
  const close = (): void => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(close, wireLimits.lingerMs).unref();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      size += read.value.length;
      if (size > wireLimits.lingerBytes) return close();
    }
  } catch {
    // The sender has left.
  } finally {
    clearTimeout(timer);
  }
}
