import { HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { OAuthSettings } from '../../core/settings.ts';
import { type Credential, type Refusal, SignInRequired } from '../credential.ts';
import type { AddressPolicy } from '../safe-address.ts';
import type { Attempt, Attempts } from './attempts.ts';
import type { Grants } from './grants.ts';
import { holdTokens } from './held-tokens.ts';
import { createInvitation } from './invitation.ts';
import { type Answer, negotiate, type Prepared } from './negotiation.ts';

export interface AccountOptions {
  readonly server: string;
  readonly url: URL;
  /** Origin and path of `url`: all that tokens are sent to. */
  readonly address: string;
  readonly oauth: OAuthSettings;
  readonly policy: () => AddressPolicy;
  readonly userAgent: string;
  /** Where answers come to. */
  readonly redirectUri: () => string;
  /** The hub's document for authorization servers, when they can fetch it. */
  readonly documentUrl: () => string | undefined;
  readonly log: Logger;
  /** Tokens or the address to open are not what they were. Raise a flag and return. */
  readonly changed: () => void;
}

/** The hub's sign-in to one server, as the server is set up now. */
export interface Account {
  /** For one channel. */
  credential(): Credential;
  /** The address somebody has to open, while the server waits for that. */
  readonly authorizationUrl: string | undefined;
  /** A new address to open, asked for by a user. Throws HubError when the server offers no sign-in. */
  begin(by: string): Promise<string>;
  /** Takes the answer of an attempt of this account. Throws HubError. */
  redeem(attempt: Attempt, answer: Answer): Promise<void>;
  /** The address that was to be opened is used up. */
  renewUrl(): void;
  /** Forgets the tokens, with `all` the registration too, and asks the authorization server to do the same. */
  disconnect(all: boolean): Promise<void>;
  close(): void;
}

export function createAccount(options: AccountOptions, grants: Grants, attempts: Attempts): Account {
  const { server, address, log } = options;
  const negotiation = negotiate(options);
  const tokens = holdTokens(options, grants, (grant) => negotiation.renew(grant));
  const invitation = createInvitation(options, negotiation, attempts);
  let asking: Promise<void> | undefined;
  let closed = false;

  async function prepare(challenge: string | undefined, heldScope: string | undefined): Promise<Prepared> {
    const prepared = await negotiation.prepare(challenge, tokens.grant, heldScope);
    const { client, authority } = prepared;
    // A registration is worth keeping even if nobody signs in: the next start would make another one.
    const isNew = client.kind === 'registered' && client !== tokens.grant?.client;
    if (isNew && !closed && tokens.grant?.tokens === undefined)
      await tokens.adopt({ server, address, issuer: authority.issuer, resource: authority.resource, client });
    return prepared;
  }

  /** Sees to it that somebody can be asked to sign in; once for everybody who is refused. */
  function ask(challenge: string | undefined, heldScope?: string): Promise<void> {
    if (invitation.url !== undefined) return Promise.resolve();
    asking ??= (async () => {
      const url = await invitation.show(await prepare(challenge, heldScope));
      log.warn('somebody has to sign in', { at: new URL(url).origin });
    })().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  async function refused({ status, sent, challenge, again }: Refusal, works: boolean): Promise<void> {
    if (status === 403) {
      await ask(challenge, tokens.grant?.tokens?.scope);
      throw signInRequired(server, works, 'wants more rights than the last sign-in gave');
    }
    if (again) {
      if (works)
        throw new HubError('upstream_failed', `Server "${server}" refuses this although its sign-in was just renewed.`);
    } else if (await tokens.renew(sent)) {
      return;
    }
    await ask(challenge);
    throw signInRequired(server, false, 'needs somebody to sign in');
  }

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
    get authorizationUrl() {
      return invitation.url;
    },
    async begin(by) {
      // Asked for by a person: whatever was known may be what is wrong.
      return invitation.for(await prepare(undefined, undefined), by);
    },
    async redeem(attempt, answer) {
      const { client, authority } = attempt;
      const got = await negotiation.redeem(attempt, answer);
      if (closed) throw new HubError('conflict', `Server "${server}" was set up anew meanwhile. Begin again.`);
      invitation.hide();
      const { issuer, resource } = authority;
      await tokens.adopt({ server, address, issuer, resource, client, tokens: got });
    },
    renewUrl: () => invitation.renew(),
    async disconnect(all) {
      const { grant } = tokens;
      invitation.hide();
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
      invitation.close();
      tokens.close();
    },
  };
}

/** `works`: only this request is affected, the connection stays. */
function signInRequired(server: string, works: boolean, why: string): HubError {
  const text = `Server "${server}" ${why}. Its owner and admins find the address to open in the list of servers.`;
  return new HubError('upstream_unavailable', text, works ? {} : { cause: new SignInRequired() });
}
