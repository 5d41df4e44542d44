import { Hono } from 'hono';
import { z } from 'zod';
import { parseInput } from '../../core/input.ts';
import { addGroup, deleteGroup, updateGroup } from '../../settings/group/group-edits.ts';
import { groupUpdateInput, newGroupInput } from '../../settings/group/group-input.ts';
import { batchMessage, batchStatus, countsOf, eachOf, nameIn } from '../frame/batch.ts';
import { jsonBody } from '../frame/body.ts';
import { type ApiEnv, editorOf } from '../frame/caller.ts';
import { groupOf, visibleGroups } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';
import { httpLimits } from '../limits.ts';
import { changedGroup, changeGroups, type GroupRoutes, shownGroup } from './group-answer.ts';
import { problemTable } from '../../core/problems.ts';

/**
 * `/groups` (SPEC, Groups; CONTRACT §4). `:id` is an id or a name everywhere; what the caller may not see is not there.
 */
export function groupRoutes(options: GroupRoutes): Hono<ApiEnv> {
  const { log } = options;
  const routes = new Hono<ApiEnv>();

  routes.get('/groups', (c) => {
    const { caller } = c.var;
    return ok(
      c,
      visibleGroups(caller).map((group) => shownGroup(caller, group)),
    );
  });

  routes.get('/groups/:id', (c) => {
    const group = groupOf(c.var.caller, c.req.param('id'));
    return ok(c, shownGroup(c.var.caller, group));
  });

  routes.post('/groups', async (c) => {
    const { caller } = c.var;
    const { username: by } = editorOf(caller);
    const input = parseInput(newGroupInput, await jsonBody(c.req.raw), 'Cannot create the group');
    const created = await changeGroups(options, caller, (draft, by) => addGroup(draft, by, input));
    log.info('group created', { group: input.name, by });
    const [data, extra] = changedGroup(caller, created, 'Group created successfully.');
    return ok(c, data, { ...extra, status: 201 });
  });

  routes.post('/groups/batch', async (c) => {
    const { caller } = c.var;
    const { username: by } = editorOf(caller);
    const { groups } = parseInput(groupsInput, await jsonBody(c.req.raw), 'Cannot create the groups');
    const results = await eachOf(groups, nameIn, async (raw) => {
      const input = parseInput(newGroupInput, raw, 'Cannot create the group');
      const { notes } = await changeGroups(options, caller, (draft, by) => addGroup(draft, by, input));
      log.info('group created', { group: input.name, by });
      return ['Group created successfully.', ...notes].join(' ');
    });
    const counts = countsOf(results);
    return c.json({ ...counts, ...batchMessage(counts) }, batchStatus(counts));
  });

  routes.put('/groups/:id', async (c) => {
    const { caller } = c.var;
    const { username: by } = editorOf(caller);
    const input = parseInput(groupUpdateInput, await jsonBody(c.req.raw), 'Cannot change the group');
    const changed = await changeGroups(options, caller, (draft, by) =>
      updateGroup(draft, by, c.req.param('id'), input),
    );
    log.info('group changed', { group: changed.group.name, by });
    return ok(c, ...changedGroup(caller, changed, 'Group updated successfully.'));
  });

  routes.delete('/groups/:id', async (c) => {
    const { caller } = c.var;
    const { username: by } = editorOf(caller);
    await changeGroups(options, caller, (draft, by) => deleteGroup(draft, by, c.req.param('id')));
    log.info('group deleted', { group: c.req.param('id'), by });
    return ok(c, undefined, { message: 'Group deleted successfully.' });
  });

  return routes;
}

/** The body of `POST /groups/batch`. */
export const groupsInput = z.object({
  groups: z
    .array(z.unknown(), { error: 'must be an array of groups' })
    .min(1, problemTable.empty)
    .max(httpLimits.batchItems),
});
