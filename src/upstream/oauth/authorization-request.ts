import type { Grants } from './grants.ts';
import { type HeldTokens, type HeldTokensOptions, keptGrant } from './held-tokens.ts';
import type { Negotiation, Prepared } from './negotiation.ts';

/** Whether users are asked to sign in, and for which rights. */
export interface AuthorizationRequest {
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

export interface AuthorizationRequestOptions extends HeldTokensOptions {
  /**
   * Runs `work` once another account of the server has prepared its sign-in: the hub registers itself once for all
   * users.
   */
  readonly afterOther: <T>(work: () => Promise<T>) => Promise<T>;
}

interface Parts {
  readonly negotiation: Pick<Negotiation, 'prepare'>;
  readonly tokens: Pick<HeldTokens, 'grant' | 'endpoints'>;
  readonly grants: Grants;
}

export function createAuthorizationRequest(
  options: AuthorizationRequestOptions,
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
      log.warn('somebody has to sign in', { at: origin, ...(holder !== undefined && { user: holder }) });
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
