import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { json, scriptedHttp } from './scripted-http.ts';

/** What goes wrong. A number is a status; the texts are what is done to an answer that is otherwise good. */
export type Fault =
  | number
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'hang'
  | 'break off'
  | 'truncated'
  | 'no json'
  | 'null'
  | 'zero'
  | 'NaN'
  | 'wrong size'
  | 'one short';

/** Everything one request asked for. */
export interface EmbeddingRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly apiKey: string | undefined;
  readonly model: string;
  readonly texts: readonly string[];
  readonly dimensions: number | undefined;
  readonly encoding: string | undefined;
}

/**
 * A service that speaks OpenAI's `POST /embeddings`, with vectors that depend on nothing but the text and the model.
 */
export interface EmbeddingFixture {
  /** For `OPENAI_API_BASE_URL`. */
  readonly url: string;
  readonly origin: string;
  readonly requests: readonly EmbeddingRequest[];
  /** Every text it was asked for, as often as it was. */
  texts(): string[];
  /** What goes wrong from now on: with everything, or with what the function says. */
  fail(fault: Fault | undefined | ((request: EmbeddingRequest) => Fault | undefined)): void;
  /** The only key it takes; any when undefined. */
  key: string | undefined;
  /** Numbers of a vector, where the request does not ask for a size. */
  dimensions: number;
  /** Texts it takes in one request, and characters in one text. */
  most: number;
  mostChars: number;
  /** Whether it can answer in base64; others always answer with numbers. */
  base64: boolean | 'refused';
  close(): Promise<void>;
}

/** Starts one on a free port of 127.0.0.1; it is stopped at the end of the test. */
export async function embeddingService(): Promise<EmbeddingFixture> {
  const requests: EmbeddingRequest[] = [];
  let fault: (request: EmbeddingRequest) => Fault | undefined = () => undefined;

  const http = await scriptedHttp((seen, response) => {
    const body = seen.message as unknown as Record<string, unknown>;
    const request: EmbeddingRequest = {
      path: seen.path,
      authorization: seen.headers.authorization,
      apiKey: seen.headers['api-key'] as string | undefined,
      model: body['model'] as string,
      texts: body['input'] as string[],
      dimensions: body['dimensions'] as number | undefined,
      encoding: body['encoding_format'] as string | undefined,
    };
    requests.push(request);
    answer(request, response);
  });

  const fixture: EmbeddingFixture = {
    url: `${http.origin}/v1`,
    origin: http.origin,
    requests,
    texts: () => requests.flatMap(({ texts }) => texts),
    fail: (next) => (fault = typeof next === 'function' ? next : () => next),
    key: undefined,
    dimensions: 64,
    most: 2_048,
    mostChars: 100_000,
    base64: true,
    close: http.close,
  };

  function answer(request: EmbeddingRequest, response: ServerResponse): void {
    const given = request.authorization?.replace(/^Bearer /, '') ?? request.apiKey;
    const wrong = fault(request);
    if (fixture.key !== undefined && given !== fixture.key) return refuse(response, 401, 'Incorrect API key provided');
    if (typeof wrong === 'number') return refuse(response, wrong, 'It fails');
    if (typeof wrong === 'object') {
      response.writeHead(wrong.status, wrong.headers).end(wrong.body ?? '');
      return;
    }
    if (wrong === 'hang') return;
    if (wrong === 'break off') return void response.destroy();
    if (wrong === 'no json') return void response.end('<html>a proxy</html>');
    if (request.encoding === 'base64' && fixture.base64 === 'refused')
      return refuse(response, 400, 'Unknown member: encoding_format');
    if (request.texts.length > fixture.most) return refuse(response, 413, `At most ${fixture.most} texts`);
    if (request.texts.some((text) => text.length > fixture.mostChars))
      return refuse(response, 400, 'A text is too long');
    const size = (request.dimensions ?? fixture.dimensions) + (wrong === 'wrong size' ? 3 : 0);
    const vectors = request.texts.map((text) => spoilt(vectorOf(text, request.model, size), wrong));
    const asBase64 = request.encoding === 'base64' && fixture.base64 === true;
    const data = vectors.map((vector, index) => ({
      index,
      embedding: asBase64 ? base64(vector) : vector && [...vector],
    }));
    if (wrong === 'one short') data.pop();
    if (wrong !== 'truncated') return json(response, { object: 'list', data, model: request.model });
    const text = JSON.stringify({ data });
    response.writeHead(200, { 'content-type': 'application/json' }).end(text.slice(0, text.length / 2));
  }

  return fixture;
}

/** Texts that share words are alike, and the more so the more they share. */
export function vectorOf(text: string, model: string, size: number): Float32Array {
  const vector = new Float32Array(size);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? ['nothing']) {
    const bytes = createHash('sha256')
      .update(`${model} ${word.replace(/s$/, '')}`)
      .digest();
    for (let i = 0; i < 4; i++) {
      const at = bytes.readUInt16LE(i * 4) % size;
      vector[at] = (vector[at] ?? 0) + ((bytes[i * 4 + 2] ?? 0) % 2 === 0 ? 1 : -1);
    }
  }
  // Never all zeros.
  vector[0] = (vector[0] ?? 0) + 0.5;
  return vector;
}

function spoilt(vector: Float32Array, fault: Fault | undefined): Float32Array | null {
  if (fault === 'null') return null;
  if (fault === 'zero') return vector.fill(0);
  if (fault === 'NaN') vector[1] = Number.NaN;
  return vector;
}

function base64(vector: Float32Array | null): string | null {
  return vector && Buffer.from(vector.buffer).toString('base64');
}

function refuse(response: ServerResponse, status: number, message: string): void {
  json(response, { error: { message } }, {}, status);
}
