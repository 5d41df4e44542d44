import { createHash } from 'node:crypto';
import { HubError } from '../../core/errors.ts';
import type { LoggerFor } from '../../core/logger.ts';
import type { RemoteTransport, ServerSettings } from '../../core/settings/server.ts';
import { type Credential, type Refusal, SignInRequired } from '../channels/credential.ts';
import type { AddressPolicy } from '../channels/safe-address.ts';
import { type Answer, type Attempt, type Attempts, hashOf, newSecret } from './attempts.ts';
import { grantId, type GrantKey, type Grants } from './grants.ts';
import { type HeldTokens, type HeldTokensOptions, holdTokens, keptGrant } from './held-tokens.ts';
import { negotiate, type Negotiation, type NegotiationOptions, type Prepared } from './negotiation.ts';
import { callbackPath, clientDocumentUrl, startUrl } from './oauth-client.ts';

export interface AccountsOptions {
  readonly grants: Grants;
  /** The hub's address as browsers reach it, without a slash at the end and without `BASE_PATH`. */
  readonly publicUrl: () => string;
  readonly addresses: (server: ServerSettings) => AddressPolicy;
  /** The server of that name now. */
  readonly server: (name: string) => ServerSettings | undefined;
  /** When this user was made, as the settings say it: tells two of one name apart that were never there together. */
  readonly userSince: (username: string) => string | undefined;
  readonly userAgent: string;
  /** See `NegotiationOptions`. */
  readonly tracing?: NegotiationOptions['tracing'];
  /** A user signed in, at this hub or another: what waits for that may go on. */
  readonly signedIn: (key: GrantKey) => void;
  /**
   * The server has to be connected again: the sign-in it was connected with is gone, or its tools are to be listed with
   * another.
   */
  readonly relist: (server: string) => void;
  /** Tokens, or who has to sign in, are not what they were. Raise a flag and return. */
  readonly changed: () => void;
  readonly log: LoggerFor;
}

/**
 * The accounts of all servers, and of users where they sign in alone, that were used or signed in to, each as its
 * server is set up now.
 */
export interface Accounts {
  /** Made when it is not there, and made again when the server is now reached in another way. */
  of(server: ServerSettings, transport: RemoteTransport, holder: string | undefined): Account;
  get(key: GrantKey): Account | undefined;
  keys(): GrantKey[];
  forget(key: GrantKey): void;
}

export function createAccounts(options: AccountsOptions, attempts: Attempts): Accounts {
  const accounts = new Map<string, { readonly key: GrantKey; readonly account: Account; readonly setup: string }>();
  const preparing = new Map<string, Promise<unknown>>();

  /**
   * Whatever comes of the one that is under way: only the first is waited for, or a dead authorization server would
   * keep a queue waiting.
   */
  async function afterOther<T>(server: string, work: () => Promise<T>): Promise<T> {
    const other = preparing.get(server);
    if (other) {
      await other.catch(() => undefined);
      return work();
    }
    const own = work();
    preparing.set(server, own);
    try {
      return await own;
    } finally {
      preparing.delete(server);
    }
  }

  function open(server: ServerSettings, { url: text, oauth = {} }: RemoteTransport, key: GrantKey, setup: string) {
    const { name } = server;
    const url = new URL(text);
    url.username = '';
    url.password = '';
    const about = {
      server: name,
      holder: key.holder,
      userSince: options.userSince,
      url,
      address: addressOf(text),
      oauth,
      setup,
      policy: () => options.addresses(options.server(name) ?? server),
      userAgent: options.userAgent,
      tracing: options.tracing,
      redirectUri: () => oauth.redirectUri ?? options.publicUrl() + callbackPath,
      startUrl: () => startUrl(options.publicUrl(), name),
      documentUrl: () => clientDocumentUrl(options.publicUrl()),
      afterOther: <T>(work: () => Promise<T>) => afterOther(name, work),
      log: options.log(`server:${name}`),
      changed: options.changed,
      signedIn: () => options.signedIn(key),
      // For servers that each user signs in to alone, the listing accounts decide with whose sign-in the tools are
      // listed (`ListingAccounts`).
      signedOut: () => (key.holder === undefined ? options.relist(name) : undefined),
    };
    return createAccount(about, options.grants, attempts);
  }

  return {
    of(server, transport, holder) {
      const key = { server: server.name, holder };
      const id = grantId(key);
      const setup = setupOf(transport);
      const known = accounts.get(id);
      if (known?.setup === setup) return known.account;
      known?.account.close();
      const account = open(server, transport, key, setup);
      accounts.set(id, { key, account, setup });
      return account;
    },
    get: (key) => accounts.get(grantId(key))?.account,
    keys: () => [...accounts.values()].map(({ key }) => key),
    forget(key) {
      accounts.get(grantId(key))?.account.close();
      accounts.delete(grantId(key));
    },
  };
}

