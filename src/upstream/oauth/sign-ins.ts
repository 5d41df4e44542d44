import { HubError } from '../../core/errors.ts';
import type { LoggerFor } from '../../core/logger.ts';
import type { RemoteTransport, ServerSettings, TransportSettings } from '../../core/settings.ts';
import type { Credential } from '../credential.ts';
import type { AddressPolicy } from '../safe-address.ts';
import type { Account } from './account.ts';
import { addressOf, createAccounts } from './accounts.ts';
import { type Attempt, createAttempts } from './attempts.ts';
import { clientDocument, clientDocumentUrl } from './client-document.ts';
import { isFailureCode } from './failure.ts';
import type { Grants } from './grants.ts';

export interface SignInsOptions {
  readonly grants: Grants;
  /** The hub's address as browsers reach it, without a slash at the end and without `BASE_PATH`. */
  readonly publicUrl: () => string;
  /** The server's transport with its placeholders filled in. Throws HubError when it cannot be used. */
  readonly expand: (server: ServerSettings) => TransportSettings;
  readonly addresses: (server: ServerSettings) => AddressPolicy;
  /** The server of that name now. */
  readonly server: (name: string) => ServerSettings | undefined;
  /** True while this user may manage the server. */
  readonly manages: (username: string, server: ServerSettings) => boolean;
  readonly userAgent: string;
  /** Somebody signed in: what waits for that may go on. */
  readonly signedIn: (server: string) => void;
  /** Tokens, or an address to open, are not what they were. Raise a flag and return. */
  readonly changed: () => void;
  readonly log: LoggerFor;
}

/** The hub as OAuth client of its servers (MCP, Authorization): who is signed in where, and how to sign in. */
export interface SignIns {
  /** What one channel to a server authorizes itself with. */
  readonly credential: (server: ServerSettings, transport: RemoteTransport) => Credential;
  /** The address somebody has to open before the hub can use the server. */
  readonly authorizationUrl: (server: string) => string | undefined;
  /** Begins a sign-in for a user: the address to open. Throws HubError `conflict` when the server has no use for one, or why it cannot be begun. */
  readonly begin: (server: ServerSettings, by: string) => Promise<string>;
  /** Takes the answer of an authorization server, as its query says it; gives the server's name. Throws HubError with what to do. */
  readonly finish: (query: URLSearchParams) => Promise<string>;
  /** Signs out. With `all` the hub forgets its registration there too. */
  readonly disconnect: (server: ServerSettings, all: boolean) => Promise<void>;
  /** Forgets what is kept for servers that are gone, or at another address now. */
  readonly reconcile: () => void;
  /** The hub's document for authorization servers; undefined when they could not fetch it. */
  readonly clientDocument: () => object | undefined;
  readonly close: () => Promise<void>;
}

export function createSignIns(options: SignInsOptions): SignIns {
  const { grants, log } = options;
  const attempts = createAttempts();
  const accounts = createAccounts(options, attempts);

  /** The account an answer is for. Throws HubError when it is for none. */
  function accountFor({ server: name, by }: Attempt): Account {
    const server = options.server(name);
    const account = accounts.get(name);
    if (!server || !account) throw new HubError('not_found', `${refused} The server it was for is gone.`);
    if (by !== undefined && !options.manages(by, server)) {
      account.renewUrl();
      throw new HubError('forbidden', `${refused} Whoever began it may not manage the server any more.`);
    }
    return account;
  }

  return {
    credential: (server, transport) => accounts.of(server, transport).credential(),
    authorizationUrl: (server) => accounts.get(server)?.authorizationUrl,
    async begin(server, by) {
      return accounts.of(server, signInTransport(server, options.expand(server))).begin(by);
    },
    async finish(query) {
      const state = only(query, 'state');
      const attempt = state === undefined ? undefined : attempts.take(state);
      if (!attempt) throw new HubError('invalid_input', `${refused} It has expired, or was used already. Begin again.`);
      const account = accountFor(attempt);
      try {
        const answer = await readAnswer(query, attempt);
        await account.redeem(attempt, answer);
      } catch (error) {
        account.renewUrl();
        throw error;
      }
      log(`server:${attempt.server}`).info('signed in', { ...(attempt.by !== undefined && { by: attempt.by }) });
      options.signedIn(attempt.server);
      return attempt.server;
    },
    async disconnect(server, all) {
      await accounts.of(server, signInTransport(server, options.expand(server))).disconnect(all);
    },
    reconcile() {
      for (const { server: name, address } of grants.all()) {
        const server = options.server(name);
        const now = server && currentAddress(server, options.expand);
        if (now === address || now === 'unknown') continue;
        log(`server:${name}`).info('the sign-in is forgotten: the server is gone, or at another address');
        accounts.forget(name);
        void grants.delete(name);
      }
      for (const name of accounts.names()) if (!options.server(name)) accounts.forget(name);
    },
    clientDocument() {
      const publicUrl = options.publicUrl();
      const documentUrl = clientDocumentUrl(publicUrl);
      return documentUrl === undefined ? undefined : clientDocument(publicUrl, documentUrl);
    },
    async close() {
      for (const name of accounts.names()) accounts.forget(name);
      await grants.close();
    },
  };
}

const refused = 'This sign-in cannot be finished.';

/** The code and the issuer of an answer. Whom it is from is checked before anything else is believed (RFC 9207 §2.4). */
async function readAnswer(
  query: URLSearchParams,
  attempt: Attempt,
): Promise<{ code: string; iss: string | undefined }> {
  const { checkIssuer, refusalOf } = await import('./flows.ts');
  const iss = only(query, 'iss');
  try {
    checkIssuer(attempt.authority, iss ?? (query.has('iss') ? '' : undefined));
  } catch (error) {
    throw refusalOf(error, `Cannot finish signing in to server "${attempt.server}"`);
  }
  const error = only(query, 'error');
  if (query.has('error')) {
    const why = error !== undefined && isFailureCode(error) ? ` (${error})` : '';
    const text = `Signing in to server "${attempt.server}" was refused there${why}. Begin again if that was a mistake.`;
    throw new HubError('invalid_input', text);
  }
  const code = only(query, 'code');
  if (code === undefined) throw new HubError('invalid_input', `${refused} The answer has no code. Begin again.`);
  return { code, iss };
}

/** A parameter that is there once; twice, nobody knows which is meant. */
function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}

/** Throws HubError `conflict` for a server that nobody can sign in to. */
function signInTransport({ name }: ServerSettings, transport: TransportSettings): RemoteTransport {
  const attempt = `Nobody signs in to server "${name}"`;
  if (transport.type === 'stdio' || transport.type === 'openapi')
    throw new HubError('conflict', `${attempt}: it is not a remote MCP server.`);
  const hasOwn = Object.keys(transport.headers).some((header) => header.toLowerCase() === 'authorization');
  const { username, password } = new URL(transport.url);
  if (hasOwn || username !== '' || password !== '')
    throw new HubError('conflict', `${attempt}: its settings have a credential. Remove that first.`);
  return transport;
}

/** `unknown` while the settings of the server cannot be used. */
function currentAddress(server: ServerSettings, expand: SignInsOptions['expand']): string | undefined {
  let transport: TransportSettings;
  try {
    transport = expand(server);
  } catch {
    return 'unknown';
  }
  return 'url' in transport ? addressOf(transport.url) : undefined;
}
