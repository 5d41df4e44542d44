import { z } from 'zod';
import { notEmpty } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { problemTable } from '../../core/problems.ts';
import { flag, text } from '../document/shape.ts';
import { settingsLimits } from '../limits.ts';

/** Prompts and resources of the hub itself, in the document and in requests (reference: MCPHub §1.10). */

/** One element of `prompts`. */
export const promptShape = z.looseObject({
  id: text.optional(),
  name: text.optional(),
  title: text.optional(),
  description: text.optional(),
  template: text.optional(),
  arguments: z
    .array(
      z.looseObject({
        name: text,
        title: text.optional(),
        description: text.optional(),
        required: flag.optional(),
      }),
    )
    .optional(),
  enabled: flag.optional(),
});

/** One element of `resources`. */
export const resourceShape = z.looseObject({
  id: text.optional(),
  uri: text.optional(),
  name: text.optional(),
  description: text.optional(),
  mimeType: text.optional(),
  content: text.optional(),
  enabled: flag.optional(),
});

const words = z.string().max(coreLimits.textChars);
const promptName = z
  .string()
  .trim()
  .min(1, problemTable.empty)
  .max(coreLimits.exposedNameChars)
  .regex(/^[A-Za-z0-9._-]+$/, problemTable.own_name_letters);
const body = z.string().max(settingsLimits.ownTextChars);
const argument = z.object({
  name: z
    .string()
    .min(1, problemTable.empty)
    .max(coreLimits.nameChars)
    .regex(/^[^{}\s]+$/, problemTable.argument_letters),
  title: words.nullish(),
  description: words.nullish(),
  required: z.boolean().nullish(),
});
const uri = z
  .string()
  .trim()
  .max(coreLimits.textChars)
  .refine((value) => URL.canParse(value), problemTable.uri);

const promptMembers = {
  title: words.nullish(),
  description: words.nullish(),
  arguments: z.array(argument).max(settingsLimits.overriddenArguments).nullish(),
  enabled: z.boolean().nullish(),
};
const resourceMembers = {
  name: words.nullish(),
  description: words.nullish(),
  mimeType: z
    .string()
    .max(coreLimits.nameChars * 4)
    .nullish(),
  enabled: z.boolean().nullish(),
};

/** `id` is the hub's to give; one that is sent is accepted where it is new, as MCPHub does. */
export const newPromptInput = z.object({
  id: z.string().nullish(),
  name: promptName,
  template: body,
  ...promptMembers,
});
export const promptUpdateInput = z
  .object({ id: z.string().nullish(), name: promptName.nullish(), template: body.nullish(), ...promptMembers })
  .refine(notEmpty, 'needs at least one member');
export const newResourceInput = z.object({ id: z.string().nullish(), uri, content: body, ...resourceMembers });
export const resourceUpdateInput = z
  .object({ id: z.string().nullish(), uri: uri.nullish(), content: body.nullish(), ...resourceMembers })
  .refine(notEmpty, 'needs at least one member');
