import { z } from 'zod';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { saying } from '../../core/sentences.ts';
import { authLimits } from '../limits.ts';
import { clientMetadata, clientName, type OAuthClient, redirectsProblem } from './client.ts';
import { knownClients } from './known-clients.ts';

/**
 * Client id metadata documents (draft-ietf-oauth-client-id-metadata-document): the id of a client is an https address,
 * and what is there says who the client is.
 */
export interface ClientDocuments {
  /**
   * The client of this id, as its document says now, or said within the life that its headers gave it; one of
   * `knownClients` also while its document cannot be read. `fetching` is called before the document is fetched, and may
   * throw. Throws HubError `invalid_input` for an id that cannot be one, and for a document that cannot be read or does
   * not fit; `not_ready` while too many are being fetched.
   */
  read(id: string, fetching: () => void): Promise<OAuthClient>;
}

export interface ClientDocumentsOptions {
  /**
   * Fetches it from public addresses only, without redirects, within `authLimits.clientDocumentMs` and
   * `clientDocumentBytes`.
   */
  readonly fetch: (url: URL) => Promise<Response>;
  readonly log: Logger;
  readonly now: () => number;
}

/** Whether a client's id is the address of its document. Ids that the hub gives out have no colon. */
export function isDocumentId(id: string): boolean {
  return id.includes(':');
}

export function createClientDocuments({ fetch, log, now }: ClientDocumentsOptions): ClientDocuments {
  /** The one used last at the end. */
  const kept = new Map<string, { readonly client: OAuthClient; readonly until: number }>();
  const running = new Map<string, Promise<OAuthClient>>();

  function keep(client: OAuthClient, lifeMs: number): void {
    kept.delete(client.id);
    kept.set(client.id, { client, until: now() + lifeMs });
    for (const oldest of kept.keys()) {
      if (kept.size <= authLimits.clientDocuments) break;
      kept.delete(oldest);
    }
  }

  async function load(url: URL): Promise<OAuthClient> {
    try {
      const answer = await fetch(url);
      const client = clientIn(await answer.text(), url.href, answer);
      keep(client, lifeOf(answer.headers));
      return client;
    } catch (error) {
      log.info('client id metadata document refused', { id: url.href, error: errorText(error) });
      const known = error instanceof Unfit && !error.isUnreadable ? undefined : knownClients.get(url.href);
      if (known) {
        // One sign-in looks a client up at each of its steps.
        keep(known, authLimits.clientDocumentLeastMs);
        return known;
      }
      // What a stranger's network answers is for the log.
      const why = error instanceof Unfit ? error.message : 'it cannot be read';
      throw saying('invalid_input', 'app_undescribed', { url: url.href, why });
    }
  }

  return {
    async read(id, fetching) {
      const url = addressOf(id);
      const known = kept.get(id);
      if (known && known.until > now()) return known.client;
      const underway = running.get(id);
      if (underway) return underway;
      fetching();
      if (running.size >= authLimits.clientDocumentsAtOnce)
        throw saying('not_ready', 'apps_looked_up', {}, { retryAfterMs: authLimits.clientDocumentMs });
      const loading = load(url).finally(() => running.delete(id));
      running.set(id, loading);
      return loading;
    },
  };
}

/** Why a document is none; `isUnreadable`: its server did not show it, or not now. */
class Unfit extends Error {
  readonly isUnreadable: boolean;

  constructor(message: string, isUnreadable = false) {
    super(message);
    this.isUnreadable = isUnreadable;
  }
}

function addressOf(id: string): URL {
  const url = URL.canParse(id) ? new URL(id) : undefined;
  // In one spelling: ids are compared as text.
  const isPlain = url?.href === id && !/[?#]/.test(id) && url.username === '' && url.password === '';
  if (url?.protocol === 'https:' && isPlain && url.pathname !== '/' && id.length <= authLimits.clientDocumentIdChars)
    return url;
  throw saying('invalid_input', 'app_address');
}

const document = clientMetadata.extend({
  client_id: z.string(),
  client_secret: z.never().optional(),
  token_endpoint_auth_method: z
    .string()
    .refine((method) => !method.startsWith('client_secret'))
    .optional(),
});

function clientIn(text: string, id: string, { status, headers }: Response): OAuthClient {
  const turnedAway = status === 401 || status === 403 || status === 429 || status >= 500;
  if (status !== 200) throw new Unfit(`there is no document (status ${status})`, turnedAway);
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? ''))
    throw new Unfit('what is there is no JSON');
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    throw new Unfit('what is there is no JSON');
  }
  const { data, error } = document.safeParse(said);
  if (!data) {
    const members = error.issues.map(({ path }) => path.join('.') || 'the document');
    throw new Unfit(`it has no usable ${[...new Set(members)].join(', ')}`);
  }
  if (data.client_id !== id) throw new Unfit('what is there describes another one');
  const problem = redirectsProblem(data.redirect_uris);
  if (problem !== undefined) throw new Unfit(`it is not usable: ${problem.replace(/\.$/, '')}`);
  return { id, name: clientName(data.client_name ?? ''), redirectUris: data.redirect_uris, isProven: true };
}

/** How long a document counts (RFC 9111 §5.2), within bounds: also one that says to keep nothing serves one sign-in. */
function lifeOf(headers: Headers): number {
  const said = headers.get('cache-control') ?? '';
  const [, maxAge] = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(said) ?? [];
  const age = Number.parseInt(headers.get('age') ?? '', 10) || 0;
  const { clientDocumentFreshMs: usual, clientDocumentLeastMs: least, clientDocumentMostMs: most } = authLimits;
  if (/no-store|no-cache/i.test(said)) return least;
  const lifeMs = maxAge === undefined ? usual : (Number(maxAge) - age) * 1000;
  return Math.min(Math.max(lifeMs, least), most);
}
