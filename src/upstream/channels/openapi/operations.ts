import { setImmediate as breathe } from 'node:timers/promises';

import { detached } from '../../../core/json/detached.ts';
import { coreLimits } from '../../../core/limits.ts';
import { isObject } from '../../../core/protocol/rpc.ts';
import { putLast } from '../../../core/put-last.ts';
import { upstreamLimits } from '../../limits.ts';
import { type Body, chooseBody, type DescribedBody, type Field, sameType } from './body.ts';
import type { MediaChoice } from './config.ts';
import { isVersion30 } from './document.ts';
import { argumentNames, toolNames } from './names.ts';
import { type DescribedParameter, type Parameter, parametersOf, type Supplied } from './parameters.ts';
import { type Document, entriesOf, own, ownText, resolved } from './pointer.ts';
import { openSchemas } from './schema.ts';
import { baseUrl, type ServerChoice } from './servers.ts';
import { openPacking, readPages, type TextPlace } from './pages.ts';
import { describeTool } from './tool.ts';

/** One operation of the document, ready to be called. Nothing of the document stays with it. */
export interface Operation {
  readonly name: string;
  /** Upper case. */
  readonly method: string;
  /** The template: `/users/{id}`. */
  readonly path: string;
  /** The address of the API, without a slash at its end. */
  readonly base: string;
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
}

/**
 * What became of a document. `problems` says, in words, what of it was left out, and `unused` what of the operator's
 * `mediaTypes` does not fit it.
 */
export interface Operations {
  readonly byName: ReadonlyMap<string, PackedOperation>;
  /** The list of tools, as `openPacking` packs it. */
  readonly tools: readonly Uint8Array[];
  /** How they are called, packed too: few of many are. */
  readonly calls: readonly Uint8Array[];
  readonly problems: readonly string[];
  readonly unused: readonly string[];
}

interface PackedOperation {
  readonly tool: TextPlace;
  readonly call: TextPlace;
}

/** An operation, and its tool as it is listed, as JSON text. */
export interface CalledOperation {
  readonly operation: Operation;
  readonly tool: string;
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

/** What is known of an API besides its document. */
export interface Reading {
  /** Undefined for a document that stands in the settings. */
  readonly documentUrl: string | undefined;
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
  const byName = new Map<string, PackedOperation>();
  const [tools, calls] = [openPacking(), openPacking()];
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
    if (typeof declared === 'string') {
      problems.push(`${label} has a parameter that could not be read: ${declared}`);
      continue;
    }
    const keys = argumentNames(declared, body !== undefined);
    const parameters = declared.map((parameter, at) => ({ ...parameter, key: keys[at] ?? parameter.name }));
    const tool = describeTool({ name, method, path, operation, parameters, body, schemas });
    const call = written({
      name,
      method: method.toUpperCase(),
      path,
      base: base.href,
      parameters: parameters.map(withoutSource),
      body: body && withoutSchema(body),
    });
    byName.set(name, { tool: tools.add(JSON.stringify(tool)), call: calls.add(call) });
  }
  for (const name of Object.keys(media.byTool)) if (!names.includes(name)) unused.push(`there is no tool ${name}`);
  problems.push(...[...schemas.unresolved].map((reference) => `${reference.slice(0, 200)} was not followed`));
  return { byName, tools: tools.packed(), calls: calls.packed(), problems, unused };
}

/**
 * The operation of a name, unpacked when it is called first. Those that were called last stay, as many as there are
 * compiled schemas.
 */
export function openOperations({ byName, tools, calls }: Operations): (name: string) => CalledOperation | undefined {
  const [listed, callable] = [readPages(tools), readPages(calls)];
  const called = new Map<string, CalledOperation>();
  return (name) => {
    let found = called.get(name);
    if (!found) {
      const places = byName.get(name);
      if (!places) return undefined;
      found = { operation: read(callable.text(places.call)), tool: detached(listed.text(places.tool)) };
    }
    putLast(called, name, found, coreLimits.schemas);
    return found;
  };
}

/** As JSON text, which has no maps. */
function written({ body, ...operation }: Operation): string {
  return JSON.stringify({ ...operation, ...(body && { body: { ...body, fields: [...body.fields] } }) });
}

/** What `written` has written. */
function read(text: string): Operation {
  const { body, ...operation } = JSON.parse(text) as WrittenOperation;
  return { ...operation, body: body && { ...body, fields: new Map(body.fields) } };
}

type WrittenOperation = Omit<Operation, 'body'> & {
  readonly body?: Omit<Body, 'fields'> & { readonly fields: readonly (readonly [string, Field])[] };
};

function withoutSource(parameter: DescribedParameter): Parameter {
  const { key, name, in: place, required, json, style, explode, allowReserved } = parameter;
  return { key, name, in: place, required, json, style, explode, allowReserved };
}

function withoutSchema({ kind, mediaType, required, fields }: DescribedBody): Body {
  return { kind, mediaType, required, fields };
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
  if (found.length <= upstreamLimits.openapiOperations) return found;
  problems.push(
    `${found.length - upstreamLimits.openapiOperations} operations are beyond the limit of ${upstreamLimits.openapiOperations}`,
  );
  return found.slice(0, upstreamLimits.openapiOperations);
}
