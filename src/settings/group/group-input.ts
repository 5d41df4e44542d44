import { z } from 'zod';
import { callLimitsInput } from '../document/call-limits.ts';
import { resultTokens } from '../document/shape.ts';
import { overridesShape } from '../document/tool-override.ts';
import {
  descriptionInput,
  isForbiddenName,
  namesInput,
  notEmpty,
  selectionInput,
  visibilityInput,
} from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { problemTable, problemText } from '../../core/problems.ts';

/**
 * The bodies of the group endpoints (SPEC, Groups; CONTRACT §4). `null` stands for "not given", as in hand-written
 * JSON.
 */

/** Letters of any script, so that a group can be called what its users call it. */
export const groupNameInput = z
  .string()
  .trim()
  .normalize('NFC')
  .min(1, problemTable.empty)
  .max(coreLimits.nameChars, problemText('at_most', { most: `${coreLimits.nameChars}` }))
  .regex(/^[\p{L}\p{M}\p{N}._-]+(?: +[\p{L}\p{M}\p{N}._-]+)*$/u, problemTable.group_name_letters)
  .refine((name) => !/^\.+$/.test(name), problemTable.dots_only)
  .refine((name) => !isForbiddenName(name), problemTable.reserved_word);

/** An element of `servers`: a name, or a name with what of the server the group shows. */
export const groupServerInput = z.union(
  [
    z
      .string()
      .trim()
      .min(1)
      .transform((name) => ({ name, plain: true as const })),
    z
      .looseObject({
        name: z.string().trim().min(1),
        alias: z
          .string()
          .trim()
          .max(coreLimits.exposedNameChars)
          .regex(/^[A-Za-z0-9._-]*$/)
          .nullish(),
        tools: selectionInput.nullish(),
        prompts: selectionInput.nullish(),
        resources: selectionInput.nullish(),
        pinnedTools: z.array(z.string()).max(coreLimits.listedNames).nullish(),
        /** `null` or none: no overrides any more. Absent: those that the entry has. */
        overrides: overridesShape.nullish(),
      })
      .transform((config) => ({ ...config, plain: false as const })),
  ],
  {
    error:
      'must be the name of a server or {name, alias?, tools?, prompts?, resources?, pinnedTools?, overrides?}, where tools, prompts and resources are "all" or arrays of names',
  },
);

export const groupServersInput = z
  .array(groupServerInput, { error: 'must be an array of server names or server configurations' })
  .max(coreLimits.listedNames);

export const newGroupInput = z.object({
  name: groupNameInput,
  description: descriptionInput.nullish(),
  servers: groupServersInput.nullish(),
  visibility: visibilityInput.nullish(),
  sharedWithUsers: namesInput.nullish(),
  owner: z.string().min(1).nullish(),
  limits: callLimitsInput.nullish(),
  maxResultTokens: resultTokens.nullish(),
});

export const groupUpdateInput = z
  .object({
    name: groupNameInput.optional(),
    description: descriptionInput.nullish(),
    servers: groupServersInput.optional(),
    visibility: visibilityInput.nullish(),
    sharedWithUsers: namesInput.optional(),
    owner: z.string().min(1).optional(),
    /** `null`: none. */
    limits: callLimitsInput.nullish(),
    maxResultTokens: resultTokens.nullish(),
  })
  .refine(
    notEmpty,
    'needs at least one of name, description, servers, visibility, sharedWithUsers, owner, limits, maxResultTokens',
  );

/**
 * `serverId` is how a usage example of SPEC calls it. With `tools`, the group shows those of the server from its first
 * moment.
 */
export const serverToAddInput = z
  .object({ serverName: z.string().optional(), serverId: z.string().optional(), tools: selectionInput.nullish() })
  .transform(({ serverName, serverId, tools }) => ({ server: (serverName ?? serverId ?? '').trim(), tools }))
  .refine(({ server }) => server !== '', { path: ['serverName'], message: problemTable.required });

export const groupBatchInput = z.object({ servers: groupServersInput });

export const groupToolsInput = z.object({ tools: selectionInput });

export type NewGroup = z.infer<typeof newGroupInput>;
export type GroupUpdate = z.infer<typeof groupUpdateInput>;
export type ServerToAdd = z.infer<typeof serverToAddInput>;
export type GroupServerInput = z.infer<typeof groupServerInput>;
