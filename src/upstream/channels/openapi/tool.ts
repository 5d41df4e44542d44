import { upstreamLimits } from '../../limits.ts';
import type { DescribedBody } from './body.ts';
import { descriptionOf, examplesOf, type Schema } from './keywords.ts';
import type { DescribedParameter } from './parameters.ts';
import { entriesOf, own, ownText } from './pointer.ts';
import type { Convert, Schemas } from './schema.ts';

/** A tool as MCP lists it. There is no `outputSchema`: see decisions/0009. */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly annotations: Schema;
}

interface Parts {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Schema;
  readonly parameters: readonly DescribedParameter[];
  readonly body: DescribedBody | undefined;
  readonly schemas: Schemas;
}

/**
 * The tool of an operation. Its arguments are the parameters by their names and the body, whatever it is, under `body`:
 * the rule of MCPHub, exact in both directions (decisions/0009).
 */
export function describeTool(parts: Parts): Tool {
  const { name, operation } = parts;
  const summary = ownText(operation, 'summary')?.trim().slice(0, 200);
  return {
    name,
    ...(summary !== undefined && summary !== '' && { title: summary }),
    description: describe(parts, summary ?? ''),
    inputSchema: parts.schemas.compose((convert) => inputSchema(parts, convert)),
    annotations: annotationsOf(parts.method),
  };
}

function describe({ method, path, operation }: Parts, summary: string): string {
  const description = descriptionOf(operation) ?? '';
  const repeated = description.toLowerCase().startsWith(summary.toLowerCase());
  const text = (repeated ? [description] : [summary, description]).filter((part) => part !== '').join('\n\n');
  const whole = text === '' ? `${method.toUpperCase()} ${path}` : text;
  const marked = own(operation, 'deprecated') === true ? `Deprecated. ${whole}` : whole;
  return marked.slice(0, upstreamLimits.openapiDescriptionChars);
}

function inputSchema({ parameters, body }: Parts, convert: Convert): Schema {
  const properties = parameters.map((parameter) => [parameter.key, parameterSchema(parameter, convert)] as const);
  const required = parameters.filter((parameter) => parameter.required).map(({ key }) => key);
  if (body !== undefined) {
    properties.push(['body', bodySchema(body, convert)]);
    if (body.required) required.push('body');
  }
  return { type: 'object', properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
}

function parameterSchema({ key, name, in: place, source }: DescribedParameter, convert: Convert): Schema {
  const [content] = entriesOf(own(source, 'content')).map(([, media]) => media);
  const schema = own(source, 'schema') ?? own(content, 'schema');
  const sent = key === name ? undefined : `Sent as ${place} parameter "${name}".`;
  const examples = examplesOf(source);
  const converted = schema === undefined ? { type: 'string' } : asObject(convert(schema));
  const own_ = typeof converted['description'] === 'string' ? converted['description'] : undefined;
  return {
    ...converted,
    ...described([descriptionOf(source) ?? own_, sent]),
    ...(examples.length > 0 && { examples }),
    ...(own(source, 'deprecated') === true && { deprecated: true }),
  };
}

function bodySchema(body: DescribedBody, convert: Convert): Schema {
  if (body.kind === 'text')
    return { type: 'string', ...described([body.description, `Sent as it is, as ${body.mediaType}.`]) };
  if (body.kind === 'base64') {
    const how = `Bytes of type ${body.mediaType}, as base64.`;
    return {
      type: 'string',
      contentEncoding: 'base64',
      contentMediaType: body.mediaType,
      ...described([body.description, how]),
    };
  }
  const converted = body.schema === undefined ? {} : asObject(convert(body.schema, body.kind === 'multipart'));
  const own_ = typeof converted['description'] === 'string' ? converted['description'] : undefined;
  return { ...converted, ...described([body.description?.trim() || own_]) };
}

function described(parts: readonly (string | undefined)[]): { description?: string } {
  const text = parts.filter((part) => part !== undefined && part !== '').join('\n');
  return text === '' ? {} : { description: text.slice(0, upstreamLimits.openapiDescriptionChars) };
}

function asObject(schema: Schema | boolean): Schema {
  if (typeof schema !== 'boolean') return schema;
  return schema ? {} : { not: {} };
}

/**
 * What HTTP says of methods (RFC 9110, 9.2), as hints. An API may break it; then its hints are as wrong as its method.
 */
function annotationsOf(method: string): Schema {
  switch (method) {
    case 'get':
    case 'head':
    case 'options':
    case 'trace':
      return { readOnlyHint: true };
    case 'put':
      return { readOnlyHint: false, idempotentHint: true };
    case 'delete':
      return { readOnlyHint: false, destructiveHint: true, idempotentHint: true };
    default:
      return { readOnlyHint: false };
  }
}
