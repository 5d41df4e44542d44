import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { HubError } from '../../core/errors.ts';
import type { Guard } from '../frame/guard.ts';
import { type ApiEnv, requires } from '../frame/caller.ts';
import type { CalledTool } from './calls.ts';

/**
 * Lets in the callers that `routing.openApiAccess` lets in, and no web page but our own and those the operator named
 * (CONTRACT §2): a page needs no `Origin` to make a browser send a GET. The HTTP entry has already refused requests
 * with a foreign `Origin`.
 */
export function openApiGuard(allowedOrigins: readonly string[]) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    await requires(c, () => letIn(c, allowedOrigins));
    await next();
  });
}

/**
 * Throws HubError `forbidden` for a GET that a browser sends, unless the tool's own server says that it only reads
 * (CONTRACT §7): any page, picture or link makes a browser send one.
 */
export function noBrowserGet(c: Context<ApiEnv>, tool: CalledTool, isOwn: Guard['isOwn']): void {
  const referer = c.req.header('referer');
  const isOther = referer !== undefined && !isOwn(originOf(referer), c.req.header('host') ?? '');
  if (!isOther && c.req.header('sec-fetch-mode') === undefined) return;
  if (tool.readOnly) return;
  throw new HubError(
    'forbidden',
    'A browser may not run this tool by GET, for its server does not say that it only reads (readOnlyHint). Use POST.',
  );
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'null';
}

function letIn(c: Context<ApiEnv>, allowedOrigins: readonly string[]): void {
  const { settings, principal } = c.var.caller;
  const { openApiAccess } = settings.system.routing;
  const origin = c.req.header('origin');
  const site = c.req.header('sec-fetch-site');
  const named = origin !== undefined && allowedOrigins.includes(origin);
  // Another port of this machine is the same site to a browser.
  if (!named && (site === 'cross-site' || (site === 'same-site' && origin === undefined))) {
    throw new HubError(
      'forbidden',
      'Other web pages may not use this. Add their origin to ALLOWED_ORIGINS if they are yours.',
    );
  }
  if (openApiAccess === 'off') {
    throw new HubError('forbidden', 'The OpenAPI-style routes are switched off (systemConfig.routing.openApiAccess).');
  }
  if (openApiAccess === 'authenticated' && principal.kind === 'anonymous') {
    throw new HubError(
      'unauthenticated',
      'The OpenAPI-style routes need an access token here: "Authorization: Bearer <token>".',
    );
  }
}
