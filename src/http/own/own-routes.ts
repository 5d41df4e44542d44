import { Hono } from 'hono';
import { mayBeTold } from '../../core/access/decision.ts';
import type { Catalogue } from '../../core/catalogue.ts';
import { parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import { ownServer } from '../../core/own-items.ts';
import { saying } from '../../core/sentences.ts';
import { addOwn, deleteOwn, ownAnswer, ownAnswers, type OwnKind, updateOwn } from '../../settings/own/own-edits.ts';
import {
  newPromptInput,
  newResourceInput,
  promptUpdateInput,
  resourceUpdateInput,
} from '../../settings/own/own-shape.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { jsonBody } from '../frame/body.ts';
import { adminOnly, type ApiEnv, type Caller, changeAs, editorOf } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';

export interface OwnRoutes {
  readonly settings: Pick<SettingsStore, 'change' | 'document'>;
  readonly catalogue: () => Catalogue;
  readonly log: Logger;
}

const inputs = {
  prompts: { made: newPromptInput, changed: promptUpdateInput },
  resources: { made: newResourceInput, changed: resourceUpdateInput },
} as const;
const words = { prompts: 'prompt', resources: 'resource' } as const;

/**
 * `/prompts` and `/resources` (reference: MCPHub §1.10): what the hub itself offers to all clients. Users see it, as
 * their clients do and policies let them; admins change it.
 */
export function ownRoutes({ settings, catalogue, log }: OwnRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  for (const kind of ['prompts', 'resources'] as const) {
    routes.get(`/${kind}`, (c) => ok(c, visible(kind, c.var.caller)));

    routes.get(`/${kind}/:id`, (c) => {
      const found = visible(kind, c.var.caller).find(({ id }) => id === c.req.param('id'));
      if (!found) throw saying('not_found', 'no_own', { kind: words[kind] });
      return ok(c, found);
    });

    routes.post(`/${kind}`, adminOnly, async (c) => {
      const { username: by } = editorOf(c.var.caller);
      const input = parseInput(inputs[kind].made, await jsonBody(c.req.raw), `Cannot create the ${words[kind]}`);
      const entry = await changeAs(settings, c.var.caller, (draft, editor) => addOwn(draft, editor, kind, input));
      log.info(`${words[kind]} created`, { id: String(entry['id']), by });
      return ok(c, ownAnswer(kind, entry), { message: `Built-in ${words[kind]} created`, status: 201 });
    });

    routes.put(`/${kind}/:id`, adminOnly, async (c) => {
      const { username: by } = editorOf(c.var.caller);
      const id = c.req.param('id');
      const input = parseInput(inputs[kind].changed, await jsonBody(c.req.raw), `Cannot change the ${words[kind]}`);
      const entry = await changeAs(settings, c.var.caller, (draft, editor) =>
        updateOwn(draft, editor, kind, id, input),
      );
      log.info(`${words[kind]} changed`, { id, by });
      return ok(c, ownAnswer(kind, entry), { message: `Built-in ${words[kind]} updated` });
    });

    routes.delete(`/${kind}/:id`, adminOnly, async (c) => {
      const { username: by } = editorOf(c.var.caller);
      const id = c.req.param('id');
      await changeAs(settings, c.var.caller, (draft, editor) => deleteOwn(draft, editor, kind, id));
      log.info(`${words[kind]} deleted`, { id, by });
      return ok(c, undefined, { message: `Built-in ${words[kind]} deleted` });
    });
  }

  /** Admins manage all of it. Users see what their clients get: what is switched on, and no policy keeps from them. */
  function visible(kind: OwnKind, { admin, principal, settings: now, address }: Caller) {
    const all = ownAnswers(settings.document, kind);
    if (admin) return all;
    const asked = { settings: now, catalogue: catalogue(), principal, scope: { kind: 'all' }, address } as const;
    return all.filter(({ enabled, name, uri }) => {
      const action = kind === 'prompts' ? 'getPrompt' : 'readResource';
      const target = { server: ownServer, key: kind === 'prompts' ? name : uri };
      return enabled && mayBeTold({ ...asked, action, target });
    });
  }

  return routes;
}
