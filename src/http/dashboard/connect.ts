import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { isPerUser } from '../../core/access/per-user.ts';
import { anonymous } from '../../core/access/principal.ts';
import { endpointNameOf } from '../../core/access/endpoint.ts';
import type { Scope } from '../../core/access/scope.ts';
import type { Views } from '../../core/access/view.ts';
import type { Connect } from '../../core/answers/records.ts';
import { parseInput } from '../../core/input.ts';
import { tokensOf } from '../../core/tokens.ts';
import { allSnippets, withCommand } from '../../snippets/all.ts';
import { clientName, endpointUrl } from '../../snippets/snippet.ts';
import type { ApiEnv, Caller } from '../frame/caller.ts';
import { flagOf } from '../frame/query.ts';
import { groupOf, serverOf } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';

export interface ConnectRoutes {
  readonly views: Views;
  readonly hubUrl: (c: Context) => string;
  /** Whether MCP endpoints ask for an access key where the one who asks is. */
  readonly keyRequired: (c: Context<ApiEnv>) => boolean;
}

const connectInput = z.object({ group: z.string().optional(), server: z.string().optional() });

/**
 * `GET /connect`: how each AI client is connected to an endpoint, and what that costs it in tokens: to all servers, to
 * `?group=` or `?server=`, with `?smart=true` by searching, with `?code=true` in code. With `?key=true` the texts have
 * the place of a key, also where none is required, with `?key=false` no place for one: clients that sign in by
 * themselves have none.
 */
export function connectRoutes({ views, hubUrl, keyRequired }: ConnectRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get('/connect', (c) => {
    const { caller } = c.var;
    const query = c.req.query();
    const input = parseInput(connectInput, query, 'Cannot say how to connect');
    const way = flagOf(query, 'code') ? 'code' : flagOf(query, 'smart') ? 'smart' : undefined;
    const withKey = query['key'] === undefined ? undefined : flagOf(query, 'key');
    const group = input.group === undefined ? undefined : endpointNameOf(caller.settings, groupOf(caller, input.group));
    const server = input.server === undefined ? undefined : serverOf(caller, input.server).name;
    const name = group ?? server;
    const path = [...(way === undefined ? [] : [`$${way}`]), ...(name === undefined ? [] : [name])];
    const url = endpointUrl(`${hubUrl(c)}/mcp`, ...path);
    const whole: Scope =
      name === undefined ? { kind: 'all' } : server === undefined ? { kind: 'named', name } : { kind: 'server', name };
    const needsKey = keyRequired(c) || isClosed(views, caller, whole);
    const takesKey = withKey ?? needsKey;
    const snippets = allSnippets({
      name: clientName(way === undefined ? name : name === undefined ? way : `${way}-${name}`),
      url,
      token: takesKey ? 'YOUR_ACCESS_KEY' : undefined,
    });
    // With a key it would be another one: the command makes its own.
    const clients = takesKey ? snippets : snippets.map((each) => withCommand(each, { hub: hubUrl(c), path }));
    const cost = (scope: Scope) => costOf(views, caller, scope);
    return ok(c, {
      url,
      keyRequired: needsKey,
      signIn: caller.settings.system.oauthServer.enabled,
      clients,
      cost: {
        all: cost(whole),
        smart: cost({ kind: 'smart', group }),
        code: cost({ kind: 'smart', group, code: true }),
      },
    } satisfies Connect);
  });
  return routes;
}

/**
 * On an open hub: whether no caller without a credential can use what this caller can use here, because it is private
 * or each user signs in to it.
 */
function isClosed(views: Views, { principal, settings }: Caller, scope: Scope): boolean {
  const open = views.get(anonymous, scope);
  if (open.kind === 'nothing') return true;
  const usable = open.servers.some((name) => {
    const server = settings.servers.get(name);
    return server !== undefined && !isPerUser(server);
  });
  return !usable && views.get(principal, scope).servers.length > 0;
}

/** What a client on an endpoint is told before it asks anything. */
function costOf(views: Views, { principal }: Caller, scope: Scope) {
  const { texts } = views.get(principal, scope).lists.tools;
  let tokens = 0;
  for (const text of texts) tokens += tokensOf(text);
  return { tools: texts.length, tokens };
}
