import { randomBytes } from 'node:crypto';
import { HubError } from '../../../core/errors.ts';
import { elements } from '../../../core/json/text.ts';
import { type Document, entriesOf, own, ownText, resolved } from './pointer.ts';
import { isFile } from './keywords.ts';
import { inQuery, lastMembers, scalarText, type Style } from './styles.ts';

/** What an operation wants as its request body, as one media type of those it takes. */
export interface Body {
  /** `base64`: bytes of any kind, which arguments can only hold as base64 text. */
  readonly kind: 'json' | 'form' | 'multipart' | 'text' | 'base64';
  readonly mediaType: string;
  readonly required: boolean;
  /** How the fields of a form are written, where the document says. */
  readonly fields: ReadonlyMap<string, Field>;
}

/** A body with what describes it. */
export interface DescribedBody extends Body {
  /** The schema of the media type, as the document has it. */
  readonly schema: unknown;
  readonly description: string | undefined;
}

/** How a field of a form is written. */
export interface Field {
  readonly file: boolean;
  readonly contentType: string | undefined;
  readonly style: Style | undefined;
  readonly explode: boolean | undefined;
}

/** The bytes of a body and their type. */
export interface EncodedBody {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/**
 * Chooses the media type a model can write best: JSON, then forms, then text, then bytes. Of `preferred`, which the
 * operator has set, the first that the operation takes comes before all. Undefined when there is no body.
 */
export function chooseBody(
  document: Document,
  source: unknown,
  preferred: readonly string[] = [],
): DescribedBody | undefined {
  const requestBody = resolved(document, source);
  const candidates = entriesOf(own(requestBody, 'content'))
    .map(([mediaType, media]) => ({ ...kindOf(mediaType), media }))
    .toSorted((a, b) => a.rank - b.rank);
  const wanted = preferred.flatMap((type) => candidates.find(({ mediaType }) => sameType(mediaType, type)) ?? []);
  const [chosen] = [...wanted, ...candidates];
  if (chosen === undefined) return undefined;
  const described = own(chosen.media, 'schema');
  const schema = isJsonPatch(chosen.mediaType) && !isList(document, described) ? jsonPatch : described;
  return {
    kind: chosen.kind,
    mediaType: chosen.mediaType,
    required: own(requestBody, 'required') === true,
    schema,
    description: ownText(requestBody, 'description'),
    fields: fieldsOf(document, schema, own(chosen.media, 'encoding'), chosen.kind),
  };
}

/**
 * Writes the `body` argument, given as JSON text. Throws HubError `invalid_input` when it does not fit the kind of
 * body.
 */
export function encodeBody(body: Body, json: string): EncodedBody {
  const { mediaType } = body;
  switch (body.kind) {
    case 'json':
      return { contentType: mediaType, bytes: Buffer.from(json) };
    case 'text':
      return {
        contentType: /charset=/i.test(mediaType) ? mediaType : `${mediaType}; charset=utf-8`,
        bytes: Buffer.from(scalarText(json) ?? ''),
      };
    case 'base64':
      return { contentType: mediaType, bytes: fromBase64('body', scalarText(json) ?? '') };
    case 'form':
      return { contentType: mediaType, bytes: Buffer.from(formText(body, objectOf(json))) };
    case 'multipart':
      return multipart(body, objectOf(json));
  }
}

interface Kind {
  readonly kind: Body['kind'];
  readonly mediaType: string;
  readonly rank: number;
}

function kindOf(written: string): Kind {
  const mediaType = /^[\t\u0020-\u007e]+$/.test(written) ? written.trim() : 'application/octet-stream';
  const type = bareType(mediaType);
  if (type === 'application/json') return { kind: 'json', mediaType, rank: 0 };
  if (type === 'application/merge-patch+json') return { kind: 'json', mediaType, rank: 1 };
  // A list of operations on the document says less clearly what is meant than the members that change.
  if (isJsonPatch(type)) return { kind: 'json', mediaType, rank: 6 };
  if (/[+/]json$/.test(type)) return { kind: 'json', mediaType, rank: 2 };
  if (type === '*/*' || type === 'application/*') return { kind: 'json', mediaType: 'application/json', rank: 3 };
  if (type === 'application/x-www-form-urlencoded') return { kind: 'form', mediaType: type, rank: 4 };
  if (type === 'multipart/form-data') return { kind: 'multipart', mediaType: type, rank: 5 };
  if (type === 'text/*') return { kind: 'text', mediaType: 'text/plain', rank: 7 };
  if (/^text\/|[+/](xml|yaml|graphql|sql|javascript|x-yaml|x-ndjson)$/.test(type))
    return { kind: 'text', mediaType, rank: 7 };
  return { kind: 'base64', mediaType: type.includes('*') ? 'application/octet-stream' : mediaType, rank: 8 };
}

/** Of two media types, without their parameters. */
export function sameType(one: string, other: string): boolean {
  return bareType(one) === bareType(other);
}

function bareType(mediaType: string): string {
  return mediaType.replace(/;.*$/s, '').trim().toLowerCase();
}

function isJsonPatch(mediaType: string): boolean {
  return bareType(mediaType) === 'application/json-patch+json';
}

function isList(document: Document, schema: unknown): boolean {
  const described = resolved(document, schema);
  return own(described, 'type') === 'array' || own(described, 'items') !== undefined;
}

/** What a JSON Patch is (RFC 6902, 4); many documents describe it as an object, or as what it is applied to. */
const jsonPatch = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      op: { type: 'string', enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
      path: { type: 'string', description: 'Where, as a JSON Pointer: /name' },
      from: { type: 'string', description: 'From where, for move and copy' },
      value: {},
    },
    required: ['op', 'path'],
  },
};

