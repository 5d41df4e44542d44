import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { HubError } from '../core/errors.ts';
import { goOn } from '../core/go-on.ts';
import type { HttpRequest } from '../wire/http.ts';
import { PlainRequest } from '../wire/plain-request.ts';

/**
 * Reads a request body as text, at once where it is there. Throws HubError `too_large` beyond `maxBytes`, `invalid_input` for bytes that are not UTF-8, `cancelled` when the client
 * leaves in the middle.
 */
export function readBody(req: HttpRequest, maxBytes: number): string | Promise<string> {
  return goOn(req instanceof PlainRequest ? req.body : received(req, maxBytes), textOf);
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new HubError('invalid_input', 'Parse error: the body is not UTF-8.');
  return bytes.toString('utf8');
}

function received(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = Number(req.headers['content-length'] ?? 0);
    if (declared > maxBytes) return reject(tooLarge(maxBytes));
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        req.removeAllListeners('data');
        req.resume();
        return reject(tooLarge(maxBytes));
      }
      chunks.push(chunk);
    });
    req.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    // Comes with every request; an error, with its stack, is made only for one that broke off.
    req.on('close', () => {
      if (!req.readableEnded) reject(new HubError('cancelled', 'The client left while sending.'));
    });
    req.on('error', () => undefined);
  });
}

function tooLarge(maxBytes: number): HubError {
  return new HubError('too_large', `The request body is larger than ${maxBytes} bytes.`);
}
