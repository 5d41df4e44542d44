import { queryArguments } from '../core/arguments/query.ts';
import type { ToolArguments } from '../core/arguments/tool.ts';
import { HubError, type Problem } from '../core/errors.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { resolveRef } from '../core/schema/ref.ts';
import { typesOf } from '../core/schema/types.ts';
import { nearNames } from './near-names.ts';
import { oneLine } from './terminal.ts';

interface CalledTool {
  readonly name: string;
  readonly inputSchema?: unknown;
}

/**
 * Arguments of a tool from words of the command line, `--name value` or `--name=value`, by the tool's schema. A name
 * that is given twice is a list, `--a.b` is member `b` of `a`, `--flag` and `--no-flag` are true and false. Throws
 * HubError `misconfigured` that names each problem with what the tool says about the argument.
 */
export function namedArguments(
  tool: CalledTool,
  words: readonly string[],
  toolArguments: Pick<ToolArguments, 'prepare'>,
): Record<string, unknown> {
  const schema = isObject(tool.inputSchema) ? tool.inputSchema : {};
  const query = new URLSearchParams();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const [, given = '', inline] = /^--([^=]+)(?:=([^]*))?$/.exec(word) ?? [];
    if (given === '') throw wrong(tool, `"${oneLine(word, 60)}" is no argument: write --name value`);
    const { name, types, isOff } = propertyOf(tool, schema, given);
    const next = words[at + 1];
    const isFlag = types?.has('boolean') === true && inline === undefined && next !== 'true' && next !== 'false';
    if (isFlag || isOff) query.append(name, String(!isOff));
    else if (inline !== undefined) query.append(name, inline);
    else if (next === undefined || /^--\D/.test(next))
      throw wrong(tool, `--${given} needs a value (one that begins with "--" is written --${given}=…)`);
    else {
      query.append(name, next);
      at++;
    }
  }
  const { value, problems } = queryArguments(query, schema);
  const prepared = toolArguments.prepare(JSON.stringify(tool), value, { wrapSingles: true });
  return checked(tool, prepared.value, [...problems, ...prepared.problems]);
}

/** Arguments as one JSON object, which is sent as it is once it keeps the schema. Throws as `namedArguments`. */
export function jsonArguments(
  tool: CalledTool,
  text: string,
  toolArguments: Pick<ToolArguments, 'check'>,
): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(tool, `--json is no JSON: ${oneLine(error instanceof Error ? error.message : '', 200)}`);
  }
  return checked(tool, value, toolArguments.check(JSON.stringify(tool), value));
}

function checked(tool: CalledTool, value: unknown, problems: readonly Problem[]): Record<string, unknown> {
  if (!isObject(value)) throw wrong(tool, 'the arguments have to be one JSON object');
  const missing = requiredOf(tool.inputSchema).filter((name) => !Object.hasOwn(value, name));
  const others = problems.filter(({ path }) => !missing.includes(path) && (path !== '' || missing.length === 0));
  const lines = [
    ...missing.map((name) => `  --${oneLine(name, 100)} is missing${describedAs(tool.inputSchema, name)}`),
    ...others.map(
      ({ path, message }) =>
        `  ${path === '' ? '' : `--${oneLine(path, 100)}: `}${oneLine(message)}${describedAs(tool.inputSchema, path.split(/[.[]/, 1)[0] ?? '')}`,
    ),
  ];
  if (lines.length === 0) return value;
  throw new HubError('misconfigured', [`Cannot call ${oneLine(tool.name, 100)}:`, ...lines].join('\n'));
}

/** The property that is meant: its name, or the same letters with other signs between them (`max-results`). */
function propertyOf(tool: CalledTool, schema: Record<string, unknown>, given: string) {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const names = Object.keys(properties);
  const [top = '', ...rest] = given.split('.');
  const find = (text: string): string | undefined => {
    if (Object.hasOwn(properties, text)) return text;
    const same = names.filter((name) => plain(name) === plain(text));
    return same.length === 1 ? same[0] : undefined;
  };
  const typesIn = (name: string) => {
    const property = properties[name];
    const resolved =
      isObject(property) && typeof property['$ref'] === 'string' ? resolveRef(schema, property['$ref']) : property;
    return isObject(resolved) ? typesOf(resolved) : undefined;
  };
  const whole = find(given);
  if (whole !== undefined) return { name: whole, types: typesIn(whole), isOff: false };
  const inner = rest.length > 0 ? find(top) : undefined;
  if (inner !== undefined) return { name: [inner, ...rest].join('.'), types: undefined, isOff: false };
  const negated = given.startsWith('no-') ? find(given.slice(3)) : undefined;
  if (negated !== undefined && typesIn(negated)?.has('boolean') === true)
    return { name: negated, types: undefined, isOff: true };
  // A tool that names none, or takes others too in so many words, gets what is given.
  if (names.length === 0 || schema['additionalProperties'] === true || isObject(schema['additionalProperties']))
    return { name: given, types: undefined, isOff: false };
  const near = nearNames(given, names);
  const known = near.length > 0 ? `Did you mean ${listedNames(near)}?` : `It takes ${listedNames(names.slice(0, 20))}.`;
  throw wrong(tool, `it has no argument --${oneLine(given, 60)}. ${known}`, '');
}

const plain = (name: string): string => name.replace(/[-_]/g, '').toLowerCase();

const listedNames = (names: readonly string[]): string => names.map((name) => `--${oneLine(name, 100)}`).join(', ');

function requiredOf(schema: unknown): string[] {
  const required = isObject(schema) && Array.isArray(schema['required']) ? schema['required'] : [];
  return required.filter((name) => typeof name === 'string');
}

/** ` (string): what the tool says of it`. */
function describedAs(schema: unknown, name: string): string {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (!isObject(property)) return '';
  const types = [...(typesOf(property) ?? [])].join(' or ');
  const { description } = property;
  return `${types === '' ? '' : ` (${types})`}${typeof description === 'string' ? `: ${oneLine(description)}` : ''}`;
}

function wrong(tool: CalledTool, why: string, end = '.'): HubError {
  return new HubError('misconfigured', `Cannot call ${oneLine(tool.name, 100)}: ${why}${end}`);
}
