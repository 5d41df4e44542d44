import { HubError } from '../core/errors.ts';
import { elements } from '../core/json-text.ts';
import { limits } from '../core/limits.ts';
import { packedBody } from '../core/packed-body.ts';
import { isObject, isRpcId, type RpcMessage, rpcErrors } from '../core/rpc.ts';
import { readBody } from './body.ts';
import { refuse, type Visit } from './visit.ts';

/** A message with its exact text. */
export interface Received {
  readonly message: RpcMessage;
  readonly text: string;
}

/** Reads a POST that holds one message; undefined when it was refused and answered. */
export async function readMessage(visit: Visit): Promise<Received | undefined> {
  const received = await readMessages(visit);
  if (!Array.isArray(received)) return received;
  refuse(visit, 400, rpcErrors.invalidRequest, 'Invalid request: no batches here; send one message per request.');
  return undefined;
}

/** Reads a POST that holds one message or a batch; undefined when it was refused and answered. */
export async function readMessages(visit: Visit): Promise<Received | Received[] | undefined> {
  const type = visit.req.headers['content-type'] ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    refuse(visit, 415, rpcErrors.invalidRequest, `Content-Type must be application/json, not "${type.slice(0, 80)}".`);
    return undefined;
  }
  const packed = packedBody(visit.req.headers['content-encoding']);
  if (packed !== undefined) {
    refuse(visit, 415, rpcErrors.invalidRequest, packed);
    return undefined;
  }
  try {
    const text = (await readBody(visit.req, limits.requestBodyBytes)).replace(/^\uFEFF/, '');
    return messagesOf(text);
  } catch (error) {
    if (error instanceof InvalidRequest) refuse(visit, 400, rpcErrors.invalidRequest, error.message);
    else if (error instanceof SyntaxError) refuse(visit, 400, rpcErrors.parse, 'Parse error: the body is not JSON.');
    else if (!(error instanceof HubError)) throw error;
    else refuse(visit, error.status, error.code === 'invalid_input' ? rpcErrors.parse : error.rpcCode, error.message);
    return undefined;
  }
}

/** JSON that is no JSON-RPC message. */
class InvalidRequest extends Error {}

/** Throws SyntaxError for what is not JSON, InvalidRequest for JSON that is no message. */
function messagesOf(text: string): Received | Received[] {
  const parsed: unknown = JSON.parse(text);
  if (isMessage(parsed)) return { message: parsed, text };
  if (Array.isArray(parsed) && parsed.length > 0 && parsed.length <= limits.batchMessages && parsed.every(isMessage)) {
    const texts = elements(text);
    return parsed.map((message, i) => ({ message, text: texts[i] ?? '' }));
  }
  throw new InvalidRequest('Invalid request: not a JSON-RPC 2.0 message.');
}

function isMessage(message: unknown): message is RpcMessage {
  if (!isObject(message) || message['jsonrpc'] !== '2.0') return false;
  const { id, method, result, error } = message;
  if (typeof method === 'string') return id === undefined || isRpcId(id);
  return method === undefined && isRpcId(id) && (result !== undefined || error !== undefined);
}