/** Everything that a sign-in depends on, as one mark. */
export function setupOf({ url, oauth }: RemoteTransport): string {
  return createHash('sha256')
    .update(JSON.stringify([url, oauth]))
    .digest('base64url');
}

/** All of a server's url that tokens are bound to: on a shared host the path tells whose they are. */
export function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

interface AccountOptions extends NegotiationOptions, HeldTokensOptions {
  /**
   * Runs `work` once another account of the server has prepared its sign-in: the hub registers itself once for all
   * users.
   */
  readonly afterOther: <T>(work: () => Promise<T>) => Promise<T>;
  /** Marks how the server is set up, alike in all hubs. */
  readonly setup: string;
  /** Where people begin to sign in. */
  readonly startUrl: () => string;
  /** A user signed in, at this hub or another that shares the sign-ins. */
  readonly signedIn: () => void;
  /** A user signed out, at another hub. */
  readonly signedOut: () => void;
}

/** A sign-in that begins in a browser. */
export interface Begun {
  /** The page of the authorization server. */
  readonly authorizationUrl: string;
  readonly state: string;
  /** What the browser has to show when it comes back with the answer to `state`. */
  readonly browser: string;
}

/** The hub's sign-in to one server, or that of one user, as the server is set up now. */
export interface Account {
  /** For one channel. */
  credential(): Credential;
  readonly isSignedIn: boolean;
  /** Nothing works until a user signs in, or more rights are wanted than the last sign-in gave. */
  readonly isWaiting: boolean;
  /** Begins a sign-in for the user who asks. Throws HubError when the server offers none. */
  begin(by: string): Promise<Begun>;
  /**
   * Takes the answer of an attempt of this account. `confirm` throws when the attempt is good for nothing any more: the
   * authorization server may take its time. Throws HubError.
   */
  redeem(attempt: Attempt, answer: Answer, confirm: () => void): Promise<void>;
  /** Forgets the tokens, with `all` the registration too, and asks the authorization server to do the same. */
  disconnect(all: boolean): Promise<void>;
  close(): void;
}

function createAccount(options: AccountOptions, grants: Grants, attempts: Attempts): Account {
  const { server, holder, address, log } = options;
  const negotiation = negotiate(options);
  const tokens = holdTokens(options, grants, (grant) => negotiation.renew(grant), {
    gained() {
      authorizationRequest.end();
      options.signedIn();
    },
    lost: options.signedOut,
  });
  const authorizationRequest = createAuthorizationRequest(options, { negotiation, tokens, grants });
  let closed = false;

  /** `works`: only this request is affected, the connection stays. */
  function signInRequired(works: boolean, why: string): HubError {
    const cause = works ? {} : { cause: new SignInRequired() };
    if (holder !== undefined) return ownSignInRequired(server, why, options.startUrl(), cause);
    const text = `Server "${server}" ${why}. Its owner and admins find the address to open in the list of servers.`;
    return new HubError('upstream_unavailable', text, { ...cause, told: text });
  }

  async function refused({ status, sent, challenge, again }: Refusal, works: boolean): Promise<void> {
    if (status === 403) {
      await authorizationRequest.ask(challenge, tokens.grant?.tokens?.scope);
      throw signInRequired(works, 'wants more rights than the last sign-in gave');
    }
    if (again) {
      if (works) {
        const text = `Server "${server}" refuses this although its sign-in was just renewed.`;
        throw new HubError('upstream_failed', text, { told: text });
      }
    } else if (await tokens.renew(sent)) {
      return;
    }
    await authorizationRequest.ask(challenge);
    throw signInRequired(false, 'needs a user to sign in');
  }

  const about = (by: string) => ({ setup: options.setup, server, holder, by, bySince: options.userSince(by) });

  return {
    credential() {
      let works = false;
      return {
        header: () => tokens.header(),
        pending: () => tokens.pending(),
        accepted() {
          works = true;
        },
        refused: (refusal) => refused(refusal, works),
      };
    },
    get isSignedIn() {
      return tokens.grant?.tokens !== undefined;
    },
    get isWaiting() {
      return authorizationRequest.isOpen;
    },
    async begin(by) {
      // As it is when they ask: another user may have the name by the time that the authorization server has answered.
      const whose = about(by);
      const prepared = await authorizationRequest.prepare();
      const [state, browser] = [newSecret(), newSecret()];
      const { url, verifier } = await negotiation.authorizationUrl(prepared, state);
      if (closed) throw setUpAnew(server);
      await attempts.add(state, { ...prepared, ...whose, browser: hashOf(browser), verifier });
      return { authorizationUrl: url, state, browser };
    },
    async redeem(attempt, answer, confirm) {
      const { client, authority } = attempt;
      const got = await negotiation.redeem(attempt, answer);
      if (closed) throw setUpAnew(server);
      confirm();
      const { issuer, resource } = authority;
      await tokens.adopt({ server, address, issuer, resource, client, tokens: got });
    },
    async disconnect(all) {
      const { grant } = tokens;
      authorizationRequest.end();
      await tokens.drop(all);
      try {
        if (grant) await negotiation.revoke(grant);
      } catch (error) {
        // What the hub forgot it cannot use, whatever becomes of it there.
        log.warn('tokens are forgotten, but not revoked', { error: error instanceof HubError ? error.message : '' });
      }
    },
    close() {
      closed = true;
      authorizationRequest.close();
      tokens.close();
    },
  };
}

