import { z } from 'zod';
import { addressesInput, namesInput, notEmpty, timeInput } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { callLimitsInput } from '../document/call-limits.ts';
import { settingsLimits } from '../limits.ts';
import { problemTable } from '../../core/problems.ts';

/** The bodies of the access key endpoints (CONTRACT §2; reference: MCPHub §1.7). */

const nameInput = z.string().trim().min(1, problemTable.empty).max(coreLimits.keyNameChars);

const accessTypeInput = z.enum(['all', 'groups', 'servers', 'custom'], {
  error: 'must be "all", "groups", "servers" or "custom"',
});

export const newKeyInput = z
  .object({
    name: nameInput,
    enabled: z.boolean().nullish(),
    kind: z.enum(['system', 'user'], { error: 'must be "system" or "user"' }).nullish(),
    owner: z.string().min(1).nullish(),
    accessType: accessTypeInput.nullish(),
    scope: accessTypeInput.nullish(),
    allowedGroups: namesInput.nullish(),
    allowedServers: namesInput.nullish(),
    expiresAt: timeInput.nullish(),
    allowedAddresses: addressesInput.nullish(),
    readOnly: z.boolean().nullish(),
    limits: callLimitsInput.nullish(),
  })
  .superRefine(scopesAgree)
  .transform(inOneWord);

export const keyUpdateInput = z
  .object({
    name: nameInput.optional(),
    enabled: z.boolean().optional(),
    accessType: accessTypeInput.optional(),
    scope: accessTypeInput.optional(),
    allowedGroups: namesInput.optional(),
    allowedServers: namesInput.optional(),
    /** `null`: it does not expire. */
    expiresAt: timeInput.nullish(),
    /** `null` or none: from any address. */
    allowedAddresses: addressesInput.nullish(),
    readOnly: z.boolean().nullish(),
    /** `null`: none. */
    limits: callLimitsInput.nullish(),
  })
  .refine(
    notEmpty,
    'needs at least one of name, enabled, accessType, allowedGroups, allowedServers, expiresAt, allowedAddresses, readOnly, limits',
  )
  .superRefine(scopesAgree)
  .transform(inOneWord);

/** The body of a rotation. */
export const keyRotationInput = z.object({
  /** How long the token before is still accepted, in seconds. */
  overlapSeconds: z.int().min(0).max(settingsLimits.keyOverlapSeconds).nullish(),
});

export type NewKey = z.infer<typeof newKeyInput>;
export type KeyUpdate = z.infer<typeof keyUpdateInput>;

interface Scopes {
  accessType?: string | null | undefined;
  scope?: string | null | undefined;
}

/**
 * CONTRACT says `scope`, MCPHub `accessType`. A key must not open more than its maker meant because the hub read the
 * other member.
 */
function scopesAgree({ accessType, scope }: Scopes, context: z.RefinementCtx): void {
  if (accessType && scope && accessType !== scope) {
    context.addIssue({ code: 'custom', path: ['scope'], message: 'contradicts accessType; send one of them' });
  }
}

function inOneWord<A extends string, T extends { accessType?: A | null | undefined; scope?: A | null | undefined }>(
  input: T,
): Omit<T, 'scope' | 'accessType'> & { accessType?: A } {
  const { scope, accessType, ...rest } = input;
  const word = accessType ?? scope;
  return { ...rest, ...(word && { accessType: word }) };
}
