import { z } from 'zod';
import { isForbiddenName } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { problemTable, problemText } from '../../core/problems.ts';
import type { ArgumentOverride, ToolOverride } from '../../core/settings/server.ts';
import { settingsLimits } from '../limits.ts';
import type { Path, Report } from './report.ts';
import { flag } from './shape.ts';

/**
 * What clients see and send in place of what the server says of a tool: members of `tools.<tool>` of a server, and
 * `overrides.<tool>` of a server's entry in a group (CONTRACT §11). Strict: what is mistyped would be shown as it is.
 */

const words = z.string().max(coreLimits.textChars);

const name = z
  .string()
  .regex(/^[A-Za-z0-9_-]+$/, problemTable.tool_name_letters)
  .max(coreLimits.exposedNameChars);

const argument = z
  .strictObject({
    value: z.json().optional(),
    default: z.json().optional(),
    hidden: flag.optional(),
    description: words.optional(),
  })
  .refine(({ value, default: other }) => value === undefined || other === undefined, {
    path: ['default'],
    message: 'has no effect beside "value". Remove one of them',
  })
  .refine((given) => JSON.stringify(given).length <= settingsLimits.overrideChars, {
    message: `must be at most ${settingsLimits.overrideChars} characters of JSON`,
  });

/**
 * A record by name. Names are looked at before it is made: zod leaves out `__proto__` without a word. `wrong`: what is
 * said of a name that is empty, too long, or that nothing can have.
 */
function byName<T extends z.ZodType>(value: T, wrong: string, mostChars = Infinity) {
  const looked = (given: unknown, { issues }: z.RefinementCtx): unknown => {
    const names = isObject(given) ? Object.keys(given) : [];
    const bad = names.filter((one) => one === '' || one.length > mostChars || isForbiddenName(one));
    for (const one of bad) issues.push({ code: 'custom', path: [one], message: wrong, input: given });
    return given;
  };
  return z.preprocess(looked, z.record(z.string(), value));
}

export const overrideMembers = {
  name: name.optional(),
  title: words.optional(),
  annotations: z
    .strictObject({
      title: words.optional(),
      readOnlyHint: flag.optional(),
      destructiveHint: flag.optional(),
      idempotentHint: flag.optional(),
      openWorldHint: flag.optional(),
    })
    .optional(),
  arguments: byName(argument, 'no argument can have this name', coreLimits.nameChars)
    .refine((all) => Object.keys(all).length <= settingsLimits.overriddenArguments, {
      message: `must be at most ${settingsLimits.overriddenArguments} arguments`,
    })
    .optional(),
};

/** `overrides.<tool>` of a server's entry in a group. */
export const overrideShape = z.strictObject({ ...overrideMembers, description: words.optional() });

type Given = Partial<z.output<typeof overrideShape>>;

/** Undefined where nothing is overridden. A null or empty text is no text. */
export function readOverride(given: Given): ToolOverride | undefined {
  const { name, title, description, annotations, arguments: args } = given;
  const said = Object.entries(annotations ?? {}).filter(([, value]) => value !== undefined);
  const rules = Object.entries(args ?? {}).map(([one, rule]) => [one, readArgument(rule)] as const);
  const override: ToolOverride = {
    ...(name && { name }),
    ...(title && { title }),
    ...(description && { description }),
    ...(said.length > 0 && { annotations: Object.fromEntries(said) as Record<string, string | boolean> }),
    ...(rules.length > 0 && { arguments: rules }),
  };
  return Object.keys(override).length > 0 ? override : undefined;
}

export const overridesShape = byName(overrideShape, 'no tool can have this name');

/** What a document has at `overrides`, as far as it can be read. */
export function overridesIn(value: unknown): ReadonlyMap<string, ToolOverride> | undefined {
  const read = overridesShape.safeParse(value);
  return read.success ? readOverrides(read.data) : undefined;
}

/** As the document has it. */
export function overrideAnswer({ arguments: rules, ...texts }: ToolOverride): Readonly<Record<string, unknown>> {
  const written = (rules ?? []).map(([name, { value, default: other, hidden, description }]) => [
    name,
    {
      ...(value !== undefined && { value: JSON.parse(value) as unknown }),
      ...(other !== undefined && { default: JSON.parse(other) as unknown }),
      ...(hidden && { hidden }),
      ...(description !== undefined && { description }),
    },
  ]);
  return { ...texts, ...(written.length > 0 && { arguments: Object.fromEntries(written) as Record<string, unknown> }) };
}

/** `overrides` of a server's entry in a group; undefined where there are none. */
export function readOverrides(
  given: Readonly<Record<string, Given>> | undefined,
): ReadonlyMap<string, ToolOverride> | undefined {
  const read = Object.entries(given ?? {}).flatMap(([tool, one]) => {
    const override = readOverride(one);
    return override ? [[tool, override] as const] : [];
  });
  return read.length > 0 ? new Map(read) : undefined;
}

function readArgument({ value, default: other, hidden = false, description }: z.output<typeof argument>) {
  const rule: ArgumentOverride = {
    hidden,
    ...(value !== undefined && { value: JSON.stringify(value) }),
    ...(other !== undefined && { default: JSON.stringify(other) }),
    ...(description !== undefined && { description }),
  };
  return rule;
}

/** Reports tools that would get the same name. */
export function checkNames(
  overrides: Iterable<readonly [string, ToolOverride | undefined]>,
  path: Path,
  report: Report,
): void {
  const names = new Map<string, string>();
  for (const [tool, override] of overrides) {
    if (override?.name === undefined) continue;
    const other = names.get(override.name);
    if (other === undefined) names.set(override.name, tool);
    else report.problem([...path, tool, 'name'], problemText('tool_name_taken', { name: override.name, other }));
  }
}
