import { unescape } from 'node:querystring';
import type { TransportSettings } from '../core/settings.ts';

/**
 * The values of a server's settings that must not appear in a log: what its `env` and headers hold, the password and the query of its address, the
 * credentials of an API. Give it the transport with its variables filled in, because those are where secrets come from.
 */
export function secretsIn(transport: TransportSettings): string[] {
  switch (transport.type) {
    case 'stdio':
      return Object.values(transport.env);
    case 'openapi':
      return [transport.openapi['security'], transport.openapi['specSecurity']].flatMap(stringsIn);
    default:
      return [...Object.values(transport.env), ...Object.values(transport.headers), ...secretsOfUrl(transport.url)];
  }
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
