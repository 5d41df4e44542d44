import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import { authLimits } from '../limits.ts';
import type { IssuerKeys, KeysOf } from './issuer-keys.ts';

/** What a token of another issuer has to be. */
export interface IssuedFor extends KeysOf {
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
}

/** Other kinds (logout tokens, proofs) have a type of their own, and are no credential. */
const types = /^(application\/)?(jwt|at\+jwt)$/i;

/**
 * The claims of a token that says who sends a request: signed with a key of its issuer, for the hub, in its time.
 * `until` is its end with the tolerance for clocks, in milliseconds since the epoch. Throws an error of jose for any
 * other text, and another error where the keys cannot be used.
 */
export async function verifyIssued(
  token: string,
  { audiences, algorithms, ...issuer }: IssuedFor,
  keys: IssuerKeys,
  now: number,
): Promise<{ readonly payload: JWTPayload; readonly subject: string; readonly until: number }> {
  const { payload, protectedHeader } = await jwtVerify(token, keys(issuer), {
    algorithms: [...algorithms],
    issuer: issuer.issuer,
    audience: [...audiences],
    requiredClaims: ['sub', 'exp'],
    clockTolerance: authLimits.clockToleranceMs / 1000,
    currentDate: new Date(now),
  });
  const { sub = '', exp = 0 } = payload;
  if (protectedHeader.typ !== undefined && !types.test(protectedHeader.typ))
    throw new errors.JWTInvalid('its type is that of another kind of token');
  if (isFromFuture(payload, now)) throw new errors.JWTInvalid('it says that it was issued in the future');
  if (payload['cnf'] !== undefined)
    throw new errors.JWTInvalid('it is bound to a key of its sender (RFC 7800), whose proof is not asked for');
  if (sub === '' || sub.length > authLimits.subjectChars) throw new errors.JWTInvalid('it has no usable subject');
  return { payload, subject: sub, until: exp * 1000 + authLimits.clockToleranceMs };
}

/**
 * Whether a token says that it was issued later than now (milliseconds since the epoch), with the tolerance for clocks.
 * OpenID Connect Core §3.1.3.7 leaves the range to the client. A token that is signed ahead outlives what is taken away
 * meanwhile.
 */
export function isFromFuture({ iat }: { readonly iat?: number | undefined }, now: number): boolean {
  return iat !== undefined && iat * 1000 > now + authLimits.clockToleranceMs;
}

/** What a text that may be a token says. */
export function unverified(text: string): JWTPayload {
  try {
    return decodeJwt(text);
  } catch {
    return {};
  }
}
