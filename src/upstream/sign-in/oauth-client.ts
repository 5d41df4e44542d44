import { isIP } from 'node:net';
import { isPublicAddress } from '../../core/address.ts';

/** Who the hub is to one authorization server. */
export interface OAuthClient {
  readonly id: string;
  readonly secret?: string | undefined;
  /** `token_endpoint_auth_method` of its registration. */
  readonly authMethod?: string | undefined;
  /** The address that answers come to; a registration is for this one only. */
  readonly redirectUri: string;
  /** From the settings; the address of the hub's own document (CIMD); from a registration (RFC 7591). */
  readonly kind: 'configured' | 'document' | 'registered';
  /** When the secret ends, milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
}

/** Where the hub's own paths of a sign-in are, below its public address and never below `BASE_PATH`. */
export const callbackPath = '/oauth/callback';

export const startPath = '/oauth/sign-in';

const clientDocumentPath = '/oauth/client-metadata.json';

/**
 * The page on which a user begins to sign in to a server. Its address is no secret: a user who opens it has to log in
 * to the hub first.
 */
export function startUrl(publicUrl: string, server: string): string {
  return `${publicUrl}${startPath}/${encodeURIComponent(server)}`;
}

/** What the hub says of itself to authorization servers (RFC 7591 §2). */
export function clientMetadata(redirectUri: string) {
  return {
    client_name: 'Tool Hub',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

/**
 * The address of the document by which authorization servers may know the hub without a registration (client id
 * metadata document); undefined when they could not fetch it: it takes https and a public host.
 */
export function clientDocumentUrl(publicUrl: string): string | undefined {
  const url = new URL(publicUrl);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isOpen =
    isIP(host) === 0 ? /\.(?!localhost$|local$|internal$|lan$|test$)[^.]+$/.test(host) : isPublicAddress(host);
  return url.protocol === 'https:' && isOpen ? publicUrl + clientDocumentPath : undefined;
}

/** That document. */
export function clientDocument(publicUrl: string, documentUrl: string) {
  return {
    client_id: documentUrl,
    client_uri: publicUrl,
    application_type: 'web',
    ...clientMetadata(publicUrl + callbackPath),
  };
}
