import { Hono } from 'hono';
import { z } from 'zod';
import { endpointNameOf } from '../../core/access/endpoint.ts';
import type { Scope } from '../../core/access/scope.ts';
import type { Target, View, Views } from '../../core/access/view.ts';
import { searchServer } from '../../core/activity.ts';
import type { ServerCost } from '../../core/answers/records.ts';
import type { Catalogue } from '../../core/catalogue.ts';
import { parseInput } from '../../core/input.ts';
import { memberText } from '../../core/json/text.ts';
import { tokensOf } from '../../core/tokens.ts';
import type { ApiEnv, Caller } from '../frame/caller.ts';
import { flagOf } from '../frame/query.ts';
import { groupOf, manages } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';

export interface CostRoutes {
  readonly views: Views;
  readonly catalogue: () => Catalogue;
}

const costsInput = z.object({ group: z.string().optional() });

/**
 * `GET /costs`: what each tool of an endpoint costs every client that lists them, by server: of all servers, of
 * `?group=`, with `?smart=true` of searching. It is what the caller's own clients see there: the view decides.
 */
export function costRoutes({ views, catalogue }: CostRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get('/costs', (c) => {
    const { caller } = c.var;
    const input = parseInput(costsInput, c.req.query(), 'Cannot say what the tools cost');
    const smart = flagOf(c.req.query(), 'smart');
    const group = input.group === undefined ? undefined : endpointNameOf(caller.settings, groupOf(caller, input.group));
    const scope: Scope = smart
      ? { kind: 'smart', group }
      : group === undefined
        ? { kind: 'all' }
        : { kind: 'named', name: group };
    const view = views.get(caller.principal, scope);
    const isAll = scope.kind === 'all';
    return ok(c, costsOf(caller, view, isAll ? catalogue() : undefined) satisfies readonly ServerCost[]);
  });
  return routes;
}

/** By server, in the order of the list. `catalogue`: with what is switched off, which no view has. */
function costsOf(caller: Caller, view: View, catalogue: Catalogue | undefined): ServerCost[] {
  const byServer = new Map<string, [tool: string, tokens: number][]>();
  const { texts, targets } = view.lists.tools;
  for (const [at, text] of texts.entries()) {
    const { server, key } = targets[at] ?? smartTarget(view, text);
    const tools = byServer.get(server) ?? [];
    byServer.set(server, tools);
    tools.push([key, tokensOf(text)]);
  }
  const names = new Set(catalogue ? [...view.servers, ...byServer.keys()] : byServer.keys());
  return [...names].flatMap((name) => {
    const server = caller.settings.servers.get(name);
    const managed = server !== undefined && manages(caller, server);
    const items = (managed && catalogue?.offers.get(name)?.tools) || [];
    const off = items.filter(({ key }) => server?.tools.get(key)?.enabled === false);
    const tools = byServer.get(name) ?? [];
    if (tools.length + off.length === 0) return [];
    return {
      name,
      managed,
      tools: Object.fromEntries(tools),
      off: Object.fromEntries(off.map(({ key, text }) => [key, tokensOf(text)])),
    };
  });
}

/** A tool that a smart endpoint lists is one that its group pins, or one of smart routing itself. */
function smartTarget({ smart }: View, text: string): Target {
  const name = String(JSON.parse(memberText(text, 'name') ?? '""'));
  const at = smart?.isPinned(name) ? smart.indexOf(name) : undefined;
  return smart?.tools.targets[at ?? -1] ?? { server: searchServer, key: name };
}
