import { type Context, Hono } from 'hono';
import { closedScope } from '../../core/access/rules.ts';
import type { Scope } from '../../core/access/scope.ts';
import type { View, Views } from '../../core/access/view.ts';
import { HubError } from '../../core/errors.ts';
import type { ServerState } from '../../core/hub.ts';
import { coreLimits } from '../../core/limits.ts';
import type { ApiEnv, Caller } from '../frame/caller.ts';
import { jsonText, ok } from '../frame/reply.ts';
import { type DocumentHead, documentText } from './openapi-document.ts';
import { openApiGuard } from './openapi-guard.ts';

export interface DocumentsOptions {
  readonly views: Views;
  readonly states: () => readonly ServerState[];
  readonly allowedOrigins: readonly string[];
  /** The address by which the one who asks reaches the hub, `BASE_PATH` included. */
  readonly hubUrl: (c: Context) => string;
  readonly version: string;
}

/**
 * What the OpenAPI-style routes offer to this caller, as OpenAPI 3.1 (CONTRACT §4; reference: MCPHub §1.9): all of it,
 * or what a group or server shows. YAML is answered as JSON, which it includes. `/openapi/servers` and `/openapi/stats`
 * count.
 */
export function documentsRoutes(options: DocumentsOptions): Hono<ApiEnv> {
  const { views, states } = options;
  const routes = new Hono<ApiEnv>();
  const guard = openApiGuard(options.allowedOrigins);

  function document(c: Context<ApiEnv>, scoped: string | undefined): Response {
    const name = scoped ?? c.req.query('group');
    const servers = serversOf(c.req.query('servers'));
    const scope = scopeOf(name);
    const closed = servers ? undefined : closedScope(c.var.caller.settings, scope);
    if (closed) throw closed;
    const view = views.get(c.var.caller.principal, scope);
    if (name !== undefined && view.kind === 'nothing') {
      throw new HubError('not_found', `There is no group or server "${name.slice(0, 200)}".`);
    }
    const text = documentText(view, headOf(c, name, view, options), servers);
    return jsonText(c, text, c.req.path.endsWith('.yaml') ? 'application/yaml' : 'application/json');
  }

  for (const file of ['openapi.json', 'openapi.yaml']) {
    routes.get(`/${file}`, guard, (c) => document(c, undefined));
    routes.get(`/:name/${file}`, guard, (c) => document(c, c.req.param('name')));
  }

  routes.get('/openapi/servers', (c) => {
    const ready = visible(c.var.caller, views, states).filter(
      ({ status }) => status === 'connected' || status === 'asleep',
    );
    return ok(
      c,
      ready.map(({ name }) => name),
    );
  });

  routes.get('/openapi/stats', (c) => {
    const serverBreakdown = visible(c.var.caller, views, states);
    const totalTools = serverBreakdown.reduce((sum, { toolCount }) => sum + toolCount, 0);
    return ok(c, { totalServers: serverBreakdown.length, totalTools, serverBreakdown });
  });

  return routes;
}

function scopeOf(name: string | undefined): Scope {
  return name === undefined ? { kind: 'all' } : { kind: 'named', name };
}

function serversOf(list: string | undefined): ReadonlySet<string> | undefined {
  return list === undefined ? undefined : new Set(list.split(',').map((name) => name.trim()));
}

/** Throws HubError `invalid_input` for texts that are too long and addresses that are none. */
function headOf(c: Context<ApiEnv>, name: string | undefined, view: View, options: DocumentsOptions): DocumentHead {
  const text = (key: string): string | undefined => {
    const value = c.req.query(key);
    if (value === undefined || value === '') return undefined;
    if (value.length <= coreLimits.textChars) return value;
    throw new HubError('invalid_input', `${key} may have at most ${coreLimits.textChars} characters.`);
  };
  const serverUrl = text('serverUrl');
  if (serverUrl !== undefined && !(URL.canParse(serverUrl) && /^https?:$/.test(new URL(serverUrl).protocol))) {
    throw new HubError('invalid_input', 'serverUrl must be an http:// or https:// address.');
  }
  const api = serverUrl ?? `${options.hubUrl(c)}/api`;
  const title = name === undefined ? 'Tool Hub API' : `${name} ${view.kind === 'group' ? 'Group ' : ''}MCP API`;
  return {
    title: text('title') ?? title,
    description: text('description') ?? 'Tools of MCP servers, each as an operation.',
    version: text('version') ?? options.version,
    // Clients append paths to it, or to where they found the document: both lead to routes of the same scope.
    serverUrl: name === undefined ? api : `${api.replace(/\/+$/, '')}/${encodeURIComponent(name)}`,
    separator: c.var.caller.settings.system.nameSeparator,
    authenticated: c.var.caller.settings.system.routing.openApiAccess !== 'open',
  };
}

function visible({ principal }: Caller, views: Views, states: DocumentsOptions['states']) {
  const view = views.get(principal, { kind: 'all' });
  const counts = new Map<string, number>();
  for (const { server } of view.lists.tools.targets) counts.set(server, (counts.get(server) ?? 0) + 1);
  return states()
    .filter(({ name }) => view.servers.includes(name))
    .map(({ name, status }) => ({ name, toolCount: counts.get(name) ?? 0, status }));
}
