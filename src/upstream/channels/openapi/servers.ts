import { entriesOf, own, ownText } from './pointer.ts';

/**
 * Where the API is, as the operator says: all of it at `baseUrl`, or where the document says, with these values for the
 * variables of its templates.
 */
export interface ServerChoice {
  readonly baseUrl: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * The base address of an operation: the operator's, or the first of its `servers` that is an http address once
 * variables have their values and a relative one is resolved against the document's. Without servers it is the root of
 * the document's host. The path has no trailing slash; a query, a fragment and a password in it are dropped. Undefined
 * when there is none: an inline document with relative servers.
 */
export function baseUrl(servers: unknown, documentUrl: string | undefined, choice: ServerChoice): URL | undefined {
  if (choice.baseUrl !== undefined) return bareBase(new URL(choice.baseUrl));
  const listed: unknown[] = Array.isArray(servers) && servers.length > 0 ? servers : [{ url: '/' }];
  for (const server of listed) {
    const written = filled(ownText(server, 'url'), own(server, 'variables'), choice.variables);
    if (written === undefined || !URL.canParse(written, documentUrl)) continue;
    const url = new URL(written, documentUrl);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') continue;
    return bareBase(url);
  }
  return undefined;
}

function bareBase(url: URL): URL {
  return new URL(`${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`);
}

function filled(url: string | undefined, declared: unknown, chosen: ServerChoice['variables']): string | undefined {
  const defaults = entriesOf(declared).map(([name, variable]): [string, unknown] => [name, own(variable, 'default')]);
  let text = url;
  for (const [name, value] of [...Object.entries(chosen), ...defaults]) {
    if (typeof value === 'string' || typeof value === 'number')
      text = text?.replaceAll(`{${name}}`, () => String(value));
  }
  return text === undefined || /[{}]/.test(text) ? undefined : text;
}
