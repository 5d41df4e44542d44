import { request } from 'node:http';
import { atEnd } from './at-end.ts';
import { jsonHeaders, type RawOptions } from './raw.ts';
import { within } from './until.ts';

/** A request whose headers the hub has, which waits for the body. */
export interface HeldRequest {
  /** Sends the body, and gives the answer. */
  finish(): Promise<{ readonly status: number; readonly text: string }>;
}

/** Sends all of a request but its body. Resolves once the hub has taken note of it. */
export async function heldRequest(
  url: string,
  { method = 'POST', token, headers, body }: HeldOptions,
): Promise<HeldRequest> {
  const content = typeof body === 'string' ? body : JSON.stringify(body);
  const outgoing = request(url, {
    method,
    headers: {
      ...jsonHeaders,
      ...headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      'content-length': Buffer.byteLength(content),
      expect: '100-continue',
    },
  });
  atEnd(() => void outgoing.destroy());
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      incoming.on('error', reject).on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
    });
  });
  // A test that never looks at it gets the failure elsewhere.
  answer.catch(() => undefined);
  const asked = new Promise<void>((resolve) => outgoing.once('continue', () => resolve()));
  outgoing.flushHeaders();
  await within('the hub asks for the body', Promise.race([asked, answer]), 60_000);
  return {
    finish() {
      outgoing.end(content);
      return within(`${method} ${url}`, answer, 60_000);
    },
  };
}

export interface HeldOptions {
  method?: string;
  token?: string;
  headers?: RawOptions['headers'];
  /** Text as it is, or anything else as JSON. */
  body: unknown;
}
