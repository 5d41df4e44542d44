import { type Context, Hono } from 'hono';
import { exposedName } from '../../core/access/tool-name.ts';
import type { Catalogue, Item } from '../../core/catalogue.ts';
import { HubError } from '../../core/errors.ts';
import { parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import type { ServerSettings } from '../../core/settings/types.ts';
import { changeItem, type ItemChange } from '../../settings/server/server-edits.ts';
import { enabledInput, itemDescriptionInput } from '../../settings/server/server-input.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { jsonBody } from '../frame/body.ts';
import { type ApiEnv, type Caller, changeAs, editorOf } from '../frame/caller.ts';
import { managedServer } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';

export interface ServerItemRoutes {
  readonly settings: Pick<SettingsStore, 'change'>;
  readonly catalogue: () => Catalogue;
  readonly log: Logger;
}

type Kind = ItemChange['kind'];

const words: Readonly<Record<Kind, string>> = { tools: 'Tool', prompts: 'Prompt', resources: 'Resource' };

/**
 * Switches and descriptions of single tools, prompts and resources (reference: MCPHub §1.5). An item goes by the
 * server's own name for it (the URI of a resource, encoded) or by the name clients see.
 */
export function serverItemRoutes({ settings, catalogue, log }: ServerItemRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  async function change(c: Context<ApiEnv>, kind: Kind, wanted: Pick<ItemChange, 'enabled' | 'description'>) {
    const { caller } = c.var;
    const { username } = editorOf(caller);
    const name = c.req.param('server') ?? '';
    const server = managedServer(caller, name, `Cannot change the ${kind} of server "${name}"`);
    const item = keyOf(caller, server, kind, c.req.param('item') ?? '');
    await changeAs(settings, caller, (draft, by) =>
      changeItem(draft, by, { server: server.name, kind, item, ...wanted }),
    );
    log.info('item changed', { server: server.name, kind, item, by: username });
    return item;
  }

  /**
   * The key by which the server itself knows the item. Throws HubError `not_found` when it plainly offers no such
   * thing; while it is away anything goes.
   */
  function keyOf({ settings }: Caller, server: ServerSettings, kind: Kind, given: string): string {
    const offer = catalogue().offers.get(server.name);
    if (!offer) return given;
    const items: readonly Item[] = kind === 'resources' ? [...offer.resources, ...offer.templates] : offer[kind];
    if (items.some(({ key }) => key === given)) return given;
    const prefixes = [...settings.servers.keys()];
    const named = items.find(
      ({ key }) => exposedName(server.name, key, settings.system.nameSeparator, prefixes) === given,
    );
    if (named) return named.key;
    // The settings may speak of an item that the server does not offer now. Only then: MCPHub's files have the names
    // clients see as keys.
    if (server[kind].has(given)) return given;
    throw new HubError('not_found', `Server "${server.name}" has no ${words[kind].toLowerCase()} "${given}".`);
  }

  for (const kind of ['tools', 'prompts', 'resources'] as const) {
    const path = `/servers/:server/${kind}/:item` as const;
    const word = words[kind];

    routes.post(`${path}/toggle`, async (c) => {
      editorOf(c.var.caller);
      const { enabled } = parseInput(
        enabledInput,
        await jsonBody(c.req.raw),
        `Cannot switch the ${word.toLowerCase()}`,
      );
      const item = await change(c, kind, { enabled });
      return ok(c, { item, enabled }, { message: `${word} ${item} ${enabled ? 'enabled' : 'disabled'} successfully.` });
    });

    routes.put(`${path}/description`, async (c) => {
      editorOf(c.var.caller);
      const attempt = `Cannot describe the ${word.toLowerCase()}`;
      const { description } = parseInput(itemDescriptionInput, await jsonBody(c.req.raw), attempt);
      const item = await change(c, kind, { description });
      return ok(c, { item, description }, { message: `${word} description updated successfully.` });
    });

    routes.delete(`${path}/description`, async (c) => {
      const item = await change(c, kind, { description: null });
      const description = defaultOf(catalogue(), c.req.param('server'), kind, item);
      return ok(c, { item, description }, { message: `${word} description reset successfully.` });
    });
  }

  return routes;
}

/** What the server itself says of the item; empty while it says nothing. */
function defaultOf(catalogue: Catalogue, server: string, kind: Kind, key: string): string {
  const offer = catalogue.offers.get(server);
  const items =
    kind === 'resources' ? [...(offer?.resources ?? []), ...(offer?.templates ?? [])] : (offer?.[kind] ?? []);
  const text = items.find((item) => item.key === key)?.text;
  const { description } = JSON.parse(text ?? '{}') as { description?: unknown };
  return typeof description === 'string' ? description : '';
}
