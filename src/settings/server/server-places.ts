import { isObject } from '../../core/protocol/rpc.ts';
import type { Entry } from '../document/document.ts';

/**
 * Host and scheme of each address that requests, and the secrets in them, go to: of a server or an API's document, and
 * of the API where the settings say it.
 */
export function addressesOf(config: Entry): string[] {
  const api = isObject(config['openapi']) ? config['openapi'] : {};
  const own = [config['url'], config['serverUrl'], config['httpUrl'], api['url']].find(isText);
  return [own, api['baseUrl']].filter(isText).map(originOf);
}

/** Host and scheme of an address; one that cannot be read is taken as it stands. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** True when what is secret in one configuration would go to other places with the other. */
export function leadsElsewhere(before: Readonly<Entry>, after: Readonly<Entry>): boolean {
  return JSON.stringify(placesOf(before)) !== JSON.stringify(placesOf(after));
}

/**
 * All the places that secrets go to: host and scheme of the server, an API's document as a whole, since it says where
 * the API is, with what the settings say of that, and every address at which tokens are asked for.
 */
export function placesOf(config: Entry): unknown[] {
  const api = isObject(config['openapi']) ? config['openapi'] : {};
  const own = addressesOf({ ...config, openapi: undefined });
  const base = isText(api['baseUrl']) ? originOf(api['baseUrl']) : undefined;
  const signIn = { oauth: config['oauth'], security: api['security'], specSecurity: api['specSecurity'] };
  return [own, api['url'], api['schema'], base, api['serverVariables'], addressesIn(signIn).toSorted()];
}

/** Each with its path; forms leave empty ones behind. */
function addressesIn(value: unknown, path = ''): string[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const at = `${path}.${key}`;
    if (typeof member !== 'string') return addressesIn(member, at);
    return /^(?:issuer|url|.+Endpoint|.+Url)$/.test(key) && member !== '' ? [`${at} ${member}`] : [];
  });
}
