import { type Context, Hono } from 'hono';
import { parseInput } from '../../core/input.ts';
import { saying } from '../../core/sentences.ts';
import {
  addServerToGroup,
  removeServerFromGroup,
  serverConfigAnswer,
  serverConfigsAnswer,
  overrideGroupTool,
  setGroupServers,
  setGroupTools,
} from '../../settings/group/group-edits.ts';
import { overrideAnswer, overrideShape, readOverride } from '../../settings/document/tool-override.ts';
import type { GroupSettings } from '../../core/settings/group.ts';
import { checkOverride } from '../../settings/group/group-servers.ts';
import { flagOf } from '../frame/query.ts';
import { groupBatchInput, groupToolsInput, serverToAddInput } from '../../settings/group/group-input.ts';
import { jsonBody } from '../frame/body.ts';
import { type ApiEnv, type Caller, editorOf } from '../frame/caller.ts';
import { groupOf, manages } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';
import { overrideChecked, overrideShown } from '../frame/tool-override.ts';
import { changedGroup, changeGroups, type GroupRoutes, seenOf, seesIn, shownGroup } from './group-answer.ts';

/**
 * `/groups/:id/servers` and `/groups/:id/server-configs`: which servers a group has, and what of them it shows (SPEC,
 * Groups).
 */
export function groupServerRoutes(options: GroupRoutes): Hono<ApiEnv> {
  const { log } = options;
  const routes = new Hono<ApiEnv>();

  routes.get('/groups/:id/servers', (c) => {
    const group = groupOf(c.var.caller, c.req.param('id'));
    return ok(c, shownGroup(c.var.caller, group).servers);
  });

  routes.post('/groups/:id/servers', async (c) => {
    const { caller } = c.var;
    const { username: by } = editorOf(caller);
    const input = parseInput(serverToAddInput, await jsonBody(c.req.raw), 'Cannot add the server to the group');
    const changed = await changeGroups(options, caller, (draft, by) =>
      addServerToGroup(draft, by, c.req.param('id'), input),
    );
    log.info('group changed', { group: changed.group.name, by });
    return ok(c, ...changedGroup(caller, changed, 'Server added to group successfully.'));
  });

  routes.put('/groups/:id/servers/batch', async (c) => {
    const { caller } = c.var;
    const { username: by } = editorOf(caller);
    const { servers } = parseInput(groupBatchInput, await jsonBody(c.req.raw), 'Cannot set the servers of the group');
    const changed = await changeGroups(options, caller, (draft, by) =>
      setGroupServers(draft, by, c.req.param('id'), servers),
    );
    log.info('group changed', { group: changed.group.name, by });
    return ok(c, ...changedGroup(caller, changed, 'Group servers updated successfully.'));
  });

  routes.delete('/groups/:id/servers/:serverName', async (c) => {
    const { caller } = c.var;
    const { username: by } = editorOf(caller);
    const { id, serverName } = c.req.param();
    const changed = await changeGroups(options, caller, (draft, by) =>
      removeServerFromGroup(draft, by, id, serverName),
    );
    log.info('group changed', { group: changed.group.name, by });
    return ok(c, ...changedGroup(caller, changed, 'Server removed from group successfully.'));
  });

  routes.get('/groups/:id/server-configs', (c) => {
    const group = groupOf(c.var.caller, c.req.param('id'));
    return ok(c, serverConfigsAnswer(group, seesIn(c.var.caller, group), mayChange(c.var.caller, group)));
  });

  routes.get('/groups/:id/server-configs/:serverName', (c) => {
    const { id, serverName } = c.req.param();
    const group = groupOf(c.var.caller, id);
    const sees = seesIn(c.var.caller, group);
    const entry = group.servers.find(({ name }) => name === serverName && sees(name));
    if (!entry) throw saying('not_found', 'server_not_in_group', { name: serverName, group: id });
    return ok(c, serverConfigAnswer(entry, mayChange(c.var.caller, group)));
  });

  routes.put('/groups/:id/server-configs/:serverName/tools', async (c) => {
    const { caller } = c.var;
    const { username: by } = editorOf(caller);
    const { id, serverName: server } = c.req.param();
    const { tools } = parseInput(groupToolsInput, await jsonBody(c.req.raw), 'Cannot set the tools');
    const changed = await changeGroups(options, caller, (draft, by) => setGroupTools(draft, by, id, { server, tools }));
    log.info('group changed', { group: changed.group.name, by });
    return ok(c, ...changedGroup(caller, changed, 'Server tools updated successfully.'));
  });

  overrideRoutes(routes, options);
  return routes;
}

