import { ownServer } from '../../core/own-items.ts';
import { exposedName } from '../../core/access/tool-name.ts';
import type { Target, View } from '../../core/access/view.ts';
import { memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { hasReferences, rebased } from './openapi-schema.ts';

export interface DocumentHead {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly serverUrl: string;
  /** Whether a credential is needed; otherwise one may be sent. */
  readonly authenticated: boolean;
  /** Of the settings, between the names of a server and its tools. */
  readonly separator: string;
}

/**
 * An OpenAPI 3.1 document with an operation per tool of a view, as JSON text; with `servers`, of these servers only.
 * Schemas are the tools' own, as text, since
 * 3.1 takes JSON Schema as it is.
 */
export function documentText(view: View, head: DocumentHead, servers?: ReadonlySet<string>): string {
  const operations = operationsOf(view, head.separator).filter(({ server }) => servers?.has(server) !== false);
  const bearer = { bearerAuth: [] };
  const document = {
    openapi: '3.1.0',
    info: { title: head.title, description: head.description, version: head.version },
    servers: [{ url: head.serverUrl }],
    // An empty requirement is one that nothing is needed for.
    security: head.authenticated ? [bearer] : [{}, bearer],
    tags: [...new Set(operations.map(({ server }) => server))].map((name) => ({ name })),
  };
  const schemas = [...commonSchemas, ...operations.flatMap(({ schemas }) => schemas)];
  const components = `{${commonComponents},"schemas":{${schemas.join(',')}}}`;
  const paths = `{${operations.map(({ path, item }) => `${JSON.stringify(path)}:${item}`).join(',')}}`;
  return `${JSON.stringify(document).slice(0, -1)},"paths":${paths},"components":${components}}`;
}

/** One tool's part of the document, JSON text where a text. */
interface Operation {
  readonly server: string;
  readonly path: string;
  readonly item: string;
  /** Members of `components.schemas`. */
  readonly schemas: readonly string[];
}

const made = new WeakMap<View, readonly Operation[]>();

/** Made once per view, like the bytes of its lists: a client that asks repeatedly costs no more than the sending. */
function operationsOf(view: View, separator: string): readonly Operation[] {
  let operations = made.get(view);
  if (!operations) {
    const { texts, targets } = view.lists.tools;
    operations = [...texts.entries()].flatMap(([index, text]) => {
      const target = targets[index];
      const name = target && pathName(view, text, target, separator);
      // Answers over REST are whole: there is nothing to read on in.
      return target && target.server !== ownServer && name !== undefined
        ? [operationOf(text, target, { index, name })]
        : [];
    });
    made.set(view, operations);
  }
  return operations;
}

/**
 * What the tool is called in a path. `.` and `..` are steps there, which clients take before they ask, percent-encoded
 * or not: such a tool goes by the name that other endpoints show it under. Undefined where that is another tool's.
 */
function pathName(
  view: View,
  tool: string,
  { server, key, name: own = key }: Target,
  separator: string,
): string | undefined {
  if (own !== '.' && own !== '..') return own;
  const shown = String(JSON.parse(memberText(tool, 'name') ?? 'null'));
  const name = shown === key ? exposedName(server, key, separator, []) : shown;
  const found = view.tool(name);
  return found?.server === server && found.key === key ? name : undefined;
}

function operationOf(
  tool: string,
  { server }: Target,
  { index, name: inPath }: { index: number; name: string },
): Operation {
  const schemas: string[] = [];
  const place = (kind: string, schema: string): string => {
    if (!hasReferences(schema)) return schema;
    // Names of components are limited to a few characters, so they are counted.
    const name = `Tool${index + 1}${kind}`;
    schemas.push(`"${name}":${rebased(schema, `#/components/schemas/${name}`)}`);
    return `{"$ref":"#/components/schemas/${name}"}`;
  };
  const input = schemaText(tool, 'inputSchema') ?? '{"type":"object"}';
  const parameters = queryParameters(input);
  const output = schemaText(tool, 'outputSchema');
  const name = memberText(tool, 'name') ?? '""';
  const members = [
    `"operationId":${name}`,
    `"tags":[${JSON.stringify(server)}]`,
    ...textMember(tool, 'title', 'summary'),
    ...textMember(tool, 'description', 'description'),
    parameters === undefined
      ? `"requestBody":{"required":true,"content":{"application/json":{"schema":${place('Input', input)}}}}`
      : `"parameters":[${parameters.join(',')}]`,
    `"responses":{"200":{"description":"What the tool answered; isError says whether it failed.","content":{"application/json":{"schema":${resultSchema(output && place('Output', output))}}}},"default":{"$ref":"#/components/responses/Failure"}}`,
  ];
  const path = `/tools/${encodeURIComponent(server)}/${encodeURIComponent(inPath)}`;
  return { server, path, item: `{"${parameters ? 'get' : 'post'}":{${members.join(',')}}}`, schemas };
}

/** A schema as 3.1 knows them, an object or a boolean; anything else is none. */
function schemaText(tool: string, member: string): string | undefined {
  const text = memberText(tool, member);
  return text !== undefined && /^(?:\{|true$|false$)/.test(text) ? text : undefined;
}

/**
 * The arguments as query parameters, where they are few and simple (reference: MCPHub §1.9); undefined where they need
 * a body.
 */
function queryParameters(input: string): string[] | undefined {
  const schema: unknown = JSON.parse(input);
  if (!isObject(schema) || hasReferences(input) || combining.some((keyword) => Object.hasOwn(schema, keyword)))
    return undefined;
  const { properties = {}, required, additionalProperties } = schema;
  if (!isObject(properties) || Object.keys(properties).length > 10) return undefined;
  if (additionalProperties === true || isObject(additionalProperties)) return undefined;
  const simple = Object.values(properties).every((property) => isObject(property) && simpleTypes.has(property['type']));
  if (!simple) return undefined;
  const text = memberText(input, 'properties') ?? '{}';
  return Object.keys(properties).map((name) => {
    const needed = Array.isArray(required) && required.includes(name);
    return `{"name":${JSON.stringify(name)},"in":"query","required":${needed},"schema":${memberText(text, name) ?? '{}'}}`;
  });
}

const simpleTypes: ReadonlySet<unknown> = new Set(['number', 'integer', 'boolean']);
const combining = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'patternProperties', 'minProperties', 'dependentRequired'];

function textMember(tool: string, from: string, to: string): string[] {
  const text = memberText(tool, from);
  return text?.startsWith('"') ? [`"${to}":${text}`] : [];
}

function resultSchema(structured: string | undefined): string {
  const result = '{"$ref":"#/components/schemas/ToolResult"}';
  if (structured === undefined) return result;
  return `{"allOf":[${result},{"type":"object","properties":{"structuredContent":${structured}}}]}`;
}

const toolResult = {
  type: 'object',
  properties: {
    content: { type: 'array', items: { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] } },
    structuredContent: {},
    isError: { type: 'boolean' },
  },
  required: ['content', 'isError'],
};

const failure = {
  type: 'object',
  properties: {
    error: { type: 'string' },
    message: { type: 'string' },
    errors: {
      type: 'array',
      items: { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } },
    },
  },
  required: ['error', 'message'],
};

const commonSchemas = [`"ToolResult":${JSON.stringify(toolResult)}`, `"Failure":${JSON.stringify(failure)}`];

const commonComponents = JSON.stringify({
  securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } },
  responses: {
    Failure: {
      description: 'The call could not be made.',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
    },
  },
}).slice(1, -1);