function fieldsOf(document: Document, schema: unknown, encoding: unknown, kind: Body['kind']): Map<string, Field> {
  const fields = new Map<string, Field>();
  if (kind !== 'form' && kind !== 'multipart') return fields;
  for (const [name, property] of propertiesOf(document, schema)) {
    const how = own(encoding, name);
    const items = own(resolved(document, property), 'items');
    const explode = own(how, 'explode');
    fields.set(name, {
      file: kind === 'multipart' && (isFile(document, property) || isFile(document, items)),
      contentType: ownText(how, 'contentType'),
      style: formStyle(ownText(how, 'style')),
      explode: typeof explode === 'boolean' ? explode : undefined,
    });
  }
  return fields;
}

/**
 * The properties of an object schema, those of its `allOf` parts included; of a schema that goes on and on, the first.
 */
function propertiesOf(document: Document, source: unknown): [string, unknown][] {
  const found: [string, unknown][] = [];
  const open = [source];
  for (let looked = 0; open.length > 0 && looked < 100 && found.length < 1_000; looked++) {
    const schema = resolved(document, open.shift());
    found.push(...entriesOf(own(schema, 'properties')).slice(0, 1_000));
    const parts = own(schema, 'allOf');
    if (Array.isArray(parts)) open.push(...(parts.slice(0, 100) as unknown[]));
  }
  return found;
}

function formStyle(style: string | undefined): Style | undefined {
  return style === 'form' || style === 'spaceDelimited' || style === 'pipeDelimited' || style === 'deepObject'
    ? style
    : undefined;
}

/** Fields as OpenAPI's `encoding` has them; without one, lists are repeated and objects are JSON. */
function formText(body: Body, fields: [string, string][]): string {
  const pairs = fields.flatMap(([name, json]) => {
    const field = body.fields.get(name);
    const style = field?.style ?? 'form';
    const asJson = json.startsWith('{') && field?.style === undefined;
    const manner = { name, style, explode: field?.explode ?? style === 'form', allowReserved: false };
    return inQuery(manner, asJson ? JSON.stringify(json) : json);
  });
  return pairs.join('&');
}

/** A form with files (RFC 7578). Written here because FormData gives every part with a content type a file name. */
function multipart(body: Body, fields: [string, string][]): EncodedBody {
  const boundary = `form-${randomBytes(18).toString('hex')}`;
  const chunks: (string | Buffer)[] = [];
  for (const [name, json] of fields) {
    const field = body.fields.get(name);
    for (const one of json.startsWith('[') ? elements(json) : [json]) {
      if (one === 'null') continue;
      const { head, bytes } = field?.file === true ? filePart(name, field, one) : textPart(name, field, one);
      chunks.push(
        `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${head}\r\n\r\n`,
        bytes,
        '\r\n',
      );
    }
  }
  chunks.push(`--${boundary}--\r\n`);
  const bytes = Buffer.concat(chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)));
  return { contentType: `${body.mediaType}; boundary=${boundary}`, bytes };
}

function textPart(name: string, field: Field | undefined, json: string): { head: string; bytes: Buffer } {
  const type = headerText(name, field?.contentType ?? (json.startsWith('{') ? 'application/json' : ''));
  return { head: type === '' ? '' : `\r\nContent-Type: ${type}`, bytes: Buffer.from(scalarText(json) ?? '') };
}

function filePart(name: string, field: Field, json: string): { head: string; bytes: Buffer } {
  const described = new Map(
    json.startsWith('{') ? lastMembers(json).map(([key, text]) => [key, scalarText(text)]) : [],
  );
  const content = json.startsWith('{') ? described.get('content') : scalarText(json);
  const declared =
    field.contentType?.includes(',') === true || field.contentType?.includes('*') === true
      ? undefined
      : field.contentType;
  const type = described.get('contentType') ?? declared ?? 'application/octet-stream';
  const filename = quoted(described.get('filename') ?? 'upload');
  return {
    head: `; filename="${filename}"\r\nContent-Type: ${headerText(name, type)}`,
    bytes: fromBase64(name, content ?? ''),
  };
}

/** As browsers write names in forms: what would end the name or the line is percent-encoded. */
function quoted(text: string): string {
  return text.replace(/["\r\n]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

function headerText(name: string, text: string): string {
  if (/^[\t\u0020-\u007e]*$/.test(text)) return text;
  throw new HubError(
    'invalid_input',
    `The content type of "${name}" cannot hold line breaks or other special characters.`,
  );
}

function fromBase64(name: string, text: string): Buffer {
  const bare = text.replace(/\s+/g, '');
  if (/^[A-Za-z0-9+/_-]*={0,2}$/.test(bare)) return Buffer.from(bare, 'base64');
  throw new HubError('invalid_input', `"${name}" must be bytes written as base64 text.`);
}

function objectOf(json: string): [string, string][] {
  if (json.startsWith('{')) return lastMembers(json);
  throw new HubError('invalid_input', '"body" must be an object: its members are the fields of the form.');
}