/** What the group shows of single tools in place of what their server says. */
function overrideRoutes(routes: Hono<ApiEnv>, options: GroupRoutes): void {
  const { log } = options;
  const overridePath = '/groups/:id/server-configs/:serverName/tools/:tool/override' as const;

  /** The entry of the server in the group, for those who may change the group. */
  function changeable(c: Context<ApiEnv, typeof overridePath>) {
    const { id, serverName, tool } = c.req.param();
    const { caller } = c.var;
    const group = groupOf(caller, id);
    const sees = seesIn(caller, group);
    const entry = group.servers.find(({ name }) => name === serverName && sees(name));
    if (!entry) throw saying('not_found', 'server_not_in_group', { name: serverName, group: id });
    if (!mayChange(caller, group)) throw saying('forbidden', 'group_not_yours', { name: group.name });
    const server = caller.settings.servers.get(serverName);
    const isManaged = caller.admin || (server !== undefined && manages(caller, server));
    const catalogue = isManaged ? options.catalogue() : seenOf(caller, server, options.shown());
    if (!isManaged && !catalogue.offers.get(serverName)?.tools.some(({ key }) => key === tool))
      throw saying('not_found', 'no_item', { server: serverName, kind: 'tool', name: tool });
    const asked = { server: serverName, tool, own: server?.tools, isManaged };
    return { caller, id, entry, asked, catalogue };
  }

  routes.get(overridePath, (c) => {
    const { asked, entry, catalogue } = changeable(c);
    return ok(c, overrideShown(catalogue, asked, { group: entry.overrides?.get(asked.tool) }));
  });

  routes.put(overridePath, async (c) => {
    const { caller, id, entry, asked, catalogue } = changeable(c);
    const given = parseInput(overrideShape, await jsonBody(c.req.raw), `Cannot override "${asked.tool}"`);
    const group = readOverride(given);
    const attempt = `Cannot override "${asked.tool}" of server "${asked.server}"`;
    if (!asked.isManaged) checkOverride(group, entry.overrides?.get(asked.tool), { attempt, ...asked });
    const [answer, notes] = overrideChecked(catalogue, asked, { group });
    if (flagOf(c.req.query(), 'dryRun')) return ok(c, answer, notes);
    const { username: by } = editorOf(caller);
    await changeGroups(options, caller, (draft, by) =>
      overrideGroupTool(draft, by, id, { ...asked, override: group && overrideAnswer(group) }),
    );
    log.info('tool overridden', { group: id, server: asked.server, item: asked.tool, by });
    return ok(c, answer, notes);
  });

  routes.delete(overridePath, async (c) => {
    const { caller, id, asked, catalogue } = changeable(c);
    const { username: by } = editorOf(caller);
    await changeGroups(options, caller, (draft, by) =>
      overrideGroupTool(draft, by, id, { ...asked, override: undefined }),
    );
    log.info('tool overridden', { group: id, server: asked.server, item: asked.tool, by });
    return ok(c, overrideShown(catalogue, asked, { group: undefined }));
  });
}

function mayChange({ admin, user }: Caller, group: GroupSettings): boolean {
  return admin || (user !== undefined && user.username === group.owner);
}
