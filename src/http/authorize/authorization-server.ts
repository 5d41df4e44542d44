import { Hono } from 'hono';
import { HubError } from '../../core/errors.ts';
import { type AuthorizeOptions, authorizeRoutes } from './authorize-routes.ts';
import { metadataRoutes } from './metadata-routes.ts';
import { registrationRoutes } from './registration-routes.ts';
import { type TokenOptions, tokenRoutes } from './token-routes.ts';

/**
 * The hub as authorization server (CONTRACT §8; decisions/0043), open to all and never below `BASE_PATH`. With
 * `systemConfig.oauthServer.enabled: false` none of it is there.
 */
export function authorizationServer(options: AuthorizeOptions & TokenOptions): Hono {
  const routes = new Hono();
  const paths = [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/*',
    '/.well-known/openid-configuration',
    '/.well-known/openid-configuration/*',
    ...['authorize', 'token', 'register', 'revoke', 'jwks'].map((name) => `/oauth/${name}`),
  ];
  for (const path of paths)
    routes.use(path, async (c, next) => {
      if (!options.settings().system.oauthServer.enabled)
        throw new HubError('not_found', `There is nothing at ${c.req.method} ${c.req.path}.`);
      await next();
    });
  routes.route('/', metadataRoutes(options));
  routes.route('/', registrationRoutes(options));
  routes.route('/', authorizeRoutes(options));
  routes.route('/', tokenRoutes(options));
  return routes;
}