function setUpAnew(server: string): HubError {
  return new HubError('conflict', `Server "${server}" was set up again meanwhile. Begin again.`);
}

/** The error for one user who has to sign in alone: this user can sign in, and other users are not affected. */
export function ownSignInRequired(
  server: string,
  why: string,
  startUrl: string,
  more: { readonly cause?: unknown } = {},
): HubError {
  const text = `Server "${server}" ${why}. Open ${startUrl} in a browser and sign in there, then try again.`;
  return new HubError('oauth_required', text, { ...more, authorizationUrl: startUrl });
}

/** Whether users are asked to sign in, and for which rights. */
interface AuthorizationRequest {
  readonly isOpen: boolean;
  /**
   * Prepares what is needed to ask users to sign in; once for all requests that were refused. Throws HubError when the
   * server offers no sign-in.
   */
  ask(challenge: string | undefined, heldScope?: string): Promise<void>;
  /**
   * Finds out how to sign in, with the rights that were asked for; always again, because what was known may be what is
   * wrong. Throws HubError.
   */
  prepare(): Promise<Prepared>;
  /** A user has signed in, or users are not to be asked any more. */
  end(): void;
  close(): void;
}

interface Parts {
  readonly negotiation: Pick<Negotiation, 'prepare'>;
  readonly tokens: Pick<HeldTokens, 'grant' | 'endpoints'>;
  readonly grants: Grants;
}

function createAuthorizationRequest(
  options: AccountOptions,
  { negotiation, tokens, grants }: Parts,
): AuthorizationRequest {
  const { server, holder, address, log } = options;
  let wanted: { readonly challenge: string | undefined; readonly heldScope: string | undefined } | undefined;
  let asking: Promise<void> | undefined;
  let closed = false;

  function prepare(challenge: string | undefined, heldScope: string | undefined): Promise<Prepared> {
    return options.afterOther(() => prepareNow(challenge, heldScope));
  }

  async function prepareNow(challenge: string | undefined, heldScope: string | undefined): Promise<Prepared> {
    // The registration belongs to the hub and is the same for all users.
    const shared =
      holder === undefined ? tokens.grant : keptGrant({ ...options, holder: undefined }, grants.get({ server }));
    const held = tokens.grant?.client ? tokens.grant : shared;
    const prepared = await negotiation.prepare(challenge, held, heldScope);
    const { client, authority } = prepared;
    // The registration is kept even if no user signs in: the next start would make another one.
    const isNew = client.kind === 'registered' && client !== held?.client;
    // Read again: a user may have signed in meanwhile, or the server was renamed and its sign-in was moved here.
    const kept = keptGrant({ ...options, holder: undefined }, grants.get({ server }));
    if (isNew && !closed && shared?.tokens === undefined && kept?.tokens === undefined) {
      const { issuer, resource } = authority;
      await grants.set({ ...shared, server, address, endpoints: tokens.endpoints, issuer, resource, client });
    }
    return prepared;
  }

  function ask(challenge: string | undefined, heldScope?: string): Promise<void> {
    if (wanted) return Promise.resolve();
    asking ??= (async () => {
      const { authority } = await prepare(challenge, heldScope);
      wanted = { challenge, heldScope };
      const { origin } = new URL(authority.metadata.authorization_endpoint);
      log.warn('a sign-in is needed', { at: origin, ...(holder !== undefined && { user: holder }) });
      options.changed();
    })().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  return {
    get isOpen() {
      return wanted !== undefined;
    },
    ask,
    prepare: () => prepare(wanted?.challenge, wanted?.heldScope),
    end() {
      wanted = undefined;
    },
    close() {
      closed = true;
    },
  };
}
