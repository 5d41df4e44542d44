import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Receiving } from '../core/byte-budget.ts';
import { HubError } from '../core/errors.ts';
import { coreLimits } from '../core/limits.ts';
import { isNestedDeeperThan } from '../core/json/nesting.ts';
import { type LargeObject, readLargeObject } from '../core/json/large-json.ts';
import { elements, type Member, rememberMembers } from '../core/json/text.ts';
import { packedBody, PlainRequest } from '../wire/http.ts';
import { isObject, isRpcId, type RpcMessage, rpcErrors } from '../core/protocol/rpc.ts';
import { mcpLimits } from './limits.ts';
import { type ClientMessage, clientMessage } from './request.ts';
import { refuse, type RequestContext } from './request-context.ts';

/** Reads a POST that holds one message; undefined when it was refused and answered. */
export async function readMessage(context: RequestContext): Promise<ClientMessage | undefined> {
  const received = await readMessages(context);
  if (!Array.isArray(received)) return received;
  refuse(context, 400, rpcErrors.invalidRequest, 'Invalid request: no batches here; send one message per request.');
  return undefined;
}

type Messages = ClientMessage | ClientMessage[];
type Read = Messages | undefined;

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
    const read = readBody(context);
    return read instanceof Promise ? awaited(context, read) : read;
  } catch (error) {
    return refuseBody(context, error);
  }
}

/** A body that arrived late is not used when its sender has left or lost access meanwhile. */
async function awaited(context: RequestContext, read: Promise<Messages>): Promise<Read> {
  try {
    const received = await read;
    const isAdmitted = await context.stillAdmitted();
    // `close` came while the body was looked at: what is begun now would not be told that its client has left.
    return isAdmitted && !context.res.destroyed ? received : undefined;
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
function messagesOf(body: string): Messages | Promise<Messages> {
  const text = body.charCodeAt(0) === 0xfeff ? body.slice(1) : body;
  return text.length > mcpLimits.bodyCharsAtOnce ? largeMessage(text) : messagesAtOnce(text);
}

/** Of a long body, which would hold up all others while it is parsed (decisions/0052). */
async function largeMessage(text: string): Promise<Messages> {
  const large = await readLargeObject(
    text,
    coreLimits.nesting,
    (why) => new InvalidRequest(why === 'deep' ? tooDeep : 'Invalid request: the message has too many members.'),
  );
  if (!large) return messagesAtOnce(text);
  const { value, member } = large;
  if (!isLargeMessage(large)) throw new InvalidRequest(noMessage);
  const params = member('params');
  if (params) checkParams(params);
  // What this turn of the event loop does with it needs them again.
  if (params?.members) setImmediate(rememberMembers(params.text, params.members));
  return { message: value, text, id: member('id')?.text, params: params?.text };
}

/** The same as `isMessage`, of which nothing long is parsed: `result` and `error` need only be there. */
function isLargeMessage({ member }: LargeObject): boolean {
  const isThere = (key: string): true | undefined => (member(key) ? true : undefined);
  return isMessage({
    jsonrpc: shortValue(member('jsonrpc')?.text),
    id: shortValue(member('id')?.text),
    method: shortValue(member('method')?.text),
    result: isThere('result'),
    error: isThere('error'),
  });
}

/** Null, which is neither an id nor a name, for what is too long to be parsed at once; a string never is. */
function shortValue(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  return text.length > mcpLimits.memberChars && !text.startsWith('"') ? null : JSON.parse(text);
}

/** Members of params that may be of any length: they are passed on, and looked into by a policy or a guard at most. */
const ofAnyLength = new Set(['arguments', 'argument', 'context', 'inputResponses', 'requestState']);

function checkParams({ text, members }: { text: string; members: readonly Member[] | undefined }): void {
  if (!members)
    throw new InvalidRequest('Invalid request: the params of a message of this length are an object of few members.');
  for (const { key, start, end } of members) {
    if (end - start <= mcpLimits.memberChars || ofAnyLength.has(key)) continue;
    const member = `"params.${key.slice(0, 80)}" has ${end - start} characters of ${text.length}`;
    throw new InvalidRequest(`Invalid request: ${member}; only arguments may have more than ${mcpLimits.memberChars}.`);
  }
}

const tooDeep = `Invalid request: the message is nested more than ${coreLimits.nesting} levels deep.`;
const noMessage = 'Invalid request: not a JSON-RPC 2.0 message.';

function messagesAtOnce(text: string): Messages {
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
 * Reads the messages of a request body, at once where it is there. Throws HubError `too_large` beyond `maxBytes`,
 * `not_ready` where the memory for bodies is used up, `invalid_input` for bytes that are not UTF-8, `cancelled`
 * when the client leaves in the middle.
 */
function readBody({ req, bodyLimit }: RequestContext): Messages | Promise<Messages> {
  if (req instanceof PlainRequest) return messagesOf(req.text() ?? notText());
  const { maxBytes, budget, isKnown } = bodyLimit();
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  // Throws where there is no memory for it.
  const receiving = budget.receive({ declared, isKnown });
  // A body takes its memory until it has been looked at.
  return collected(req, maxBytes, receiving)
    .then((bytes) => messagesOf(decoded(bytes)))
    .finally(() => receiving.close());
}

function decoded(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : notText();
}

function notText(): never {
  throw new HubError('invalid_input', 'Parse error: the body is not UTF-8.');
}

function collected(req: IncomingMessage, maxBytes: number, receiving: Receiving): Promise<Buffer> {
  return new Promise((resolve, reject) => {
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
        req.removeAllListeners('data');
        req.resume();
        reject(error);
      }
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
