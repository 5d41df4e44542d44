import type { Arrived } from '../frame/client-address.ts';
import type { PublicUrl } from '../frame/public-url.ts';

export interface ProtectedResource {
  readonly publicUrl: PublicUrl;
  readonly basePath: string;
}

export const wellKnown = '/.well-known/oauth-protected-resource';

/**
 * The address of the metadata of the MCP endpoint that a request asked for, which its 401 points to (RFC 9728 §5.1).
 */
export function metadataUrl({ publicUrl, basePath }: ProtectedResource) {
  return (req: Arrived & { readonly url?: string | undefined }): string => {
    const rest = pathOf(req).slice(basePath.length);
    return `${publicUrl.origin(req)}${wellKnown}${publicUrl.prefix}${rest.replace(/["\\]/g, encodeURIComponent)}`;
  };
}

/** The path of a request as it was sent. */
export function pathOf({ url }: { readonly url?: string | undefined }): string {
  return (url ?? '').split('?', 1)[0] ?? '';
}
