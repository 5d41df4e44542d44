import type { IncomingMessage, ServerResponse } from 'node:http';
import { wireLimits } from './limits.ts';

/**
 * Lets an answer reach a client that is still sending the body of its request, on a connection that ends with the
 * answer: what comes is read and dropped, as far as `lingerBytes` and `lingerMs` allow, and then the connection is
 * closed (RFC 9112 §9.6). Closed at once, TCP would answer the rest of the body with a reset, at which a client drops
 * what it has not read yet. To be called before the answer.
 */
export function lingerAfter(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  // node:http closes the connection in its own listener, which comes next.
  response.prependOnceListener('finish', () => {
    if (request.complete || socket.destroyed) return;
    const asBefore = (): void => void Reflect.deleteProperty(socket, 'destroySoon');
    response.once('close', asBefore);
    socket.destroySoon = () => {
      asBefore();
      socket.end();
      readAway(request);
    };
  });
}

/** node:http drops what comes after the answer by itself; a listener for data of its socket would hold that up. */
function readAway(request: IncomingMessage): void {
  const { socket } = request;
  const [since, bytes] = [Date.now(), socket.bytesRead];
  const timer = setInterval(() => {
    const isOver = Date.now() - since > wireLimits.lingerMs || socket.bytesRead - bytes > wireLimits.lingerBytes;
    if (isOver) socket.destroy();
  }, wireLimits.lingerLookMs).unref();
  socket.once('close', () => clearInterval(timer));
  request.once('close', () => socket.destroySoon());
}
