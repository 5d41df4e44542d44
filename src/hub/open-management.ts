import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type AppParts, buildApp } from './build-app.ts';

/**
 * What answers everything that is not MCP: all that people need and tools do not. It takes a tenth of a second to load,
 * which servers that start, and clients that are there, need not wait for.
 */
export function openManagement(parts: AppParts): RequestListener {
  const app = buildApp(parts);
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false, autoCleanupIncoming: false });
  return (req, res) => void listener(req, res);
}
