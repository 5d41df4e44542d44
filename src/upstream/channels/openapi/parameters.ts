import { isObject } from '../../../core/protocol/rpc.ts';
import { upstreamLimits } from '../../limits.ts';
import { type Document, own, ownText, resolved } from './pointer.ts';
import type { Manner, Place, Style } from './styles.ts';

/** A parameter of an operation: where the argument called `key` goes. */
export interface Parameter extends Manner {
  readonly key: string;
  readonly in: Place;
  readonly required: boolean;
  /** The value is written as JSON (a parameter with `content`). */
  readonly json: boolean;
}

/** A parameter with what describes it. */
export interface DescribedParameter extends Parameter {
  /** As the document has it, for its schema and description. */
  readonly source: Record<string, unknown>;
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

/** A parameter as the document declares it, without the name of its argument. */
export type Declared = Omit<DescribedParameter, 'key'>;

const placeOrder: Place[] = ['path', 'query', 'header', 'cookie'];

/**
 * Headers that OpenAPI has elsewhere (Accept, Content-Type, Authorization) or that belong to the connection: never
 * parameters.
 */
const reservedHeaders = new Set(
  'accept authorization connection content-length content-type cookie expect host keep-alive proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

/**
 * The parameters of a path and an operation, the operation's overriding; in the order path, query, header, cookie.
 * A text when one cannot be read: why not.
 */
export function parametersOf(
  document: Document,
  path: string,
  lists: unknown[],
  supplied: Supplied,
): Declared[] | string {
  const byPlace = new Map<string, Declared>();
  const inTemplate = new Set([...path.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] ?? ''));
  for (const source of lists.flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]).slice(0, upstreamLimits.openapiParameters) : [],
  )) {
    const parameter = declared(document, source);
    if (typeof parameter === 'string') return parameter;
    if (parameter !== undefined) byPlace.set(`${parameter.in} ${parameter.name}`, parameter);
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

/** Undefined for a header that is none of the operation's; a text says why the parameter cannot be read. */
function declared(document: Document, source: unknown): Declared | string | undefined {
  const parameter = resolved(document, source);
  const reference = ownText(source, '$ref');
  if (parameter === undefined)
    return reference === undefined ? 'it is no object' : `"${reference.slice(0, 100)}" leads to none`;
  const name = ownText(parameter, 'name');
  if (name === undefined) return 'it has no "name"';
  const place = placeOrder.find((one) => one === own(parameter, 'in'));
  if (place === undefined) return `"${name.slice(0, 100)}" has no "in" of ${placeOrder.join(', ')}`;
  if (place === 'header' && (reservedHeaders.has(name.toLowerCase()) || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)))
    return undefined;
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
