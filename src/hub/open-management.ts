import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { canonicalHost } from '../core/access/outside.ts';
import { type AppParts, buildApp } from './build-app.ts';

/**
 * What answers everything that is not MCP: all that people need and tools do not. It takes a tenth of a second to load,
 * which servers that start, and clients that are there, need not wait for.
 */
export function openManagement(parts: AppParts): RequestListener {
  const app = buildApp(parts);
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
    // What no URL can be made of, which is before any route. Without an answer of ours it would have no body.
    errorHandler: () =>
      Response.json({ success: false, message: 'The address of the request is malformed.' }, { status: 400 }),
  });
  return (req, res) => {
    const { host } = req.headers;
    // The adapter takes no other form of an address, of which the entry lets in every one (CONTRACT §7).
    if (host?.startsWith('[')) req.headers.host = canonicalHost(host);
    void listener(req, res);
  };
}
