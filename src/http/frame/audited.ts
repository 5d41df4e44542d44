import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { matchedRoutes } from 'hono/route';
import type { AuditEvent, AuditSink } from '../../core/audit.ts';
import { HubError } from '../../core/errors.ts';
import { auditActions, notAudited, canBeTried } from './audit-actions.ts';
import type { ApiEnv } from './caller.ts';
import { harmless } from './session-cookie.ts';

/** What a request is called in the audit log, and what it is about: the variable parts of its path. */
export function auditedAs(c: Context, mount: string): { readonly action: string; readonly target: string | undefined } {
  const { method, path } = c.req;
  const pattern = matchedRoutes(c).find((route) => route.method === method && !route.path.endsWith('*'))?.path ?? '';
  const names = pattern.split('/');
  const parts = path.split('/').filter((_, i) => names[i]?.startsWith(':') === true);
  const action = auditActions[`${method} ${pattern.slice(mount.length)}`];
  if (action !== undefined) return { action, target: parts.length > 0 ? parts.map(decoded).join('/') : undefined };
  const target = path.slice(mount.length);
  return harmless.has(method) ? { action: 'read', target } : { action: `${method} ${target}`, target: undefined };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Records each request that may change something and succeeded, unless its route, or a change of the settings, has;
 * its answer waits until the record is kept. Counts what is refused to a caller who is known. Comes after the caller
 * is known and before everything that may refuse.
 */
export function auditRequests({ record, counted, afterKeeping }: AuditSink, mount: string) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    await next();
    const { caller } = c.var;
    const { audited } = caller;
    const isKnown = caller.principal.kind !== 'anonymous';
    if (c.error instanceof HubError && c.error.code === 'forbidden' && isKnown)
      counted({ ...eventOf(c), result: 'refused' });
    const isChange = !harmless.has(c.req.method);
    if (!isChange || c.error !== undefined || c.res.status >= 400) return;
    if (!audited.isRecorded && !isExempt(c, mount)) recordRequest(c, record);
    await new Promise<void>(afterKeeping);
  });
}

function isExempt(c: Context, mount: string): boolean {
  const is = (has: (route: string) => boolean): boolean =>
    matchedRoutes(c).some(
      ({ method, path }) => method === c.req.method && has(`${method} ${path.slice(mount.length)}`),
    );
  // Elsewhere the word has no effect, and the request does what it does.
  return (
    is((route) => route in notAudited) || (c.req.query('dryRun') === 'true' && is((route) => canBeTried.has(route)))
  );
}

function eventOf(c: Context<ApiEnv>): AuditEvent {
  const { actor, address, via, action = '', target } = c.var.caller.audited;
  return { actor, address, via, action, target };
}

/** The one record of a request, with what its route knows better. */
export function recordRequest(c: Context<ApiEnv>, record: AuditSink['record'], more: Partial<AuditEvent> = {}): void {
  record({ ...eventOf(c), ...more });
  c.var.caller.audited.isRecorded = true;
}
