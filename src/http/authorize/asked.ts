import { isRegistered, type OAuthClient } from '../../auth/oauth/client.ts';
import type { Clients } from '../../auth/oauth/clients.ts';
import type { Asked } from '../../auth/oauth/open-authorization.ts';
import { authLimits } from '../../auth/limits.ts';
import { covers, toolExecution } from '../../core/access/endpoint.ts';
import type { HubError } from '../../core/errors.ts';
import { saying } from '../../core/sentences.ts';
import type { Arrived } from '../frame/client-address.ts';
import { mcpEndpointIn } from '../frame/mcp-endpoint.ts';
import type { PublicUrl } from '../frame/public-url.ts';
import { OAuthRefusal, single } from './refusal.ts';

export interface Place {
  readonly publicUrl: PublicUrl;
  readonly basePath: string;
}

/** Where an answer about a request goes: an address that the client registered. */
export type Destination = Pick<Asked, 'redirectUri' | 'namedRedirect' | 'state'> & { readonly client: OAuthClient };

/**
 * Who asks, and where the answer goes. Throws HubError `invalid_input` when that is not known: then nothing may be sent
 * anywhere (RFC 6749 §4.1.2.1); and what `clients.find` throws. `fetching` is called before the client's own server is
 * asked.
 */
export async function destinationOf(
  query: URLSearchParams,
  clients: Clients,
  fetching: () => void,
): Promise<Destination> {
  const clientId = single(query, 'client_id');
  if (clientId === undefined || clientId.length > authLimits.clientIdChars) throw unknownClient();
  const client = await clients.find(clientId, fetching);
  if (!client) throw unknownClient();
  const named = single(query, 'redirect_uri');
  const only = client.redirectUris.length === 1 ? client.redirectUris[0] : undefined;
  const redirectUri = named ?? only;
  if (redirectUri === undefined || !isRegistered(redirectUri, client.redirectUris)) {
    throw saying('invalid_input', 'app_elsewhere');
  }
  const states = query.getAll('state');
  return {
    client,
    redirectUri,
    namedRedirect: named !== undefined,
    state: states.length === 1 ? states[0] : undefined,
  };
}

function unknownClient(): HubError {
  return saying('invalid_input', 'app_unknown');
}

/** The rest of a request. Throws OAuthRefusal, for the client to hear. */
export function askedIn(query: URLSearchParams, { client, ...to }: Destination, req: Arrived, place: Place): Asked {
  single(query, 'state');
  if (query.has('request') || query.has('request_uri'))
    throw new OAuthRefusal('request_not_supported', 'Send the parameters themselves.');
  if (single(query, 'response_type') === undefined)
    throw new OAuthRefusal('invalid_request', 'The parameter response_type is missing.');
  if (single(query, 'response_type') !== 'code')
    throw new OAuthRefusal('unsupported_response_type', 'The response_type has to be code.');
  if ((single(query, 'response_mode') ?? 'query') !== 'query')
    throw new OAuthRefusal('invalid_request', 'The response_mode has to be query.');
  const challenge = single(query, 'code_challenge');
  if (challenge === undefined || single(query, 'code_challenge_method') !== 'S256')
    throw new OAuthRefusal('invalid_request', 'PKCE is needed: code_challenge with code_challenge_method S256.');
  if (!/^[\w-]{43}$/.test(challenge)) throw new OAuthRefusal('invalid_request', 'The code_challenge is no S256 hash.');
  if (single(query, 'prompt') === 'none') throw new OAuthRefusal('login_required', 'The user has to log in.');
  const target = resourceIn(query, req, place);
  const wantsApi = asksForApi(single(query, 'scope')) && covers(target.endpoint, toolExecution);
  return { ...to, clientId: client.id, challenge, ...target, wantsApi };
}

/** Whether a client asks for the scope `api`. Scopes that the hub does not have are passed over (RFC 6749 §3.3). */
export function asksForApi(scope: string | undefined): boolean {
  return scope?.split(' ').includes('api') ?? false;
}

/**
 * The MCP endpoint that `resource` names (RFC 8707); all of the hub where a client names none. A slash at its end makes
 * no difference. Throws OAuthRefusal `invalid_target`.
 */
export function resourceIn(
  parameters: URLSearchParams,
  req: Arrived,
  place: Place,
): Pick<Asked, 'endpoint' | 'resource'> {
  const [resource, ...more] = new Set(parameters.getAll('resource').filter((text) => text !== ''));
  if (resource === undefined)
    return { endpoint: '', resource: `${place.publicUrl.origin(req)}${place.publicUrl.prefix}` };
  const url = more.length === 0 && URL.canParse(resource) ? new URL(resource) : undefined;
  const isOurs = url?.origin === place.publicUrl.origin(req) && !resource.includes('#');
  const endpoint = url && isOurs ? mcpEndpointIn(url.pathname, place) : undefined;
  if (endpoint === undefined || resource.length > authLimits.redirectUriChars)
    throw new OAuthRefusal('invalid_target', 'The resource has to be one MCP endpoint of this hub.');
  return { endpoint, resource };
}
