import { entriesOf, own, ownText } from './pointer.ts';

/**
 * The base address of an operation: the first of its `servers` that is an http address once variables have their defaults and a relative one is
 * resolved against the document's. Without servers it is the root of the document's host. The path has no trailing slash; a query, a fragment and
 * a password in it are dropped. Undefined when there is none: an inline document with relative servers.
 */
export function baseUrl(servers: unknown, documentUrl: URL | undefined): URL | undefined {
  const listed: unknown[] = Array.isArray(servers) && servers.length > 0 ? servers : [{ url: '/' }];
  for (const server of listed) {
    const written = filled(ownText(server, 'url'), own(server, 'variables'));
    if (written === undefined || !URL.canParse(written, documentUrl?.href)) continue;
    const url = new URL(written, documentUrl?.href);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') continue;
    return new URL(`${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`);
  }
  return undefined;
}

function filled(url: string | undefined, variables: unknown): string | undefined {
  let text = url;
  for (const [name, variable] of entriesOf(variables)) {
    const value = own(variable, 'default');
    if (typeof value === 'string' || typeof value === 'number')
      text = text?.replaceAll(`{${name}}`, () => String(value));
  }
  return text === undefined || /[{}]/.test(text) ? undefined : text;
}
