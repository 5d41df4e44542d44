import { cpuUsage } from 'node:process';
import { Script, createContext } from 'node:vm';
import { type OutputUnit, type Schema, type SchemaDraft, dereference, validate } from '@cfworker/json-schema';
import { type Problem, errorText } from '../errors.ts';
import { coreLimits } from '../limits.ts';
import { type CleanSchema, cleanSchema } from './clean.ts';
import { problemsOf } from './problems.ts';

/** What a check found. */
export interface Checked {
  readonly problems: readonly Problem[];
  /** What of the schema was not checked and why; undefined when all of it was. */
  readonly note: string | undefined;
}

/**
 * Checks a value against one schema (JSON Schema 2020-12, older drafts by `$schema`). Never throws: a schema that
 * cannot be used, or takes too long, checks nothing and says so, because the server will look at its arguments anyway.
 */
export type SchemaCheck = (value: unknown) => Checked;

/**
 * `now` gives milliseconds; a schema that took too long is tried again after `coreLimits.schemaRestMs`. `withFormats`:
 * a text that has not the `format` that the schema names breaks it.
 */
export function compileSchema(schema: unknown, now: () => number = Date.now, withFormats = false): SchemaCheck {
  const cleaned = cleanSchema(schema, withFormats);
  if (!cleaned) return () => unchecked('it is too large or nested too deeply');
  const prepared = prepare(cleaned);
  if (typeof prepared === 'string') return () => unchecked(prepared);
  const { lookup, note } = prepared;
  let resting: { until: number; why: string } | undefined;

  return (value) => {
    if (resting && now() < resting.until) return unchecked(resting.why);
    try {
      const run = () => errorsOf(value, cleaned.schema, cleaned.draft, lookup);
      return { problems: problemsOf(cleaned.costly ? guarded(run) : run(), value), note };
    } catch (error) {
      const why = isTimeout(error) ? `checking took over ${coreLimits.schemaCheckMs} ms` : errorText(error);
      resting = { until: now() + coreLimits.schemaRestMs, why };
      return unchecked(why);
    }
  };
}

type Lookup = Record<string, Schema | boolean>;

/**
 * Resolves the references, or says in words why that is impossible. One that leads nowhere or elsewhere allows
 * everything.
 */
function prepare({ schema, references, leftOut }: CleanSchema): { lookup: Lookup; note: string | undefined } | string {
  let lookup: Lookup;
  try {
    lookup = dereference(schema);
  } catch (error) {
    return errorText(error);
  }
  const ignored = new Set(leftOut);
  for (const part of references) {
    if (part.$ref === undefined || lookup[part.__absolute_ref__ ?? part.$ref] !== undefined) continue;
    ignored.add(`$ref ${JSON.stringify(part.$ref.slice(0, 80))}`);
    delete part.$ref;
  }
  return { lookup, note: ignored.size === 0 ? undefined : `Not checked: ${[...ignored].slice(0, 5).join(', ')}.` };
}

function errorsOf(value: unknown, schema: Schema | boolean, draft: SchemaDraft, lookup: Lookup): OutputUnit[] {
  try {
    return validate(value, schema, draft, lookup, false).errors;
  } catch (error) {
    // Thousands of errors at once are more than the checker can pass around; the first will do.
    if (error instanceof RangeError) return validate(value, schema, draft, lookup, true).errors;
    throw error;
  }
}

function unchecked(why: string): Checked {
  return { problems: [], note: `The arguments were not checked against the schema: ${why}.` };
}

const call = new Script('run()');
let sandbox: { run?: () => void } | undefined;

/**
 * Runs work that may not end, and ends it. The watch that node:vm sets on a script also stops functions from outside
 * that it calls, regular expressions included. Throws what the work throws, and node:vm's own error when time is up.
 */
function guarded<T>(work: () => T): T {
  sandbox ??= createContext({}) as { run?: () => void };
  let result: { value: T } | undefined;
  sandbox.run = () => {
    result = { value: work() };
  };
  try {
    runInTime(sandbox);
  } finally {
    delete sandbox.run;
  }
  if (!result) throw new Error('it could not be run');
  return result.value;
}

/**
 * The watch goes by the clock: on a machine that gives this process nothing meanwhile, time is up before anything was
 * done. So that is tried again.
 */
function runInTime(context: object): void {
  for (let tries = 1; ; tries++) {
    const before = cpuUsage();
    try {
      call.runInContext(context, { timeout: coreLimits.schemaCheckMs });
      return;
    } catch (error) {
      const { user, system } = cpuUsage(before);
      const isSlow = user + system > coreLimits.schemaCheckMs * 500;
      if (!isTimeout(error) || isSlow || tries >= coreLimits.schemaCheckTries) throw error;
    }
  }
}

/** Errors of node:vm belong to another realm, so `instanceof` does not know them. */
function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
