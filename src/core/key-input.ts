import { z } from 'zod';
import { namesInput, notEmpty } from './input.ts';

/** The bodies of the access key endpoints (CONTRACT §2; reference: MCPHub §1.7). */

const nameInput = z.string().trim().min(1, 'must not be empty').max(100);

const accessTypeInput = z.enum(['all', 'groups', 'servers', 'custom'], {
  error: 'must be "all", "groups", "servers" or "custom"',
});

export const newKeyInput = z.object({
  name: nameInput,
  enabled: z.boolean().nullish(),
  kind: z.enum(['system', 'user'], { error: 'must be "system" or "user"' }).nullish(),
  owner: z.string().min(1).nullish(),
  accessType: accessTypeInput.nullish(),
  allowedGroups: namesInput.nullish(),
  allowedServers: namesInput.nullish(),
});

export const keyUpdateInput = z
  .object({
    name: nameInput.optional(),
    enabled: z.boolean().optional(),
    accessType: accessTypeInput.optional(),
    allowedGroups: namesInput.optional(),
    allowedServers: namesInput.optional(),
  })
  .refine(notEmpty, 'needs at least one of name, enabled, accessType, allowedGroups, allowedServers');

export type NewKey = z.infer<typeof newKeyInput>;
export type KeyUpdate = z.infer<typeof keyUpdateInput>;
