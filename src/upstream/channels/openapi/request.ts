import { exactText } from '../../../core/arguments/exact.ts';
import type { PreparedArguments, ToolArguments } from '../../../core/arguments/tool.ts';
import { HubError } from '../../../core/errors.ts';
import { invalid } from '../../../core/input.ts';
import { childPath } from '../../../core/json/path.ts';
import { encodeBody, type EncodedBody } from './body.ts';
import type { Operation } from './operations.ts';
import type { Parameter, Supplied } from './parameters.ts';
import { encoded, inCookie, inHeader, inPath, inQuery, lastMembers, ownNames, scalarText } from './styles.ts';

/** A request as the arguments make it; credentials come later. */
export interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** `name=value`, encoded. */
  readonly cookies: readonly string[];
  readonly body: EncodedBody | undefined;
}

/** What a call is made with: `tool` is the tool as it is listed, as JSON text. */
export interface Making {
  readonly supplied: Supplied;
  readonly toolArguments: ToolArguments;
  readonly tool: string;
}

/**
 * Puts each argument in its place and nowhere else. `argumentsJson` is the JSON text of an object, so that numbers keep
 * their spelling. Throws HubError `invalid_input`, naming the argument, for one that is missing, unknown, that the
 * schema of the tool does not allow, or that would leave its place: an empty or dot segment of the path, a line break
 * in a header, a key of an exploded object that is another parameter's.
 */
export function buildRequest(
  operation: Operation,
  argumentsJson: string,
  { supplied, toolArguments, tool }: Making,
): Request {
  const named = givenArguments(operation, argumentsJson);
  const required = [...operation.parameters, { key: 'body', required: operation.body?.required === true }];
  for (const { key, required: isRequired } of required) if (isRequired && !named.has(key)) throw missing(key);
  const given = fitting(operation, named, (value) => toolArguments.prepare(tool, value));
  const query: string[] = [];
  const cookies: string[] = [];
  const headers: Record<string, string> = {};
  for (const parameter of operation.parameters) {
    const json = given.get(parameter.key);
    const others = othersOf(operation, parameter, supplied);
    if (json !== undefined) place(parameter, json, { query, cookies, headers, others });
  }
  const { body } = operation;
  const bodyJson = given.get('body');
  return {
    method: operation.method,
    url: urlOf(operation, given, query),
    headers,
    cookies,
    body: body === undefined || bodyJson === undefined ? undefined : encodeBody(body, bodyJson),
  };
}

/**
 * The arguments by key. A parameter may also be called by the name it has in the document. Null is the same as not
 * given, except for a body.
 */
function givenArguments(operation: Operation, argumentsJson: string): Map<string, string> {
  const keys = new Set(operation.parameters.map(({ key }) => key));
  if (operation.body !== undefined) keys.add('body');
  const given = new Map<string, string>();
  for (const [name, json] of lastMembers(argumentsJson)) {
    const key = keys.has(name) ? name : operation.parameters.find((parameter) => parameter.name === name)?.key;
    if (key === undefined) {
      const known = keys.size === 0 ? 'It takes none.' : `Known: ${[...keys].join(', ')}.`;
      throw new HubError('invalid_input', `Tool "${operation.name}" has no argument "${name.slice(0, 100)}". ${known}`);
    }
    if (json !== 'null' || key === 'body') given.set(key, json);
  }
  return given;
}

type Prepare = (value: unknown) => PreparedArguments;

/**
 * The arguments as the schema of the tool has them: text that is exactly a number becomes one, as it does over plain
 * HTTP, and what does not fit is refused here. The API might take `limit=three` for no limit at all.
 */
function fitting(operation: Operation, given: Map<string, string>, prepare: Prepare): Map<string, string> {
  const first = prepared(given, prepare);
  if (first.problems.length === 0) return first.fitting;
  // A number where text is expected is sent as that text: in its place both are the same.
  const texts = operation.parameters.flatMap(({ key }): [string, string][] => {
    const json = given.get(key);
    const isScalar = json !== undefined && /^[-\dtf]/.test(json);
    return isScalar && first.problems.some(({ path }) => path === childPath('', key)) ? [[key, `"${json}"`]] : [];
  });
  const second = texts.length > 0 ? prepared(new Map([...given, ...texts]), prepare) : first;
  if (second.problems.length === 0) return second.fitting;
  throw invalid(`Cannot call tool "${operation.name}"`, second.problems);
}

function prepared(given: Map<string, string>, prepare: Prepare) {
  const text = `{${[...given].map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(',')}}`;
  const value: unknown = JSON.parse(text);
  const { value: converted, problems } = prepare(value);
  const fitting = converted === value ? given : new Map(lastMembers(exactText(converted, value, text)));
  return { problems, fitting };
}

interface Places {
  readonly query: string[];
  readonly cookies: string[];
  readonly headers: Record<string, string>;
  /** Names in the same place that are not this parameter's to set. */
  readonly others: (name: string) => boolean;
}

function place(parameter: Parameter, json: string, { query, cookies, headers, others }: Places): void {
  const text = parameter.json ? JSON.stringify(json) : json;
  const stolen = ownNames(parameter, text).find(others);
  if (stolen !== undefined && parameter.in !== 'path') {
    throw new HubError(
      'invalid_input',
      `Argument "${parameter.key}" cannot have the member "${stolen}": that is another parameter.`,
    );
  }
  if (parameter.in === 'query') query.push(...inQuery(parameter, text));
  if (parameter.in === 'cookie') cookies.push(...inCookie(parameter, text));
  const header = parameter.in === 'header' ? inHeader(parameter, text) : undefined;
  if (header !== undefined) headers[parameter.name.toLowerCase()] = header;
}

function othersOf(operation: Operation, parameter: Parameter, supplied: Supplied): (name: string) => boolean {
  const reserved = parameter.in === 'query' ? supplied.query : supplied.cookies;
  return (name) =>
    reserved.has(name) ||
    operation.parameters.some((other) => other !== parameter && other.in === parameter.in && other.name === name);
}

function urlOf(operation: Operation, given: ReadonlyMap<string, string>, query: readonly string[]): URL {
  const { path, parameters } = operation;
  const base = new URL(operation.base);
  const byName = new Map(parameters.filter((one) => one.in === 'path').map((one) => [one.name, one]));
  const [template = '', fixedQuery = ''] = (path.split('#')[0] ?? '').split('?');
  const filled = template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const parameter = byName.get(name);
    const json = parameter && given.get(parameter.key);
    if (parameter === undefined || json === undefined) throw missing(parameter?.key ?? name);
    const text = parameter.json ? encoded(scalarText(JSON.stringify(json)) ?? '') : inPath(parameter, json);
    // An empty one would address the collection instead: DELETE /users/ and not /users/7.
    if (text === undefined || text === '')
      throw new HubError('invalid_input', `Argument "${parameter.key}" must not be empty.`);
    return text;
  });
  if (filled.split(/[/\\]/).some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) {
    throw new HubError(
      'invalid_input',
      'An argument makes a segment of the path "." or "..", which would address something else.',
    );
  }
  const search = [fixedQuery, ...query].filter((part) => part !== '').join('&');
  const url = new URL(
    `${base.origin}${base.pathname.replace(/\/+$/, '')}${filled}${search === '' ? '' : `?${search}`}`,
  );
  if (url.origin !== base.origin)
    throw new HubError('invalid_input', 'The arguments lead away from the server of this API.');
  return url;
}

function missing(key: string): HubError {
  return new HubError('invalid_input', `Argument "${key}" is missing.`);
}
