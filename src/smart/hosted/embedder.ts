import { errorText, HubError } from '../../core/errors.ts';
import { smartLimits } from '../limits.ts';
import { cutToTokens } from './cut-to-tokens.ts';
import { type Embedded, readEmbeddings } from './embedding-answer.ts';
import type { EmbeddingService } from './embedding-choice.ts';

/**
 * Asks an embedding service for vectors: OpenAI, Azure, or whatever speaks their `POST /embeddings`. One request a call
 * and nothing else: when to try again is for the caller to decide.
 */
export interface HostedEmbedder {
  /** `text` as far as the model reads it: what does not change this does not change the vector. */
  readonly readable: (text: string) => string;
  /**
   * The vectors of the texts, in their order. Rejects with HubError, its message a reason that may be shown to every
   * user, its cause what the service said: `unauthenticated` the key, `misconfigured` the model or address,
   * `invalid_input` these texts (too many, too long), `too_many` with `retryAfterMs`, `timeout`,
   * `upstream_unavailable`, `upstream_failed` an answer that is none, `cancelled` when the signal is aborted.
   */
  embed(texts: readonly string[], timeoutMs: number, signal?: AbortSignal): Promise<Embedded[]>;
  /** Breaks off what is under way. */
  close(): Promise<void>;
}

/** The HTTP client is loaded for the first request. */
async function openClient() {
  const { Agent, request } = await import('undici');
  const agent = new Agent({ connections: smartLimits.embeddingConnections, headersTimeout: 0, bodyTimeout: 0 });
  return { request, agent };
}

export function createHostedEmbedder(service: EmbeddingService): HostedEmbedder {
  let client: ReturnType<typeof openClient> | undefined;
  const { encodingFormat } = service;
  /**
   * Base64 is a quarter of the bytes. What does not know it mostly answers with numbers, and some refuse the member.
   */
  let encoding = encodingFormat === 'auto' ? 'base64' : encodingFormat;

  async function embed(texts: readonly string[], timeoutMs: number, signal?: AbortSignal): Promise<Embedded[]> {
    const answer = await post(texts, timeoutMs, signal);
    if (answer.status === 200) return readEmbeddings(answer.body, texts.length);
    if (encodingFormat === 'auto' && encoding !== 'float' && /encoding_?format/i.test(answer.body)) {
      encoding = 'float';
      return embed(texts, timeoutMs, signal);
    }
    throw refusal(answer);
  }

  async function post(texts: readonly string[], timeoutMs: number, signal: AbortSignal | undefined): Promise<Answer> {
    const { model, dimensions, url, headers } = service;
    const body = JSON.stringify({
      // Halves of characters, which a server's text or a cut may have, are no Unicode: some services refuse them.
      input: texts.map((text) => text.replace(/[\ud800-\udfff]/gu, '\ufffd')),
      model,
      ...(dimensions !== undefined && { dimensions }),
      encoding_format: encoding,
    });
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    const left = (): void => deadline.abort();
    signal?.addEventListener('abort', left);
    try {
      signal?.throwIfAborted();
      const { request, agent } = await (client ??= openClient());
      const answer = await request(url, {
        dispatcher: agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        body,
        signal: deadline.signal,
      });
      const retryAfterMs = retryAfter(answer.headers['retry-after']);
      return { status: answer.statusCode, body: await bounded(answer.body), retryAfterMs };
    } catch (error) {
      if (signal?.aborted)
        throw new HubError('cancelled', 'the request to the embedding service was broken off', { cause: error });
      if (deadline.signal.aborted) throw new HubError('timeout', 'the embedding service did not answer in time');
      throw error instanceof HubError ? error : unreachable(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', left);
    }
  }

  return {
    readable: (text) => cutToTokens(text, service.maxTokens),
    embed,
    async close() {
      await (await client)?.agent.destroy();
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly retryAfterMs: number | undefined;
}

async function bounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > smartLimits.embeddingAnswerBytes)
      throw new HubError('upstream_failed', 'the answer of the embedding service is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString('utf8');
}

/** Seconds, or a date (RFC 9110 §10.2.3). */
function retryAfter(given: string | string[] | undefined): number | undefined {
  const text = [given].flat()[0]?.trim() ?? '';
  const ms = /^\d{1,9}(?:\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function refusal({ status, body, retryAfterMs }: Answer): HubError {
  const cause = new Error(body.slice(0, smartLimits.embeddingWordsChars));
  switch (status) {
    case 401:
    case 403:
      return new HubError('unauthenticated', `the embedding service refused the key (${status})`, { cause });
    case 404:
      return new HubError('misconfigured', 'the embedding service does not know the address or the model (404)', {
        cause,
      });
    case 400:
    case 413:
    case 422:
      return new HubError('invalid_input', `the embedding service refused the text (${status})`, { cause });
    case 429:
      return new HubError('too_many', 'the embedding service takes no more requests for now (429)', {
        cause,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      });
  }
  const code = status >= 500 ? 'upstream_unavailable' : 'misconfigured';
  return new HubError(code, `the embedding service answered with an error (${status})`, {
    cause,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function unreachable(error: unknown): HubError {
  // Several addresses tried: undici reports them as one AggregateError.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return new HubError('upstream_unavailable', 'the embedding service cannot be reached', {
    cause: new Error(errorText(first)),
  });
}
