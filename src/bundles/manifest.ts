import { z } from 'zod';
import { HubError, type Problem } from '../core/errors.ts';
import { serverNameProblem } from '../settings/server/server-entry.ts';

/** Versions of the manifest that are understood; what they add to each other is optional everywhere. */
const versions = ['0.1', '0.2', '0.3', '0.4'] as const;

const text = z.string().refine((value) => !value.includes('\0'), 'must not contain a NUL character');
const filled = text.min(1, 'must not be empty');

const launch = z.looseObject({
  command: filled.optional(),
  args: z.array(text).optional(),
  env: z.record(text, text).optional(),
});

const option = z.looseObject({
  type: z.enum(['string', 'number', 'boolean', 'directory', 'file']),
  title: z.string().optional(),
  description: z.string().optional(),
  required: z.boolean().optional(),
  default: z.union([text, z.number(), z.boolean(), z.array(text)]).optional(),
  multiple: z.boolean().optional(),
  sensitive: z.boolean().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
});

const named = z.looseObject({ name: z.string(), description: z.string().optional() });

const manifest = z.looseObject({
  /** `dxt_version` is what the field was called in 0.1. */
  manifest_version: z.enum(versions, `must be one of ${versions.join(', ')}`),
  name: z.string().superRefine((name, context) => {
    const problem = serverNameProblem(name);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  }),
  display_name: z.string().optional(),
  version: filled.max(128, 'must not be longer than 128 characters'),
  description: z.string().optional(),
  server: z.looseObject({
    type: z.enum(['node', 'python', 'binary', 'uv']),
    entry_point: filled.optional(),
    mcp_config: launch.extend({ platform_overrides: z.record(z.string(), launch).optional() }).optional(),
  }),
  tools: z.array(named).optional(),
  prompts: z.array(named).optional(),
  compatibility: z.looseObject({ platforms: z.array(z.string()).optional() }).optional(),
  user_config: z.record(text, option).optional(),
});

/** What a bundle says of itself; members that the hub has no use for are kept as they are. */
export type Manifest = z.infer<typeof manifest>;
export type UserConfigOption = z.infer<typeof option>;

/**
 * Reads `manifest.json` of a bundle, version 0.1 to 0.4 (CONTRACT §4, MCPB upload). What the specification asks of
 * authors but no hub needs (`author`, `description`) is not asked here. Throws HubError `invalid_input` with every
 * problem at its path.
 */
export function parseManifest(json: string): Manifest {
  const result = manifest.safeParse(withVersion(parseJson(json)));
  const problems = result.success ? whatZodCannotSee(result.data) : result.error.issues.map(toProblem);
  if (!result.success || problems.length > 0) {
    const first = problems.slice(0, 3).map(({ path, message }) => `${path === '' ? 'the document' : path} ${message}`);
    const more = problems.length > first.length ? `; and ${problems.length - first.length} more` : '';
    throw new HubError('invalid_input', `manifest.json of the bundle is not valid: ${first.join('; ')}${more}.`, {
      problems,
    });
  }
  return result.data;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new HubError('invalid_input', `manifest.json of the bundle is not valid JSON: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

function withVersion(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || 'manifest_version' in value || !('dxt_version' in value))
    return value;
  return { manifest_version: value.dxt_version, ...value };
}

/** The manifest must name something to start; `uv` bundles and old ones leave it to the entry point. */
function whatZodCannotSee({ server, user_config = {} }: Manifest): Problem[] {
  const problems: Problem[] = [];
  if (server.entry_point === undefined && server.mcp_config?.command === undefined) {
    problems.push({ path: 'server.mcp_config.command', message: 'is missing, and so is server.entry_point' });
  }
  for (const [key, { min, max }] of Object.entries(user_config)) {
    if (min !== undefined && max !== undefined && min > max) {
      problems.push({ path: `user_config.${key}.min`, message: 'is greater than "max"' });
    }
  }
  return problems;
}

function toProblem(issue: z.core.$ZodIssue): Problem {
  let path = '';
  for (const part of issue.path) {
    path += typeof part === 'number' ? `[${part}]` : `${path === '' ? '' : '.'}${String(part)}`;
  }
  return { path, message: issue.message.replace(/^Invalid (input|option): expected/, 'must be') };
}
