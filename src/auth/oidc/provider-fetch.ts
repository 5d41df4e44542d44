import { authLimits } from '../limits.ts';

/** The provider gives no whole answer; the message says why, and quotes nothing of the answer. */
export class ProviderAway extends Error {}

/**
 * Asks a provider or a trusted issuer, whose addresses an admin vouches for: an answer within
 * `authLimits.providerRequestMs` and of `authLimits.providerAnswerBytes` at most, no redirects, no cookies. Throws
 * `ProviderAway`.
 */
export async function providerFetch(
  address: string | URL,
  init: { method?: string; headers?: Readonly<Record<string, string>>; body?: string | undefined } = {},
): Promise<Response> {
  const { request } = await import('undici');
  const url = new URL(address);
  const where = url.origin + url.pathname;
  const signal = AbortSignal.timeout(authLimits.providerRequestMs);
  try {
    const { method = 'GET', body = null } = init;
    const sent = { accept: 'application/json', ...init.headers };
    const answer = await request(url, { method: method === 'POST' ? 'POST' : 'GET', headers: sent, body, signal });
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) headers.set(name, [value ?? ''].flat().join(', '));
    const text = await limited(answer.body, where);
    const isBodyless = [204, 205, 304].includes(answer.statusCode);
    return new Response(isBodyless ? null : text, { status: answer.statusCode, headers });
  } catch (error) {
    const slow = `does not answer within ${authLimits.providerRequestMs / 1_000} s`;
    const why = signal.aborted ? slow : `cannot be reached: ${error instanceof Error ? error.message : 'unknown'}`;
    throw new ProviderAway(`${where} ${why}`, { cause: error });
  }
}

/** The object that a provider answers with status 200. Throws as `providerFetch` does. */
export async function providerJson(address: string): Promise<Record<string, unknown>> {
  const answer = await providerFetch(address);
  if (answer.status !== 200) throw new Error(`${address} answers with status ${answer.status}`);
  const said: unknown = await answer.json().catch(() => undefined);
  if (typeof said !== 'object' || said === null || Array.isArray(said)) throw new Error(`${address} answers no object`);
  return said as Record<string, unknown>;
}

async function limited(body: AsyncIterable<Uint8Array>, where: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > authLimits.providerAnswerBytes) throw new Error(`${where} answers more than fits`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
