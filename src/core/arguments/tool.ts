import { coreLimits } from '../limits.ts';
import { type ConvertOptions, convertArguments } from './convert.ts';
import type { Problem } from '../errors.ts';
import { memberText } from '../json/text.ts';
import { type SchemaCheck, compileSchema } from '../schema/check.ts';
import { putLast } from '../put-last.ts';

/** Arguments as a tool can be given them. */
export interface PreparedArguments {
  readonly value: unknown;
  /** Each path once; none when the arguments can be sent. */
  readonly problems: readonly Problem[];
  readonly note: string | undefined;
}

/**
 * Converts and checks arguments by the schema of a tool. Keeps `coreLimits.schemas` compiled schemas, the ones used
 * last.
 */
export interface ToolArguments {
  /**
   * `toolText` is the tool as its server sent it (JSON text of `tools/list`); a schema that makes no sense checks
   * nothing. Never throws.
   */
  prepare(toolText: string, value: unknown, options?: ConvertOptions): PreparedArguments;
  /** What of the arguments breaks the schema as they are, nothing converted. Never throws. */
  check(toolText: string, value: unknown): readonly Problem[];
}

interface Known {
  readonly schema: unknown;
  readonly check: SchemaCheck;
}

export function createToolArguments(options: { now?: () => number; schemas?: number } = {}): ToolArguments {
  const { now = Date.now, schemas = coreLimits.schemas } = options;
  const known = new Map<string, Known>();

  function schemaOf(toolText: string): Known {
    let entry = known.get(toolText);
    if (!entry) {
      const schema = inputSchema(toolText);
      entry = { schema, check: compileSchema(schema, now) };
    }
    putLast(known, toolText, entry, schemas);
    return entry;
  }

  return {
    check: (toolText, value) => schemaOf(toolText).check(value).problems.slice(0, coreLimits.problems),
    prepare(toolText, value, options) {
      const { schema, check } = schemaOf(toolText);
      const converted = convertArguments(schema, value, options);
      const { problems, note } = check(converted.value);
      const told = new Set(converted.problems.map(({ path }) => path));
      const others = problems.filter(({ path }) => !told.has(path));
      return {
        value: converted.value,
        problems: [...converted.problems, ...others].slice(0, coreLimits.problems),
        note,
      };
    },
  };
}

function inputSchema(toolText: string): unknown {
  try {
    const text = memberText(toolText, 'inputSchema');
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    // Nested so deeply that it cannot be read; a tool that is listed is JSON.
    return undefined;
  }
}
