import { CORE_SCHEMA, load, mergeTag, YAMLException } from 'js-yaml';

import { HubError } from '../../../core/errors.ts';
import { type Reason, reasonWords } from '../../../core/reasons.ts';
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
  const code = whyNot(value);
  const reason: Reason = { code, values: { where: source } };
  const { advice } = reasonWords(reason);
  throw new HubError('misconfigured', `Cannot use ${source} as an OpenAPI document: ${words[code]} ${advice}`, {
    reason,
  });
}

/** Whether schemas of this document follow OpenAPI 3.0's own dialect and not JSON Schema 2020-12. */
export function isVersion30(document: Document): boolean {
  return ownText(document, 'openapi')?.startsWith('3.0') === true;
}

const words = {
  api_no_document: 'it is not an object.',
  api_swagger: 'it is Swagger 2.0.',
  api_version: 'it does not say that it is OpenAPI 3.',
} as const;

function whyNot(value: unknown): keyof typeof words {
  if (!isObject(value)) return 'api_no_document';
  return Object.hasOwn(value, 'swagger') ? 'api_swagger' : 'api_version';
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
  const reason: Reason = { code: 'api_unreadable', values: { why } };
  return new HubError('misconfigured', `Cannot read ${source} as an OpenAPI document: ${why}.`, { cause, reason });
}
