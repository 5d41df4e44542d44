import { z } from 'zod';
import { descriptionInput, notEmpty } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { resultTokens } from '../document/shape.ts';
import { serverNameProblem } from './server-entry.ts';
import { problemTable } from '../../core/problems.ts';

/**
 * The bodies of the server endpoints (CONTRACT §4; reference: MCPHub §1.5). What is in `config` is checked with the
 * whole settings document.
 */

export const serverNameInput = z
  .string()
  .trim()
  .superRefine((name, context) => {
    const message = serverNameProblem(name);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

const configInput = z.record(z.string(), z.unknown(), { error: 'must be an object, the configuration of the server' });

export const newServerInput = z.object({ name: serverNameInput, config: configInput });

export const serverUpdateInput = z
  .object({ config: configInput.optional(), newName: serverNameInput.optional() })
  .refine(
    notEmpty,
    'needs config, newName or both. The elements of GET /servers have no config; change that of GET /servers/<name> and send it',
  );

export const enabledInput = z.object({ enabled: z.boolean({ error: 'must be true or false' }) });

export const itemsSwitchInput = enabledInput.extend({
  items: z.array(z.string().min(1)).min(1, problemTable.empty).max(coreLimits.listItems),
});

export const itemDescriptionInput = z.object({ description: descriptionInput });

/** `null`: as the server has it. */
export const toolLimitInput = z.object({ maxResultTokens: resultTokens.nullable() });

export type NewServer = z.infer<typeof newServerInput>;
export type ServerUpdate = z.infer<typeof serverUpdateInput>;
