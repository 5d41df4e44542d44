import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { ByteBudget } from '../core/byte-budget.ts';
import { HubError } from '../core/errors.ts';
import { thenMaybe } from '../core/then-maybe.ts';
import type { HttpRequest } from '../wire/http.ts';
import { PlainRequest } from '../wire/plain-request.ts';

/** What a body may take. */
export interface BodyLimit {
  readonly maxBytes: number;
  /** Where the memory for it comes from. */
  readonly budget: ByteBudget;
  /** Whether its sender is known by a credential. */
  readonly isKnown: boolean;
}

/**
 * Reads a request body as text, at once where it is there. Throws HubError `too_large` beyond `maxBytes`, `not_ready`
 * where the memory for bodies is used up, `invalid_input` for bytes that are not UTF-8, `cancelled` when the client
 * leaves in the middle.
 */
export function readBody(req: HttpRequest, limit: () => BodyLimit): string | Promise<string> {
  return thenMaybe(req instanceof PlainRequest ? req.body : received(req, limit()), textOf);
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new HubError('invalid_input', 'Parse error: the body is not UTF-8.');
  return bytes.toString('utf8');
}

function received(req: IncomingMessage, { maxBytes, budget, isKnown }: BodyLimit): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = Number(req.headers['content-length'] ?? 0);
    if (declared > maxBytes) return reject(tooLarge(maxBytes));
    // Throws where there is no memory for it.
    const receiving = budget.receive({ declared, isKnown });
    let chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      receiving.add(chunk.length);
      chunks.push(chunk);
    };
    req.on('data', (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        chunks = [];
        receiving.close();
        req.removeAllListeners('data');
        req.resume();
        reject(error);
      }
    });
    req.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    // Comes with every request; an error, with its stack, is made only for one that broke off.
    req.on('close', () => {
      receiving.close();
      if (!req.readableEnded) reject(new HubError('cancelled', 'The client left while sending.'));
    });
    req.on('error', () => undefined);
  });
}

function tooLarge(maxBytes: number): HubError {
  return new HubError('too_large', `The request body is larger than ${maxBytes} bytes.`);
}
