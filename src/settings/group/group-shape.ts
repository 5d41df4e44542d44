import { z } from 'zod';
import { callLimitsShape } from '../document/call-limits.ts';
import { found } from '../document/report.ts';
import { resultTokens, text, texts, visibility } from '../document/shape.ts';
import { overridesShape } from '../document/tool-override.ts';

/** `"all"` or names. */
const selection = z.union([z.literal('all'), texts], {
  error: (issue) => `expected "all" or an array of names, found ${found(issue.input, [])}`,
});

/** An element of a group's `servers` that is not just a name. */
export const groupServerShape = z.looseObject({
  name: text.optional(),
  alias: text.optional(),
  tools: selection.optional(),
  prompts: selection.optional(),
  resources: selection.optional(),
  pinnedTools: texts.optional(),
  overrides: overridesShape.optional(),
});

/** One element of `groups`. */
export const groupShape = z.looseObject({
  id: text.optional(),
  name: text.optional(),
  description: text.optional(),
  owner: text.optional(),
  visibility: visibility.optional(),
  sharedWithUsers: texts.optional(),
  servers: z.array(z.unknown()).optional(),
  limits: callLimitsShape.optional(),
  maxResultTokens: resultTokens.optional(),
});
