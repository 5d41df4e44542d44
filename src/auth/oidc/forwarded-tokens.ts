import { errors, type JWTPayload } from 'jose';
import { type Principal, principalOf } from '../../core/access/principal.ts';
import { errorText, HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { ForwardAuth } from '../../core/settings/login.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { IssuedIdentity, UserSettings } from '../../core/settings/user.ts';
import { putLast } from '../../core/put-last.ts';
import { createEventSampler, suppressedFields } from '../event-sampler.ts';
import { authLimits } from '../limits.ts';
import { claimTexts } from './claims.ts';
import { unverified, verifyIssued } from './issued-jwt.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import { userWithIdentity } from './trusted-tokens.ts';

/** A person as the token of a proxy names them. */
export interface ForwardedPerson extends IssuedIdentity {
  readonly username: string;
  /** Only one that the issuer has verified. */
  readonly email: string | undefined;
}

/**
 * The tokens by which a proxy says who sends a request (`systemConfig.auth.forwardAuth`, CONTRACT §8). The caller has
 * made sure that the request came through that proxy.
 */
export interface ForwardedTokens {
  /** True for a text that says it is of the issuer of the settings and for the hub. It is decided here alone. */
  readonly isFor: (token: string, settings: Settings) => boolean;
  /** Whose token it is, of one that was verified before; undefined for any other. For the path of every request. */
  readonly known: (token: string, settings: Settings) => Principal | 'bad' | undefined;
  /** The same of any text; makes the account of a new person where the settings say so. Never rejects. */
  readonly verify: (token: string, address: string) => Promise<Principal | 'bad'>;
  /** When the person last logged in where the token is from; undefined where it does not say. */
  readonly authenticatedAt: (token: string) => number | undefined;
}

interface Verified {
  readonly rules: ForwardAuth;
  readonly person: ForwardedPerson;
  readonly authenticatedAt: number | undefined;
  readonly until: number;
  readonly checkedAt: number;
  /** When the account was made that the token was for. Another account of that person needs another token. */
  account: string | undefined;
  /** The answer for one snapshot of the settings, which it does not keep in memory. */
  last?: { readonly settings: WeakRef<Settings>; readonly principal: Principal | 'bad' };
}

export function createForwardedTokens(options: {
  settings: () => Settings;
  keys: IssuerKeys;
  /** The account of a person, made if `autoCreate`. Throws HubError for a person without one. */
  accountOf: (rules: ForwardAuth, person: ForwardedPerson, address: string) => Promise<UserSettings>;
  log: Logger;
  now?: () => number;
}): ForwardedTokens {
  const { settings, keys, accountOf, log, now = Date.now } = options;
  const verified = new Map<string, Verified>();
  const sampler = createEventSampler({ each: authLimits.accountToldOfKind });
  /** Accounts that are being made, by person: several requests of one begin together. */
  const making = new Map<string, Promise<UserSettings>>();

  function known(token: string, snapshot: Settings): Principal | 'bad' | undefined {
    const found = verified.get(token);
    if (!found || found.rules !== snapshot.system.forwardAuth) return undefined;
    if (now() - found.checkedAt >= authLimits.issuedTokenRecheckMs) return undefined;
    if (now() >= found.until) return 'bad';
    if (found.last?.settings.deref() === snapshot) return found.last.principal;
    const user = userWithIdentity(snapshot.users, found.person);
    if (!user && found.account === undefined) return undefined;
    return decided(found, user, snapshot);
  }

  function decided(entry: Verified, user: UserSettings | undefined, snapshot: Settings): Principal | 'bad' {
    entry.account ??= user && madeAt(user);
    const principal = user && madeAt(user) === entry.account ? principalOf(user) : 'bad';
    entry.last = { settings: new WeakRef(snapshot), principal };
    return principal;
  }

  async function verify(token: string, address: string): Promise<Principal | 'bad'> {
    const rules = settings().system.forwardAuth;
    if (!rules) return 'bad';
    try {
      const { payload, subject, until } = await verifyIssued(token, rules, keys, now());
      const entry: Verified = {
        rules,
        person: personOf(rules, subject, payload),
        // One in the future would be fresh for as long as it likes.
        authenticatedAt:
          typeof payload['auth_time'] === 'number' ? Math.min(payload['auth_time'] * 1000, now()) : undefined,
        until,
        checkedAt: now(),
        account: verified.get(token)?.account,
      };
      remember(token, entry);
      return known(token, settings()) ?? decided(entry, await made(entry, address), settings());
    } catch (error) {
      tell(error, address);
      return 'bad';
    }
  }

  function tell(error: unknown, address: string): void {
    const told = sampler(error instanceof errors.JOSEError ? error.code : errorText(error));
    if (told) log.warn('token of a proxy refused', { address, error: errorText(error), ...suppressedFields(told) });
  }

  /** The account of a person who had none; undefined for one who gets none as the settings are. */
  async function made({ rules, person }: Verified, address: string): Promise<UserSettings | undefined> {
    const id = JSON.stringify([person.issuer, person.subject]);
    const underWay = making.get(id) ?? accountOf(rules, person, address).finally(() => making.delete(id));
    making.set(id, underWay);
    try {
      return await underWay;
    } catch (error) {
      if (!(error instanceof HubError && error.code === 'forbidden')) throw error;
      tell(error, address);
      return undefined;
    }
  }

  const remember = (token: string, entry: Verified): void => putLast(verified, token, entry, authLimits.issuedTokens);

  return {
    isFor(token, { system: { forwardAuth } }) {
      if (!forwardAuth) return false;
      const { iss, aud = [] } = unverified(token);
      return iss === forwardAuth.issuer && [aud].flat().some((name) => forwardAuth.audiences.includes(name));
    },
    known,
    verify,
    authenticatedAt: (token) => verified.get(token)?.authenticatedAt,
  };
}

function personOf(rules: ForwardAuth, subject: string, payload: JWTPayload): ForwardedPerson {
  const [email] = claimTexts(payload, rules.emailClaim);
  const [username = email ?? subject] = claimTexts(payload, rules.usernameClaim);
  const isVerified = payload['email_verified'] === true;
  return {
    issuer: rules.issuer,
    subject,
    username: username.slice(0, authLimits.subjectChars),
    email: isVerified ? email?.slice(0, authLimits.subjectChars) : undefined,
  };
}

function madeAt({ createdAt = '' }: UserSettings): string {
  return createdAt;
}
