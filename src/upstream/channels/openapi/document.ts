import { CORE_SCHEMA, load, mergeTag, YAMLException } from 'js-yaml';

import { HubError } from '../../../core/errors.ts';
import { isObject } from '../../../core/protocol/rpc.ts';
import { type Document, ownText } from './pointer.ts';

/** YAML 1.2, where `no` is text and dates are text too, with the merge keys that hand-written documents use. */
const schema = CORE_SCHEMA.withTags(mergeTag);

/**
 * Reads an OpenAPI 3.0 or 3.1 document from JSON or YAML text, whatever the content type said: servers send either as
 * anything. Throws HubError `misconfigured`, for a syntax error with its line and column.
 */
export function parseDocument(text: string, source: string): Document {
  const bare = text.replace(/^\uFEFF/, '');
  return checked(parseJson(bare) ?? parseYaml(bare, source), source);
}

/**
 * JSON is a part of YAML, read fifty times faster; what is wrong with it YAML's reader says better, with line and
 * column.
 */
function parseJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Checks that a value is an OpenAPI document of a version that is understood. Throws HubError `misconfigured`. */
export function checked(value: unknown, source: string): Document {
  const version = ownText(value, 'openapi');
  if (isObject(value) && version !== undefined && /^3\.\d/.test(version)) return value;
  throw new HubError('misconfigured', `Cannot use ${source} as an OpenAPI document: ${whyNot(value)}`);
}

/** Whether schemas of this document follow OpenAPI 3.0's own dialect and not JSON Schema 2020-12. */
export function isVersion30(document: Document): boolean {
  return ownText(document, 'openapi')?.startsWith('3.0') === true;
}

function whyNot(value: unknown): string {
  if (!isObject(value))
    return 'it is not an object. Is this the address of the documentation page and not of the document?';
  if (Object.hasOwn(value, 'swagger'))
    return 'it is Swagger 2.0. Convert it to OpenAPI 3, for example with https://converter.swagger.io.';
  return 'the member "openapi" must say "3.0.x" or "3.1.x".';
}

function parseYaml(text: string, source: string): unknown {
  try {
    return load(text, { schema });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw unreadable(source, 'not YAML', error);
    const { mark, reason } = error;
    const where = mark === undefined ? '' : ` at line ${mark.line + 1}, column ${mark.column + 1}`;
    throw unreadable(source, `${reason}${where}`, error);
  }
}

function unreadable(source: string, why: string, cause: unknown): HubError {
  return new HubError('misconfigured', `Cannot read ${source} as an OpenAPI document: ${why}.`, { cause });
}
