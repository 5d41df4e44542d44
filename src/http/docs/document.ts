import { z } from 'zod';
import { components } from '../../core/answers/components.ts';
import { object, ref, type Schema, text } from '../../core/answers/schema.ts';
import type { Operation, Subject } from '../frame/operation.ts';

/** A route as the router has it. */
export interface Mounted {
  readonly method: string;
  readonly path: string;
}

export interface DocumentOptions {
  readonly subjects: readonly Subject[];
  readonly mounted: readonly Mounted[];
  /** Whether a route may be called without a credential. */
  readonly isOpen: (route: Mounted) => boolean;
  /** Where the API is mounted: `${BASE_PATH}/api`. */
  readonly mount: string;
  readonly version: string;
}

/** An operation of the document. */
export interface Described extends Operation {
  readonly method: string;
  /** As OpenAPI writes it: `/groups/{id}`. */
  readonly path: string;
  readonly subject: string;
  readonly open: boolean;
}

/** Every mounted route in the order of the subjects; one that no subject describes comes last, without a summary. */
export function describe({ subjects, mounted, isOpen }: DocumentOptions): Described[] {
  const keys = mounted.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`);
  const routes = new Set(keys);
  const described = subjects.flatMap(({ name, operations }) =>
    Object.entries(operations).map(([key, operation]) => ({ key, subject: name, operation })),
  );
  const known = new Set(described.map(({ key }) => key));
  const others = [...routes].filter((key) => !known.has(key));
  return [
    ...described.filter(({ key }) => routes.has(key)),
    ...others.map((key) => ({ key, subject: 'Other', operation: { summary: '' } })),
  ].map(({ key, subject, operation }) => {
    const [method = '', path = ''] = key.split(' ');
    const open = isOpen({ method, path: path.replace(/:\w+/g, 'x') });
    return { ...operation, method, path: path.replace(/:(\w+)/g, '{$1}'), subject, open };
  });
}

/** The OpenAPI 3.1 document of the management API. Bodies are described by the very schemas that validate them. */
export function openApiDocument(options: DocumentOptions): Schema {
  const described = describe(options);
  const paths: Record<string, Record<string, Schema>> = {};
  for (const operation of described) {
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = operationObject(operation);
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tool Hub management API',
      version: options.version,
      description: 'Get a token with POST /auth/login, or make an access key, and send it as "Authorization: Bearer".',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.mount }],
    tags: [...new Set(described.map(({ subject }) => subject))].map((name) => ({ name })),
    security: [{ bearer: [] }],
    paths,
    components: { schemas: components, securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  };
}

function operationObject(operation: Described): Schema {
  const { method, path, subject, open, summary, description, body } = operation;
  return {
    operationId: operationId(method, path),
    tags: [subject],
    summary,
    ...(description !== undefined && { description }),
    // Known or not, a credential is welcome where none is needed.
    ...(open && { security: [{}, { bearer: [] }] }),
    parameters: parametersOf(operation),
    ...(body && { requestBody: { required: operation.bodyOptional !== true, content: contentOf(body) } }),
    responses: responsesOf(operation),
  };
}

function operationId(method: string, path: string): string {
  const words = path.match(/\w+/g) ?? [];
  return [method.toLowerCase(), ...words.map((word) => word[0]?.toUpperCase() + word.slice(1))].join('');
}

function parametersOf({ path, query = {}, headers = {} }: Described): Schema[] {
  const parameters = (where: string, all: Readonly<Record<string, Schema>>): Schema[] =>
    Object.entries(all).map(([name, schema]) => ({ name, in: where, required: where === 'path', schema }));
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, text] as const);
  return [
    ...parameters('path', Object.fromEntries(names)),
    ...parameters('query', query),
    ...parameters('header', headers),
  ];
}

/** The content of a body: JSON by its schema, or what is described by hand. */
export function contentOf(body: NonNullable<Operation['body']>): Record<string, { schema: Schema }> {
  if (!(body instanceof z.ZodType)) return { [body.type]: { schema: body.schema } };
  const { $schema: _, ...schema } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' });
  return { 'application/json': { schema } };
}

function responsesOf(operation: Described): Schema {
  const { method, path, answer, created, admin, open, body, query, bareFailures } = operation;
  const failure = bareFailures ? 'BareFailure' : 'Failure';
  const failed = (description: string): Schema => ({
    description,
    content: { 'application/json': { schema: ref(failure) } },
  });
  const type = answer && 'bare' in answer ? (answer.type ?? 'application/json') : 'application/json';
  return {
    [created && method === 'POST' ? '201' : '200']: {
      description: 'Done',
      content: { [type]: { schema: answerSchema(answer) } },
    },
    ...((body || query) && { 400: failed('The input is not valid; `errors` says where') }),
    ...(!open && { 401: failed('No credential, or one that does not hold') }),
    ...(admin && { 403: failed('Only for admins') }),
    ...(path.includes('{') && { 404: failed('There is no such thing, or not for this caller') }),
    default: failed('Anything else that went wrong'),
  };
}

function answerSchema(answer: Operation['answer']): Schema {
  if (!answer) return object({ success: { const: true }, message: text });
  if ('bare' in answer) return answer.bare;
  return object({ success: { const: true }, data: answer.data }, { message: text, ...answer.beside });
}
