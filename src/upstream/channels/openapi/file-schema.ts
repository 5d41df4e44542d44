import { descriptionOf, type Schema } from './keywords.ts';
import { type Document, own, ownText, resolved } from './pointer.ts';

/**
 * Whether a schema of a multipart form is a file: binary text, or content of another type that no encoding turns into
 * text.
 */
export function isFile(document: Document, source: unknown): boolean {
  const schema = resolved(document, source);
  const type = own(schema, 'type');
  if (schema === undefined || (type !== undefined && type !== 'string')) return false;
  if (ownText(schema, 'format') === 'binary') return true;
  return ownText(schema, 'contentMediaType') !== undefined && ownText(schema, 'contentEncoding') === undefined;
}

/** The schema of a file as an argument: MCPHub's two forms of it. */
export function fileSchema(source: Schema): Schema {
  const how = 'A file: its bytes as base64, or {content, filename, contentType} with the bytes as base64 in content.';
  const base64 = { type: 'string', contentEncoding: 'base64' };
  const described = {
    type: 'object',
    properties: { content: base64, filename: { type: 'string' }, contentType: { type: 'string' } },
    required: ['content'],
  };
  const description = descriptionOf(source);
  return { description: description === undefined ? how : `${description}\n${how}`, anyOf: [base64, described] };
}
