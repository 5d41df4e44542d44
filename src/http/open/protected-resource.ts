import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { HubError } from '../../core/errors.ts';
import { isMcpPath } from '../../mcp/mcp-entry.ts';
import { takenPaths } from '../frame/taken-paths.ts';
import { pathOf, type ProtectedResource, wellKnown } from './metadata-url.ts';

/**
 * Protected resource metadata (RFC 9728 §3) of every MCP endpoint, at the root whatever `BASE_PATH` is, open to all. It
 * says the same whether a group or server of that name exists. The authorization server is the hub itself, where that
 * is switched on.
 */
export function protectedResourceRoutes({
  publicUrl,
  basePath,
  hasAuthorizationServer,
}: ProtectedResource & { readonly hasAuthorizationServer: () => boolean }): Hono<{ Bindings: HttpBindings }> {
  const routes = new Hono<{ Bindings: HttpBindings }>();

  /** The path as clients know it; undefined when it is no MCP endpoint. */
  function resourcePath(path: string): string | undefined {
    // Asked for by the origin alone: everything the hub has is below it (RFC 9728 §3.1).
    if (path === '' || path === '/') return '';
    for (const prefix of [publicUrl.prefix, basePath]) {
      const rest = path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
      if (rest !== undefined && isMcpPath(rest, takenPaths)) return `${publicUrl.prefix}${rest}`;
    }
    return undefined;
  }

  routes.on('GET', [wellKnown, `${wellKnown}/*`], (c) => {
    // As it was sent: a parsed address may differ from the one the client will compare with.
    const path = resourcePath(pathOf(c.env.incoming).slice(wellKnown.length));
    if (path === undefined) throw new HubError('not_found', 'There is no MCP endpoint at that path.');
    c.header('Cache-Control', 'no-store');
    return c.json({
      resource: `${publicUrl.origin(c.env.incoming)}${path}`,
      resource_name: 'Tool Hub',
      ...(hasAuthorizationServer() && {
        authorization_servers: [publicUrl.origin(c.env.incoming)],
        // Clients ask for all that is named here.
        scopes_supported: ['mcp'],
      }),
      bearer_methods_supported: ['header'],
    });
  });

  return routes;
}
