import { z } from 'zod';
import { callLimitsShape } from '../document/call-limits.ts';
import { flag, text, texts } from '../document/shape.ts';

/** One element of `bearerKeys`. */
export const keyShape = z.looseObject({
  id: text.optional(),
  name: text.optional(),
  token: text.optional(),
  tokenHash: text.optional(),
  enabled: flag.optional(),
  kind: z.enum(['system', 'user']).optional(),
  owner: text.optional(),
  accessType: z.enum(['all', 'groups', 'servers', 'custom']).optional(),
  allowedGroups: texts.optional(),
  allowedServers: texts.optional(),
  expiresAt: text.optional(),
  allowedAddresses: texts.optional(),
  readOnly: flag.optional(),
  limits: callLimitsShape.optional(),
  previousTokenHash: text.optional(),
  previousUntil: text.optional(),
});
