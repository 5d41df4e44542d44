import { authLimits } from '../limits.ts';

/**
 * The texts of a claim: `groups`, `realm_access.roles` (Keycloak), `https://example.com/groups`. A text stands for an
 * array of one; what is no text is passed over. None when the claim is not there.
 */
export function claimTexts(claims: Readonly<Record<string, unknown>>, name: string): string[] {
  const value = claimOf(claims, name);
  const values: unknown[] = Array.isArray(value) ? value.slice(0, authLimits.groupValues) : [value];
  return values.filter((text): text is string => typeof text === 'string' && text !== '');
}

/** A claim by its whole name, or else by the path that its dots make. */
function claimOf(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}
