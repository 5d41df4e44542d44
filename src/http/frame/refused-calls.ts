import { createMiddleware } from 'hono/factory';
import { scopeId } from '../../core/access/scope.ts';
import { HubError } from '../../core/errors.ts';
import { type CallRecords, traceIdIn } from '../../mcp/records.ts';
import type { ApiEnv } from './caller.ts';

/**
 * Keeps a record of calls that are refused before they reach a server; those that reach one have theirs from the relay.
 * It names what the caller has named, and is seen by the caller and by admins. Comes before everything that may refuse;
 * the route sets `asked` as soon as it knows, and `reached` when it goes on. The answer waits until the record is kept.
 */
export function recordRefusedCalls({ refused, afterKeeping }: Pick<CallRecords, 'refused' | 'afterKeeping'>) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    const startedAt = performance.now();
    await next();
    const { caller, asked, reached } = c.var;
    if (!(c.error instanceof HubError) || !asked || reached) return;
    const { principal, address } = caller;
    refused({
      principal,
      address,
      scope: scopeId(asked.scope),
      server: asked.server.slice(0, 200),
      tool: asked.tool.slice(0, 200),
      ms: performance.now() - startedAt,
      error: withoutValues(c.error),
      code: c.error.code,
      via: caller.audited.via,
      traceId: traceIdIn(c.req.header('traceparent')),
    });
    await new Promise<void>(afterKeeping);
  });
}

/** The message without what the caller gave: records keep no arguments. */
function withoutValues({ message, problems: [first] }: HubError): string {
  return first === undefined ? message : message.replace(first.message, 'does not fit');
}
