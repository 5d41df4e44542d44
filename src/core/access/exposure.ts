import { needsCredential, resolve } from './rules.ts';
import { listed } from '../settings/document.ts';
import { limits } from '../limits.ts';
import { anonymous } from './principal.ts';
import type { Settings } from '../settings/types.ts';

/**
 * What somebody without a credential can do on a hub that listens beyond its own machine, a line each (CONTRACT §2); none when that is nothing. The last
 * line says how to close it.
 */
export function exposure(settings: Settings): string[] {
  const { openApiAccess } = settings.system.routing;
  const names = resolve(settings, anonymous, { kind: 'all' }).members.map(({ server }) => server.name);
  if (names.length === 0) return [];
  const open = openApiAccess === 'open';
  const mcp = !needsCredential(settings, false);
  const more = names.length - limits.exposedServers;
  return [
    ...(open
      ? names.slice(0, limits.exposedServers).map((name) => `call the tools of ${name} (/api/tools/${name}/…)`)
      : []),
    ...(open && more > 0 ? [`call the tools of ${more} more servers`] : []),
    ...(mcp ? [`use everything of ${listed(names)} over MCP (/mcp, /sse)`] : []),
    ...(open || mcp ? [`${closing(open, mcp)}; or keep a server to some users with "visibility": "private"`] : []),
  ];
}

function closing(open: boolean, mcp: boolean): string {
  const members = [...(open ? ['"openApiAccess": "authenticated"'] : []), ...(mcp ? ['"enableBearerAuth": true'] : [])];
  return `to close this, set systemConfig.routing ${members.join(' and ')}`;
}
