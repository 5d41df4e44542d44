import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { HubError } from '../core/errors.ts';
import { coreLimits } from '../core/limits.ts';
import { thenMaybe } from '../core/then-maybe.ts';
import { isNestedDeeperThan } from '../core/json/nesting.ts';
import { readLargeObject } from '../core/json/large-json.ts';
import { elements, rememberMembers } from '../core/json/text.ts';
import { type HttpRequest, packedBody, PlainRequest } from '../wire/http.ts';
import { isObject, isRpcId, type RpcMessage, rpcErrors } from '../core/protocol/rpc.ts';
import { mcpLimits } from './limits.ts';
import { type ClientMessage, clientMessage } from './request.ts';
import { type BodyLimit, refuse, type RequestContext } from './request-context.ts';

/** Reads a POST that holds one message; undefined when it was refused and answered. */
export async function readMessage(context: RequestContext): Promise<ClientMessage | undefined> {
  const received = await readMessages(context);
  if (!Array.isArray(received)) return received;
  refuse(context, 400, rpcErrors.invalidRequest, 'Invalid request: no batches here; send one message per request.');
  return undefined;
}

type Read = ClientMessage | ClientMessage[] | undefined;

/**
 * Reads a POST that holds one message or a batch, at once where it is there; undefined when it was refused and
 * answered.
 */
export function readMessages(context: RequestContext): Read | Promise<Read> {
  const type = context.req.headers['content-type'] ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    refuse(
      context,
      415,
      rpcErrors.invalidRequest,
      `Content-Type must be application/json, not "${type.slice(0, 80)}".`,
    );
    return undefined;
  }
  const packed = packedBody(context.req.headers['content-encoding']);
  if (packed !== undefined) {
    refuse(context, 415, rpcErrors.invalidRequest, packed);
    return undefined;
  }
  try {
    const read = thenMaybe(readBody(context.req, context.bodyLimit), messagesOf);
    return read instanceof Promise ? awaited(context, read) : read;
  } catch (error) {
    return refuseBody(context, error);
  }
}

/** A body that arrived late is not used when its sender has lost access meanwhile. */
async function awaited(context: RequestContext, read: Promise<Read>): Promise<Read> {
  try {
    const received = await read;
    return (await context.stillAdmitted()) ? received : undefined;
  } catch (error) {
    return refuseBody(context, error);
  }
}

/** Throws errors that the body did not cause. */
function refuseBody(context: RequestContext, error: unknown): undefined {
  if (error instanceof InvalidRequest) refuse(context, 400, rpcErrors.invalidRequest, error.message);
  else if (error instanceof SyntaxError) refuse(context, 400, rpcErrors.parse, 'Parse error: the body is not JSON.');
  else if (!(error instanceof HubError)) throw error;
  else
    refuse(
      context,
      error.status,
      error.code === 'invalid_input' ? rpcErrors.parse : error.rpcCode,
      error.message,
      waitFor(error),
    );
}

function waitFor({ retryAfterMs }: HubError): { headers?: Record<string, string> } {
  return retryAfterMs === undefined ? {} : { headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) } };
}

/** What is no JSON-RPC message that the hub takes. */
class InvalidRequest extends Error {}

/** Throws SyntaxError for what is not JSON, InvalidRequest for JSON that is no message, or nested too deep. */
function messagesOf(body: string): ClientMessage | ClientMessage[] | Promise<ClientMessage | ClientMessage[]> {
  const text = body.replace(/^\uFEFF/, '');
  return text.length > mcpLimits.bodyCharsAtOnce ? largeMessage(text) : messagesAtOnce(text);
}

/** Of a long body, which would hold up all others while it is parsed (decisions/0052). */
async function largeMessage(text: string): Promise<ClientMessage | ClientMessage[]> {
  const large = await readLargeObject(
    text,
    coreLimits.nesting,
    (why) => new InvalidRequest(why === 'deep' ? tooDeep : 'Invalid request: the message has too many members.'),
  );
  if (!large) return messagesAtOnce(text);
  const { value, member } = large;
  if (!isMessage(value)) throw new InvalidRequest(noMessage);
  const params = member('params');
  // What this turn of the event loop does with it needs them again.
  if (params?.members) setImmediate(rememberMembers(params.text, params.members));
  return { message: value, text, id: member('id')?.text, params: params?.text };
}

const tooDeep = `Invalid request: the message is nested more than ${coreLimits.nesting} levels deep.`;
const noMessage = 'Invalid request: not a JSON-RPC 2.0 message.';

function messagesAtOnce(text: string): ClientMessage | ClientMessage[] {
  if (isNestedDeeperThan(text, coreLimits.nesting)) {
    throw new InvalidRequest(tooDeep);
  }
  const parsed: unknown = JSON.parse(text);
  if (isMessage(parsed)) return clientMessage(parsed, text);
  if (
    Array.isArray(parsed) &&
    parsed.length > 0 &&
    parsed.length <= mcpLimits.batchMessages &&
    parsed.every(isMessage)
  ) {
    const texts = elements(text);
    return parsed.map((message, i) => clientMessage(message, texts[i] ?? ''));
  }
  throw new InvalidRequest(noMessage);
}

function isMessage(message: unknown): message is RpcMessage {
  if (!isObject(message) || message['jsonrpc'] !== '2.0') return false;
  const { id, method, result, error } = message;
  if (typeof method === 'string') return id === undefined || isRpcId(id);
  return method === undefined && isRpcId(id) && (result !== undefined || error !== undefined);
}

/**
 * Reads a request body as text, at once where it is there. Throws HubError `too_large` beyond `maxBytes`, `not_ready`
 * where the memory for bodies is used up, `invalid_input` for bytes that are not UTF-8, `cancelled` when the client
 * leaves in the middle.
 */
function readBody(req: HttpRequest, limit: () => BodyLimit): string | Promise<string> {
  return thenMaybe(req instanceof PlainRequest ? req.body : collected(req, limit()), decoded);
}

function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new HubError('invalid_input', 'Parse error: the body is not UTF-8.');
  return bytes.toString('utf8');
}

function collected(req: IncomingMessage, { maxBytes, budget, isKnown }: BodyLimit): Promise<Buffer> {
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
