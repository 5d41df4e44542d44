import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { HubError } from '../../core/errors.ts';
import { type ApiEnv, requires } from '../frame/caller.ts';

/**
 * Lets in whom `routing.openApiAccess` lets in, and no web page but our own and those the operator named (CONTRACT §2): a page needs no `Origin` to make
 * a browser send a GET. What comes with a foreign `Origin` the door has refused already.
 */
export function openApiGuard(allowedOrigins: readonly string[]) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    await requires(c, () => letIn(c, allowedOrigins));
    await next();
  });
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
