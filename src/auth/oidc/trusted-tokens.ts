import { errors, type JWTPayload } from 'jose';
import { appPrincipal, issuedPrincipal, type Principal } from '../../core/access/principal.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { asymmetric } from '../../core/provider.ts';
import type { TrustedIssuer } from '../../core/settings/login.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { IssuedIdentity, UserSettings } from '../../core/settings/user.ts';
import { putLast } from '../../core/put-last.ts';
import { authLimits } from '../limits.ts';
import { claimTexts } from './claims.ts';
import { unverified, verifyIssued } from './issued-jwt.ts';
import type { IssuerKeys } from './issuer-keys.ts';

/** Tokens of the issuers that the settings trust (`systemConfig.auth.trustedIssuers`, CONTRACT §8). */
export interface TrustedTokens {
  /** Whose token it is, of one that was verified before; undefined for any other. For the path of every MCP request. */
  readonly known: (token: string, settings: Settings) => Principal | 'bad' | undefined;
  /** The same of any text. Never rejects. */
  readonly verify: (token: string, settings: Settings) => Promise<Principal | 'bad'>;
  /** True for a text that says it is for the hub, of an issuer that is trusted: no server may get it. */
  readonly isForHub: (token: string, settings: Settings) => boolean;
}

/** What is kept of a token whose signature was verified. */
interface Verified extends IssuedIdentity {
  readonly audiences: readonly string[];
  readonly jwksUri: string | undefined;
  readonly payload: JWTPayload;
  /** Milliseconds since the epoch, with the tolerance for clocks. */
  readonly until: number;
  readonly checkedAt: number;
  /** The answer for one snapshot of the settings, which it does not keep in memory. */
  last?: { readonly settings: WeakRef<Settings>; readonly principal: Principal | 'bad' };
}

export function createTrustedTokens(options: { keys: IssuerKeys; log: Logger; now?: () => number }): TrustedTokens {
  const { keys, log, now = Date.now } = options;
  const verified = new Map<string, Verified>();

  function known(token: string, settings: Settings): Principal | 'bad' | undefined {
    const found = verified.get(token);
    if (!found || now() - found.checkedAt >= authLimits.issuedTokenRecheckMs) return undefined;
    if (now() >= found.until) return 'bad';
    if (found.last?.settings.deref() === settings) return found.last.principal;
    const issuer = issuerNamed(settings, found.issuer);
    if (issuer?.jwksUri !== found.jwksUri) return undefined;
    const principal = issuer ? holder(found, issuer, settings) : 'bad';
    found.last = { settings: new WeakRef(settings), principal };
    return principal;
  }

  async function verify(token: string, settings: Settings): Promise<Principal | 'bad'> {
    const issuer = issuerNamed(settings, unverified(token).iss);
    if (!issuer) return 'bad';
    try {
      const of = { ...issuer, algorithms: asymmetric };
      const { payload, subject, until } = await verifyIssued(token, of, keys, now());
      const { aud = [] } = payload;
      remember(token, {
        issuer: issuer.issuer,
        subject,
        audiences: [aud].flat(),
        jwksUri: issuer.jwksUri,
        payload,
        until,
        checkedAt: now(),
      });
      return known(token, settings) ?? 'bad';
    } catch (error) {
      // Anything but that is a key that cannot be used.
      if (!(error instanceof errors.JOSEError))
        log.warn('A token of a trusted issuer cannot be verified', { issuer: issuer.issuer, error: errorText(error) });
      return 'bad';
    }
  }

  const remember = (token: string, entry: Verified): void => putLast(verified, token, entry, authLimits.issuedTokens);

  function isForHub(token: string, settings: Settings): boolean {
    const { iss, aud = [] } = unverified(token);
    const issuer = issuerNamed(settings, iss);
    return [aud].flat().some((audience) => issuer?.audiences.includes(audience));
  }

  return { known, verify, isForHub };
}

/** The account with this identity, or else what the groups in the token are mapped to. */
function holder({ subject, audiences, payload }: Verified, from: TrustedIssuer, settings: Settings): Principal | 'bad' {
  const { issuer } = from;
  if (!audiences.some((audience) => from.audiences.includes(audience))) return 'bad';
  const user = userWithIdentity(settings.users, { issuer, subject });
  // As a client that its user let in: it lists and calls, and manages nothing.
  if (user) return appPrincipal(`issuer ${issuer}`, user, undefined);
  const values = claimTexts(payload, from.groupsClaim).filter((value) => from.groups.has(value));
  const [name = subject] = from.usernameClaim === undefined ? [] : claimTexts(payload, from.usernameClaim);
  return issuedPrincipal(issuer, subject, name.slice(0, authLimits.subjectChars), values);
}

function issuerNamed({ system }: Settings, name: string | undefined): TrustedIssuer | undefined {
  return system.trustedIssuers?.find(({ issuer }) => issuer === name);
}

const indexes = new WeakMap<readonly UserSettings[], ReadonlyMap<string, UserSettings>>();

/** The user that this is at an issuer. */
export function userWithIdentity(users: readonly UserSettings[], identity: IssuedIdentity): UserSettings | undefined {
  let index = indexes.get(users);
  if (!index) {
    index = new Map(users.flatMap((user) => (user.identities ?? []).map((own) => [idOf(own), user])));
    indexes.set(users, index);
  }
  return index.get(idOf(identity));
}

function idOf({ issuer, subject }: IssuedIdentity): string {
  return `${issuer}\n${subject}`;
}
