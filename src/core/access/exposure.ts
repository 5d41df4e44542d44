import { coreLimits } from '../limits.ts';
import { needsCredential } from './identity.ts';
import { resolve } from './rules.ts';
import { listed } from '../errors.ts';
import { anonymous, anonymousOutside, type Principal } from './principal.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * What a caller without a credential can do on an exposed hub, a line each (CONTRACT §7); none when that is nothing.
 * The last line says how to close it.
 */
export function exposure(settings: Settings): string[] {
  const seen = (principal: Principal) =>
    resolve(settings, principal, { kind: 'all' }).members.map(({ server }) => server.name);
  const http = settings.system.routing.openApiAccess === 'open' ? seen(anonymousOutside) : [];
  const mcp = needsCredential(settings, true) ? [] : seen(anonymous);
  if (http.length + mcp.length === 0) return [];
  const more = http.length - coreLimits.exposedServers;
  return [
    ...http.slice(0, coreLimits.exposedServers).map((name) => `call the tools of ${name} (/api/tools/${name}/…)`),
    ...(more > 0 ? [`call the tools of ${more} more servers`] : []),
    ...(mcp.length > 0 ? [`use everything of ${listed(mcp)} over MCP (/mcp, /sse)`] : []),
    `${closing(http.length > 0, mcp.length > 0)}; or keep a server to some users with "visibility": "private"`,
  ];
}

function closing(open: boolean, mcp: boolean): string {
  const members = [...(open ? ['"openApiAccess": "authenticated"'] : []), ...(mcp ? ['"enableBearerAuth": true'] : [])];
  return `to close this, set systemConfig.routing ${members.join(' and ')}`;
}
