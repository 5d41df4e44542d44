import { createHmac } from 'node:crypto';

/**
 * An access token as a hub with this secret makes them, from another time. `more` replaces claims; undefined leaves one
 * out.
 */
export function forgedToken(
  secret: string,
  { username = 'admin', ageMs = 0, more = {} }: { username?: string; ageMs?: number; more?: object } = {},
): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const issuedAt = Date.now() - ageMs;
  const iat = Math.floor(issuedAt / 1000);
  const claims = { sub: username, iat, exp: iat + 24 * 3600, jti: `${issuedAt.toString(36)}.forged`, ...more };
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}
