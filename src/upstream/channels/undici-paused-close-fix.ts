import type { buildConnector } from 'undici';

/**
 * A connector whose connections may end, or break, while a response is paused (by a `ThrottledReader`, or because the
 * reading code has stopped): of a response that ends with its connection undici 7 asserts that it is not, in an event
 * of the socket, where that would end the hub. Here it fails as one whose connection was lost; the code that reads it
 * has all that came.
 */
export function fixPausedClose(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const emit = socket.emit.bind(socket) as (event: string | symbol, ...values: unknown[]) => boolean;
      socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
        try {
          return emit(event, ...values);
        } catch (cause) {
          const lost = new Error('The connection ended before its response was read.', { cause });
          // One that broke is destroyed already, and undici has not taken note of it yet.
          if (socket.destroyed) emit('error', lost);
          else socket.destroy(lost);
          return true;
        }
      };
      return callback(null, socket);
    });
}
