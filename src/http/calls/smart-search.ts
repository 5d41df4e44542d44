import { Hono } from 'hono';
import { z } from 'zod';
import type { Scope } from '../../core/access/scope.ts';
import type { Views } from '../../core/access/view.ts';
import { parseInput } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { logLimits } from '../../logs/limits.ts';
import { searchReport } from '../../mcp/search-report.ts';
import type { SmartOptions } from '../../mcp/smart.ts';
import { smartLimits } from '../../smart/limits.ts';
import { jsonBody } from '../frame/body.ts';
import { adminOnly, type ApiEnv } from '../frame/caller.ts';
import { endpointNamed } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';
import { problemTable } from '../../core/problems.ts';

export interface SmartSearchOptions {
  readonly views: Views;
  readonly smart: Pick<SmartOptions, 'search' | 'key' | 'available'>;
}

/** The body of `POST /smart-routing/search`. */
export const searchInput = z.object({
  query: z.string().trim().min(1, problemTable.empty).max(smartLimits.searchChars),
  context: z.string().max(smartLimits.searchChars).nullish(),
  /** A group by name or id; all servers without it. */
  group: z.string().min(1, problemTable.empty).max(logLimits.filterChars).nullish(),
  limit: z.int().min(1).max(coreLimits.searchResultsMost).nullish(),
  explain: z.boolean().nullish(),
});

/**
 * `POST /smart-routing/search`: the search of `/mcp/$smart` for those who set it up, with where scores come from.
 * Leaves no record.
 */
export function smartSearchRoutes({ views, smart }: SmartSearchOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/smart-routing/search', adminOnly, async (c) => {
    const input = parseInput(searchInput, await jsonBody(c.req.raw), 'Cannot search');
    const { principal, settings } = c.var.caller;
    const { query, context, group, limit, explain } = input;
    const asked = {
      query,
      context: context ?? undefined,
      group: group ? endpointNamed(c.var.caller, group) : undefined,
      limit: limit ?? coreLimits.searchResults,
      explain: explain ?? false,
    };
    const view = (scope: Scope) => views.get(principal, scope);
    return ok(c, await searchReport(asked, { settings, view }, smart));
  });

  return routes;
}
