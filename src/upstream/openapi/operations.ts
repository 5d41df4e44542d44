import { setImmediate as breathe } from 'node:timers/promises';

import { limits } from '../../core/limits.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { type Body, chooseBody, sameType } from './body.ts';
import type { MediaChoice } from './config.ts';
import { isVersion30 } from './document.ts';
import { argumentNames, toolNames } from './names.ts';
import { type Document, entriesOf, own, ownText, resolved } from './pointer.ts';
import { openSchemas } from './schema.ts';
import { baseUrl, type ServerChoice } from './servers.ts';
import type { Manner, Place, Style } from './styles.ts';
import { describeTool } from './tool.ts';

/** A parameter of an operation: where the argument called `key` goes. */
export interface Parameter extends Manner {
  readonly key: string;
  readonly in: Place;
  readonly required: boolean;
  /** The value is written as JSON (a parameter with `content`). */
  readonly json: boolean;
  /** As the document has it, for its schema and description. */
  readonly source: Record<string, unknown>;
}

/** One operation of the document, ready to be called. */
export interface Operation {
  readonly name: string;
  /** The tool as it is listed, as JSON text. */
  readonly tool: string;
  /** Upper case. */
  readonly method: string;
  /** The template: `/users/{id}`. */
  readonly path: string;
  readonly base: URL;
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
}

/**
 * What the operator supplies with every request, so that it is neither asked of callers nor theirs to change:
 * lower-case header names, and names in queries and cookies.
 */
export interface Supplied {
  readonly headers: ReadonlySet<string>;
  readonly query: ReadonlySet<string>;
  readonly cookies: ReadonlySet<string>;
}

/**
 * What became of a document. `problems` says, in words, what of it was left out, and `unused` what of the operator's
 * `mediaTypes` does not fit it.
 */
export interface Operations {
  readonly byName: ReadonlyMap<string, Operation>;
  readonly problems: readonly string[];
  readonly unused: readonly string[];
}

interface Found {
  readonly method: string;
  readonly path: string;
  readonly item: Record<string, unknown>;
  readonly operation: Record<string, unknown>;
  readonly operationId: string | undefined;
}

const noAddress =
  'its "servers" are relative, in a document without an address of its own, or have a variable without a value. ' +
  'Set "openapi.baseUrl" or "openapi.serverVariables"';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/**
 * Headers that OpenAPI has elsewhere (Accept, Content-Type, Authorization) or that belong to the connection: never
 * parameters.
 */
