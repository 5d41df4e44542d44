import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';
import { resultPieces } from './fixtures/large-server.mjs';
import { jsonHeaders } from './raw.ts';

const script = fileURLToPath(new URL('./fixtures/large-server.mjs', import.meta.url));

/** How the server is spoken to. */
export type LargeKind = 'stdio' | 'json' | 'sse' | 'legacy';

/** The settings of a server with large results; one over HTTP is started. */
export async function largeServer(kind: LargeKind): Promise<Record<string, unknown>> {
  if (kind === 'stdio') return { command: process.execPath, args: [script, kind] };
  const child = spawn(process.execPath, [script, kind], { stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(async () => {
    child.kill();
    await once(child, 'exit');
  });
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const url = `http://127.0.0.1:${port}/`;
  return { type: kind === 'legacy' ? 'sse' : 'streamable-http', url };
}

/** SHA-256 of the answer that the client with this id is to get. */
export function expectedHash(kb: number, seed: string, id: number): string {
  const hash = createHash('sha256').update(`{"jsonrpc":"2.0","id":${id},"result":`);
  for (const piece of resultPieces(kb, seed)) hash.update(piece);
  return hash.update('}').digest('hex');
}

/** An answer that is read as it comes and not kept. */
export interface LargeAnswer {
  readonly status: number;
  readonly type: string;
  readonly bytes: number;
  /** Of the message alone. */
  readonly hash: string;
  /** The first and last bytes of the body. */
  readonly head: string;
  readonly tail: string;
}

export interface Begun {
  readonly outgoing: ClientRequest;
  readonly incoming: IncomingMessage;
}

/** Sends a `tools/call`; its answer has begun when this resolves. */
export async function beginCall(
  url: string,
  name: string,
  given: unknown,
  { id = 1, headers = {}, meta }: { id?: number; headers?: Record<string, string>; meta?: unknown } = {},
): Promise<Begun> {
  const params = { name, arguments: given, ...(meta !== undefined && { _meta: meta }) };
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
  const outgoing = request(url, {
    method: 'POST',
    agent: false,
    headers: { ...jsonHeaders, ...headers, 'content-length': Buffer.byteLength(body) },
  });
  atEnd(() => void outgoing.destroy());
  outgoing.on('error', () => undefined);
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { outgoing, incoming };
}

/** Reads an answer to its end, without a copy of it. */
export async function readLarge({ incoming }: Begun): Promise<LargeAnswer> {
  const type = String(incoming.headers['content-type']);
  const hash = createHash('sha256');
  let bytes = 0;
  let head = '';
  let tail: Buffer = Buffer.alloc(0);
  /** What could still be the end of the event, and no part of the message. */
  let kept: Buffer = Buffer.alloc(0);
  let begun = type !== 'text/event-stream';
  const end = begun ? '' : '\n\n';
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (head.length < 300) head += chunk.subarray(0, 300).toString('latin1');
    tail = chunk.length < 300 ? Buffer.concat([tail, chunk]).subarray(-300) : chunk.subarray(-300);
    let more = chunk;
    if (!begun || chunk.length < end.length) {
      more = Buffer.concat([kept, chunk]);
      kept = Buffer.alloc(0);
    }
    if (!begun) {
      const at = more.indexOf('data: {"jsonrpc":"2.0","id":');
      if (at === -1) {
        kept = more;
        return;
      }
      begun = true;
      more = more.subarray(at + 'data: '.length);
    }
    const sure = Math.max(0, more.length - end.length);
    hash.update(kept).update(more.subarray(0, sure));
    kept = more.subarray(sure);
  };
  incoming.on('data', take).resume();
  await finished(incoming);
  if (kept.toString() !== end) throw new Error(`It ends in ${JSON.stringify(tail.toString())}`);
  return { status: incoming.statusCode ?? 0, type, bytes, hash: hash.digest('hex'), head, tail: tail.toString() };
}

export async function callLarge(...given: Parameters<typeof beginCall>): Promise<LargeAnswer> {
  return readLarge(await beginCall(...given));
}
