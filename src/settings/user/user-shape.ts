import { z } from 'zod';
import { callLimitsShape } from '../document/call-limits.ts';
import { flag, text, texts } from '../document/shape.ts';

/** One element of `users`. */
export const userShape = z.looseObject({
  username: text.optional(),
  password: text.optional(),
  role: z.enum(['admin', 'user']).optional(),
  isAdmin: flag.optional(),
  email: text.optional(),
  servers: texts.optional(),
  groups: texts.optional(),
  createdAt: text.optional(),
  identities: z.array(z.strictObject({ issuer: text, subject: text.min(1) })).optional(),
  passwordIsInitial: flag.optional(),
  passwordIsWeak: flag.optional(),
  limits: callLimitsShape.optional(),
});