const reservedHeaders = new Set(
  'accept authorization connection content-length content-type cookie expect host keep-alive proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

/** What is known of an API besides its document. */
export interface Reading {
  /** Undefined for a document that stands in the settings. */
  readonly documentUrl: URL | undefined;
  readonly supplied: Supplied;
  readonly servers: ServerChoice;
  readonly media: MediaChoice;
}

/** Every operation of a document as a tool. Lets other work go on between them: a document may have thousands. */
export async function readOperations(
  document: Document,
  { documentUrl, supplied, servers, media }: Reading,
): Promise<Operations> {
  const problems: string[] = [];
  const unused: string[] = [];
  const found = findOperations(document, problems);
  const names = toolNames(found);
  const schemas = openSchemas(document, isVersion30(document));
  const byName = new Map<string, Operation>();
  let breathedAt = performance.now();
  for (const [index, { method, path, item, operation }] of found.entries()) {
    if (performance.now() - breathedAt > 10) {
      await breathe();
      breathedAt = performance.now();
    }
    const label = `${method.toUpperCase()} ${path}`;
    const listed = own(operation, 'servers') ?? own(item, 'servers') ?? own(document, 'servers');
    const base = baseUrl(listed, documentUrl, servers);
    if (base === undefined) {
      problems.push(`${label} has no server address: ${noAddress}`);
      continue;
    }
    const name = names[index] ?? '';
    const wanted = own(media.byTool, name);
    const preferred = [wanted, media.preferred].filter((type) => typeof type === 'string');
    const body = chooseBody(document, own(operation, 'requestBody'), preferred);
    if (typeof wanted === 'string' && (body === undefined || !sameType(body.mediaType, wanted)))
      unused.push(`${name} does not take ${wanted}`);
    const declared = parametersOf(document, path, [own(item, 'parameters'), own(operation, 'parameters')], supplied);
    if (declared === undefined) {
      problems.push(`${label} has a parameter that could not be read`);
      continue;
    }
    const keys = argumentNames(declared, body !== undefined);
    const parameters = declared.map((parameter, at) => ({ ...parameter, key: keys[at] ?? parameter.name }));
    const tool = describeTool({ name, method, path, operation, parameters, body, schemas });
    byName.set(name, { name, tool: JSON.stringify(tool), method: method.toUpperCase(), path, base, parameters, body });
  }
  for (const name of Object.keys(media.byTool)) if (!names.includes(name)) unused.push(`there is no tool ${name}`);
  problems.push(...[...schemas.unresolved].map((reference) => `${reference.slice(0, 200)} was not followed`));
  return { byName, problems, unused };
}

function findOperations(document: Document, problems: string[]): Found[] {
  const found: Found[] = [];
  for (const [path, source] of entriesOf(own(document, 'paths'))) {
    const item = resolved(document, source);
    if (item === undefined || !path.startsWith('/')) {
      if (!path.startsWith('x-')) problems.push(`${path} is not a path of this document`);
      continue;
    }
    for (const method of methods) {
      const operation = own(item, method);
      if (!isObject(operation)) continue;
      found.push({ method, path, item, operation, operationId: ownText(operation, 'operationId') });
    }
  }
  if (found.length <= limits.openapiOperations) return found;
  problems.push(
    `${found.length - limits.openapiOperations} operations are beyond the limit of ${limits.openapiOperations}`,
  );
  return found.slice(0, limits.openapiOperations);
}

type Declared = Omit<Parameter, 'key'>;

const placeOrder: Place[] = ['path', 'query', 'header', 'cookie'];

/**
 * The parameters of a path and an operation, the operation's overriding; in the order path, query, header, cookie.
 * Undefined when one cannot be read.
 */
function parametersOf(document: Document, path: string, lists: unknown[], supplied: Supplied): Declared[] | undefined {
  const byPlace = new Map<string, Declared>();
  const inTemplate = new Set([...path.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] ?? ''));
  for (const source of lists.flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]).slice(0, limits.openapiParameters) : [],
  )) {
    const parameter = declared(document, source);
    if (parameter === undefined) return undefined;
    if (parameter !== 'ignored') byPlace.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  // A placeholder that is not declared in the document is a parameter all the same: without a value the path is wrong.
  for (const name of inTemplate) {
    if (!byPlace.has(`path ${name}`)) byPlace.set(`path ${name}`, { ...pathParameter, name });
  }
  const asked = [...byPlace.values()].filter(
    (parameter) => (parameter.in !== 'path' || inTemplate.has(parameter.name)) && !isSupplied(parameter, supplied),
  );
  return asked.toSorted((a, b) => placeOrder.indexOf(a.in) - placeOrder.indexOf(b.in));
}

const pathParameter: Omit<Declared, 'name'> = {
  in: 'path',
  style: 'simple',
  explode: false,
  required: true,
  allowReserved: false,
  json: false,
  source: {},
};

function declared(document: Document, source: unknown): Declared | 'ignored' | undefined {
  const parameter = resolved(document, source);
  const name = ownText(parameter, 'name');
  const place = placeOrder.find((one) => one === own(parameter, 'in'));
  if (parameter === undefined || name === undefined || place === undefined) return undefined;
  if (place === 'header' && (reservedHeaders.has(name.toLowerCase()) || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)))
    return 'ignored';
  const style = styleOf(place, ownText(parameter, 'style'));
  const explode = own(parameter, 'explode');
  return {
    name,
    in: place,
    style,
    explode: typeof explode === 'boolean' ? explode : style === 'form' || style === 'deepObject',
    required: place === 'path' || own(parameter, 'required') === true,
    allowReserved: own(parameter, 'allowReserved') === true,
    json: isObject(own(parameter, 'content')),
    source: parameter,
  };
}

const styles: Readonly<Record<Place, readonly Style[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};

/** The style a parameter has; one that its place does not know is the default of the place. */
function styleOf(place: Place, written: string | undefined): Style {
  return styles[place].find((style) => style === written) ?? styles[place][0] ?? 'simple';
}

function isSupplied({ in: place, name }: Declared, supplied: Supplied): boolean {
  if (place === 'header') return supplied.headers.has(name.toLowerCase());
  if (place === 'query') return supplied.query.has(name);
  return place === 'cookie' && supplied.cookies.has(name);
}
