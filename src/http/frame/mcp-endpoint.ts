import { endpointPath, isMcpPath } from '../../mcp/mcp-entry.ts';
import type { PublicUrl } from './public-url.ts';
import { takenPaths } from './taken-paths.ts';

export interface Placed {
  readonly publicUrl: Pick<PublicUrl, 'prefix'>;
  readonly basePath: string;
}

/**
 * The path of the MCP endpoint that a path names, as clients know it or as the hub does, without what comes before
 * `/mcp`; empty for the hub as a whole, undefined for anything else.
 */
export function mcpEndpointIn(path: string, { publicUrl, basePath }: Placed): string | undefined {
  const bare = path.replace(/\/+$/, '');
  if (bare === '' || bare === publicUrl.prefix || bare === basePath) return '';
  for (const prefix of [publicUrl.prefix, basePath]) {
    const rest = bare.startsWith(prefix) ? bare.slice(prefix.length) : undefined;
    if (rest !== undefined && isMcpPath(rest, takenPaths)) return endpointPath(rest);
  }
  return undefined;
}
