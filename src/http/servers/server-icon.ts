import { isObject } from '../../core/protocol/rpc.ts';
import { httpLimits } from '../limits.ts';

/**
 * Of the `icons` of a server, the first picture that is in its answer itself: pages load nothing from other hosts. A
 * browser runs nothing of an SVG that it shows as an image.
 */
export function iconOf({ icons }: { readonly icons?: unknown }): string | undefined {
  if (!Array.isArray(icons)) return undefined;
  for (const icon of (icons as unknown[]).slice(0, httpLimits.serverIcons)) {
    const src = isObject(icon) ? icon['src'] : undefined;
    if (typeof src !== 'string' || src.length > httpLimits.serverIconChars) continue;
    if (/^data:image\/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]+=*$/.test(src)) return src;
  }
  return undefined;
}
