import { unescape } from 'node:querystring';
import type { TransportSettings } from '../core/settings.ts';

/**
 * The values of a server's settings that must not appear in a log: what its `env` and headers hold, the password and the query of its address, the
 * credentials of an API. Give it the transport with its variables filled in, because those are where secrets come from.
 */
export function secretsIn(transport: TransportSettings): string[] {
  const own = Object.values(transport.env);
  if (transport.type === 'stdio') return own;
  const carried = [...own, ...Object.values(transport.headers)];
  if (transport.type !== 'openapi') return [...carried, ...secretsOfUrl(transport.url)];
  return [...carried, ...[transport.openapi['security'], transport.openapi['specSecurity']].flatMap(stringsIn)];
}

function secretsOfUrl(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { password, searchParams } = new URL(text);
  return [unescape(password), ...searchParams.values()];
}

/** Members of an API's `security` that say how to sign in, not with what. */
const open = new Set(['type', 'in', 'name', 'scheme', 'bearerFormat', 'url', 'tokenUrl', 'clientId', 'scopes']);

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => (open.has(name) ? [] : stringsIn(member)));
}
