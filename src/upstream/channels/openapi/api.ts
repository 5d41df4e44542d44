import { HubError } from '../../../core/errors.ts';
import { type Reason, reasonWords } from '../../../core/reasons.ts';
import type { Logger } from '../../../core/logger.ts';
import { upstreamLimits } from '../../limits.ts';
import type { OpenapiConfig } from './config.ts';
import type { CredentialSource } from './credentials.ts';
import { openDeadline, unlessAborted } from './deadline.ts';
import { checked, parseDocument } from './document.ts';
import type { Answer, Credentials, HttpClient } from './http.ts';
import { readInThread } from './document-thread.ts';
import { type CalledOperation, openOperations, type Operations, type Reading } from './operations.ts';
import { type Pages, readPages } from './pages.ts';
import type { Document } from './pointer.ts';
import { readDocument, type ReadDocument } from './read-document.ts';

/** A document that was loaded: what it says of itself, the list of its tools, and its operations by tool name. */
export interface Api {
  readonly title: string;
  readonly version: string;
  readonly description: string | undefined;
  operation(name: string): CalledOperation | undefined;
  readonly tools: Pages;
}

interface Loading {
  readonly name: string;
  readonly config: OpenapiConfig;
  readonly http: HttpClient;
  /** For fetching the document, and for what the tools need not ask for. */
  readonly documentCredentials: CredentialSource;
  readonly credentials: CredentialSource;
  readonly timeoutMs: number;
  /** Aborts when the channel is closed. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Loads the document of a server. Throws HubError with what is wrong with it; parts that cannot be used are left out
 * and logged.
 */
export async function loadApi(loading: Loading): Promise<Api> {
  const { name, config, credentials, log } = loading;
  const { source, servers, media } = config;
  const startedAt = performance.now();
  const documentUrl = 'url' in source ? source.url.href : undefined;
  const reading = { documentUrl, supplied: credentials.supplied, servers, media };
  const read =
    'url' in source
      ? await readFetched(await fetchDocument(loading, source.url), shownAddress(source.url), reading, loading.signal)
      : await readDocument(inlineDocument(name, source.schema), reading);
  report(read.operations, name, log);
  log.debug('OpenAPI document loaded', {
    tools: read.operations.byName.size,
    ms: Math.round(performance.now() - startedAt),
  });
  return {
    title: read.title ?? name,
    version: read.version ?? '0',
    description: read.description,
    operation: openOperations(read.operations),
    tools: readPages(read.operations.tools),
  };
}

/** A large document would keep the hub from everything else while it is read, so that is done in a thread. */
function readFetched(bytes: Buffer, shown: string, reading: Reading, signal: AbortSignal): Promise<ReadDocument> {
  return bytes.length > upstreamLimits.openapiThreadBytes
    ? readInThread({ bytes, shown, reading }, signal)
    : readDocument(parseDocument(bytes.toString(), shown), reading);
}

/** Without its query, which may hold a key. */
const shownAddress = (url: URL): string => `${url.origin}${url.pathname}`;

/**
 * Sends with the credentials of a source, once more with others when they are refused with 401. A signal ends the
 * waiting for a token, not the fetching of it: others wait for the same one.
 */
export async function sendAuthorized(
  source: CredentialSource,
  signal: AbortSignal,
  send: (credentials: Credentials) => Promise<Answer>,
): Promise<Answer> {
  const first = await unlessAborted(source.current(), signal);
  const answer = await send(first);
  if (answer.status !== 401) return answer;
  const second = await unlessAborted(source.renew(first), signal);
  return second === undefined ? answer : send(second);
}

async function fetchDocument({ name, http, documentCredentials, timeoutMs }: Loading, url: URL): Promise<Buffer> {
  const shown = shownAddress(url);
  const late = `Fetching the OpenAPI document of server "${name}" from ${shown} took longer than ${timeoutMs} ms.`;
  const deadline = openDeadline(timeoutMs, late);
  const { signal } = deadline;
  const accept = 'application/json, application/yaml, application/x-yaml, text/yaml, */*';
  const request = { method: 'GET', url, headers: { accept }, cookies: [], body: undefined };
  const common = {
    request,
    maxBytes: upstreamLimits.openapiDocumentBytes,
    redirects: upstreamLimits.openapiRedirects,
    signal,
  };
  try {
    const answer = await sendAuthorized(documentCredentials, signal, (credentials) =>
      http.send({ ...common, credentials }),
    );
    if (answer.status === 200) return answer.bytes;
    const refused = answer.status === 401 || answer.status === 403;
    const reason: Reason = {
      code: refused ? 'api_credential' : 'api_not_fetched',
      values: { where: shown, status: `HTTP ${answer.status}` },
    };
    const advice = refused ? ` ${reasonWords(reason).advice}` : '';
    throw new HubError(
      'upstream_failed',
      `Cannot fetch the OpenAPI document of server "${name}" from ${shown}: HTTP ${answer.status}.${advice}`,
      { reason },
    );
  } finally {
    deadline.done();
  }
}

function inlineDocument(name: string, schema: unknown): Document {
  const source = `"openapi.schema" of server "${name}"`;
  return typeof schema === 'string' ? parseDocument(schema, source) : checked(schema, source);
}

function report({ byName, problems, unused }: Operations, name: string, log: Logger): void {
  if (unused.length > 0)
    log.warn('"openapi.mediaTypes" does not fit the OpenAPI document', { count: unused.length, first: unused[0] });
  const [first] = problems;
  if (first === undefined) return;
  if (byName.size === 0)
    throw new HubError(
      'misconfigured',
      `The OpenAPI document of server "${name}" has no operation that can be used: ${first}.`,
      { reason: { code: 'api_without_operations', values: { why: first } } },
    );
  log.warn('parts of the OpenAPI document were left out', { count: problems.length, first });
}
