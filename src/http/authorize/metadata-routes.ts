import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { HubError } from '../../core/errors.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { mcpEndpointIn } from '../frame/mcp-endpoint.ts';
import type { Place } from './asked.ts';

const wellKnown = '/.well-known/oauth-authorization-server';
const openId = '/.well-known/openid-configuration';

/**
 * Authorization server metadata (RFC 8414) at the root whatever `BASE_PATH` is, also with the path of an endpoint
 * behind it, as clients ask for it that do not read the metadata of the endpoint. Some clients look for OpenID's only.
 */
export function metadataRoutes({ settings, ...place }: Place & { readonly settings: () => Settings }): Hono {
  const routes = new Hono();

  routes.on('GET', [wellKnown, `${wellKnown}/*`, openId, `${openId}/*`], (c) => {
    const base = c.req.path.startsWith(wellKnown) ? wellKnown : openId;
    if (mcpEndpointIn(c.req.path.slice(base.length), place) === undefined)
      throw new HubError('not_found', 'There is no MCP endpoint at that path.');
    const issuer = place.publicUrl.origin((c.env as HttpBindings).incoming);
    c.header('Cache-Control', 'no-store');
    return c.json({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      ...(settings().system.oauthServer.registration && { registration_endpoint: `${issuer}/oauth/register` }),
      revocation_endpoint: `${issuer}/oauth/revoke`,
      scopes_supported: ['mcp', 'api'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
      // The hub gives no ID tokens: OpenID's own document has to have these.
      ...(base === openId && {
        jwks_uri: `${issuer}/oauth/jwks`,
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      }),
    });
  });

  routes.get('/oauth/jwks', (c) => c.json({ keys: [] }));

  return routes;
}
