import { Secret, TOTP } from 'otpauth';

/** Codes of authenticator apps: RFC 6238 with what all of those apps can do. */
const [digits, period] = [6, 30];

/** 160 bits, as RFC 4226 §4 recommends, in base32. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** The address that an app reads from a QR code. `account` is what it calls the entry. */
export function totpUri(secret: string, account: string): string {
  return totpOf(secret, account).toString();
}

/**
 * The time step that a code is of; undefined when it is of none. The step before and the one after count too, for
 * clocks that differ and codes that are typed slowly (RFC 6238 §5.2).
 */
export function stepOf(secret: string, code: string, now: number): number | undefined {
  // The library throws for other characters.
  if (!/^\d{6}$/.test(code)) return undefined;
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: 1 });
  return delta === null ? undefined : Math.floor(now / 1_000 / period) + delta;
}

function totpOf(secret: string, label = ''): TOTP {
  return new TOTP({ issuer: 'Tool Hub', label, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits, period });
}
