import { Hono } from 'hono';
import { ok } from '../frame/reply.ts';

export interface PublicConfig {
  readonly basePath: string;
  readonly version: string;
  /** Where people can log in besides. */
  readonly providers: () => readonly { readonly id: string; readonly name: string }[];
  /** Whether users log in with a password. */
  readonly hasPasswords: () => boolean;
  /** Whether a proxy may say who is there. */
  readonly hasForwardAuth: () => boolean;
}

/**
 * `/config` and `/public-config` (reference: MCPHub §1.2): what a dashboard has to know before a user has logged in.
 * They are below `BASE_PATH`, outside `/api`.
 */
export function publicConfigRoutes(options: PublicConfig): Hono {
  const { basePath, version, providers, hasPasswords, hasForwardAuth } = options;
  const routes = new Hono();
  routes.get(`${basePath}/config`, (c) => {
    c.header('Cache-Control', 'no-store');
    return ok(c, { basePath, version, name: 'toolhub' });
  });
  routes.get(`${basePath}/public-config`, (c) => {
    c.header('Cache-Control', 'no-store');
    const oidc = providers().map(({ id, name }) => ({ id, name }));
    const logins = {
      ...(oidc.length > 0 && { oidc }),
      ...(!hasPasswords() && { passwordLogin: false }),
      ...(hasForwardAuth() && { forwardAuth: true }),
    };
    return ok(c, { skipAuth: false, permissions: {}, betterAuth: { enabled: false }, ...logins });
  });
  return routes;
}
