import { z } from 'zod';
import type { Draft, Entry } from './document.ts';
import type { Problem } from './errors.ts';
import { invalid, isForbiddenName } from './input.ts';
import { childPath } from './json-path.ts';
import { limits } from './limits.ts';
import { holdsMask, maskDeep } from './mask-deep.ts';
import { isObject } from './rpc.ts';

/** `systemConfig` of the settings document (reference: MCPHub §1.6, §4.2): its one edit, and how it is shown. */

const section = z.record(z.string(), z.unknown(), { error: 'must be an object' }).nullish();

/**
 * The body of `PUT /system-config`: what is to be different. Of the sections the hub uses the settings check every member; members and sections it does not know
 * are kept, other programs may.
 */
export const systemConfigInput = z
  .looseObject({
    activityLog: section,
    auth: section,
    discovery: section,
    install: z
      .looseObject({
        baseUrl: z
          .string()
          .trim()
          .regex(/^https?:\/\/\S+$|^$/, 'must be an address that begins with http:// or https://')
          .nullish(),
      })
      .nullish(),
    mcpRouter: section,
    network: section,
    oauthServer: section,
    routing: section,
    smartRouting: section,
    toolResultCompression: section,
    nameSeparator: z.string().nullish(),
    listPageSize: z.number().nullish(),
    enableSessionRebuild: z.boolean({ error: 'must be true or false' }).nullish(),
  })
  .refine((config) => Object.keys(config).length > 0, 'needs at least one section or setting');

/** Merges the given members into `systemConfig`, section by section; `null` takes a member out, a hidden value stays as it is. Throws HubError `invalid_input`. */
export function changeSystemConfig(draft: Draft, given: Readonly<Entry>): Entry {
  const problems: Problem[] = [];
  const merged = mergeInto(draft.systemConfig ?? {}, given, { path: '', depth: 0, problems });
  if (problems.length > 0) throw invalid('Cannot change the system configuration', problems);
  draft.systemConfig = merged;
  return merged;
}

export function systemConfigAnswer(config: Readonly<Entry> | undefined): unknown {
  return maskDeep(config ?? {});
}

interface Place {
  readonly path: string;
  readonly depth: number;
  readonly problems: Problem[];
}

function mergeInto(old: Readonly<Entry>, given: Readonly<Entry>, { path, depth, problems }: Place): Entry {
  const members = new Map(Object.entries(old));
  for (const [key, value] of Object.entries(given)) {
    const at = childPath(path, key);
    const before = members.get(key);
    if (isForbiddenName(key) || depth > limits.schemaDepth) problems.push({ path: at, message: 'is not accepted' });
    else if (value === null) members.delete(key);
    else if (isObject(value))
      members.set(key, mergeInto(isObject(before) ? before : {}, value, { path: at, depth: depth + 1, problems }));
    else if (!holdsMask(value)) members.set(key, value);
    else if (JSON.stringify(maskDeep({ [key]: before })) !== JSON.stringify({ [key]: value })) {
      problems.push({ path: at, message: 'is hidden, but there is no value to keep. Send the value itself' });
    }
  }
  return Object.fromEntries(members);
}
