import { HubError } from '../../../core/errors.ts';
import { elements, members } from '../../../core/json/text.ts';

export type Place = 'path' | 'query' | 'header' | 'cookie';
export type Style = 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';

/** How a value is written into a request (OpenAPI 3.1, Parameter Object, Style Values). */
export interface Manner {
  readonly name: string;
  readonly style: Style;
  readonly explode: boolean;
  /**
   * Leaves `:/?@!$'()*,;` as they are, in queries. `&`, `=`, `+` and `#` would end the value and are encoded all the
   * same.
   */
  readonly allowReserved: boolean;
}

/**
 * An argument, taken apart as far as styles care: numbers keep the spelling of the JSON text, what is nested deeper
 * stays JSON. Null means the argument was not given, also inside lists and objects.
 */
type Value =
  | { readonly kind: 'one'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [string, string])[] };

/**
 * The value within its path segment, every character of it encoded that is not unreserved (RFC 3986). Undefined when
 * there is none.
 */
export function inPath({ name, style, explode }: Manner, json: string): string | undefined {
  const value = valueOf(json);
  if (value === undefined) return undefined;
  if (style === 'label') return `.${joined(value, explode ? '.' : ',', explode)}`;
  if (style !== 'matrix') return joined(value, ',', explode);
  if (value.kind === 'list' && explode) return value.items.map((item) => `;${encoded(name)}=${encoded(item)}`).join('');
  if (value.kind === 'fields' && explode) return `;${joined(value, ';', true)}`;
  return `;${encoded(name)}=${joined(value, ',', false)}`;
}

/** The `name=value` pairs of a query, encoded. Also those of a form body, where spaces are `%20` as well. */
export function inQuery(manner: Manner, json: string): string[] {
  const { style, explode, allowReserved } = manner;
  const name = encodedName(manner.name);
  if (style === 'deepObject') return deep(name, json, 0);
  const value = valueOf(json);
  if (value === undefined) return [];
  const write = allowReserved ? encodedReserved : encoded;
  if (value.kind === 'one') return [`${name}=${write(value.text)}`];
  if (explode) {
    if (value.kind === 'list') return value.items.map((item) => `${name}=${write(item)}`);
    return value.fields.map(([key, text]) => `${encodedName(key)}=${write(text)}`);
  }
  const parts = value.kind === 'list' ? value.items : value.fields.flat();
  const separator = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ',';
  return parts.length === 0 ? [] : [`${name}=${parts.map(write).join(separator)}`];
}

/**
 * The value of a header, as it is. Throws HubError `invalid_input` for what a header cannot hold, line breaks above
 * all.
 */
export function inHeader({ name, explode }: Manner, json: string): string | undefined {
  const value = valueOf(json);
  if (value === undefined) return undefined;
  const text = plain(value, explode);
  if (/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(text)) return text;
  throw new HubError(
    'invalid_input',
    `The header "${name}" cannot hold line breaks, control characters or characters beyond Latin-1.`,
  );
}

/** The `name=value` pairs of a cookie, encoded. */
export function inCookie(manner: Manner, json: string): string[] {
  return inQuery({ ...manner, style: 'form', allowReserved: false }, json);
}

/** The keys that an exploded object brings along in place of its parameter's name. */
export function ownNames({ style, explode }: Manner, json: string): string[] {
  return style === 'form' && explode && json.startsWith('{') ? members(json).map(({ key }) => key) : [];
}

/** A string as its characters, a number, boolean or anything nested as its JSON text. Undefined for null. */
export function scalarText(json: string): string | undefined {
  if (json === 'null') return undefined;
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

function valueOf(json: string): Value | undefined {
  if (json.startsWith('[')) {
    return {
      kind: 'list',
      items: elements(json)
        .map(scalarText)
        .filter((item) => item !== undefined),
    };
  }
  if (json.startsWith('{')) {
    const fields = lastMembers(json).map(([key, text]) => [key, scalarText(text)] as const);
    return {
      kind: 'fields',
      fields: fields.filter((field): field is readonly [string, string] => field[1] !== undefined),
    };
  }
  const text = scalarText(json);
  return text === undefined ? undefined : { kind: 'one', text };
}

/** The members of an object's text; of duplicates the last, as `JSON.parse` has it. */
export function lastMembers(json: string): [string, string][] {
  return [...new Map(members(json).map(({ key, start, end }) => [key, json.slice(start, end)]))];
}

function joined(value: Value, separator: string, explode: boolean): string {
  if (value.kind === 'one') return encoded(value.text);
  if (value.kind === 'list') return value.items.map(encoded).join(separator);
  const equals = explode ? '=' : ',';
  return value.fields.map(([key, text]) => `${encoded(key)}${equals}${encoded(text)}`).join(explode ? separator : ',');
}

function plain(value: Value, explode: boolean): string {
  if (value.kind === 'one') return value.text;
  if (value.kind === 'list') return value.items.join(',');
  return value.fields.map(([key, text]) => `${key}${explode ? '=' : ','}${text}`).join(',');
}

/**
 * `name[key]=value`. OpenAPI defines one level; deeper ones are written the way PHP, Rails, Express and the payment
 * services read them: `name[a][b]=1`, lists of plain values `name[]=1`, lists of anything else `name[0][a]=1`.
 */
function deep(name: string, json: string, depth: number): string[] {
  if (depth > 16) throw new HubError('invalid_input', 'An argument in a query is nested more than 16 levels deep.');
  if (json.startsWith('{')) {
    return lastMembers(json).flatMap(([key, text]) => deep(`${name}[${encoded(key)}]`, text, depth + 1));
  }
  if (json.startsWith('[')) {
    const items = elements(json);
    const nested = items.some((item) => /^[[{]/.test(item));
    return items.flatMap((item, index) => deep(nested ? `${name}[${index}]` : `${name}[]`, item, depth + 1));
  }
  const text = scalarText(json);
  return text === undefined ? [] : [`${name}=${encoded(text)}`];
}

/**
 * Percent-encoding of everything but unreserved characters (RFC 3986, 2.3). Throws HubError `invalid_input` for half a
 * surrogate pair.
 */
export function encoded(text: string): string {
  return encodedReserved(text).replace(
    /[:/?@!$'()*,;]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function encodedReserved(text: string): string {
  try {
    return encodeURIComponent(text).replace(/%(?:3A|2F|3F|40|24|2C|3B)/g, decodeURIComponent);
  } catch (error) {
    throw new HubError('invalid_input', 'An argument is not valid Unicode text.', { cause: error });
  }
}

/** Names like `page[size]` are read with their brackets everywhere, so they are left readable. */
function encodedName(name: string): string {
  return encoded(name).replaceAll('%5B', '[').replaceAll('%5D', ']');
}
