import { type Context, Hono } from 'hono';
import { exposedName } from '../../core/access/tool-name.ts';
import type { Catalogue, Item } from '../../core/catalogue.ts';
import { parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import { mergedOverride } from '../../core/access/tool-override.ts';
import { saying } from '../../core/sentences.ts';
import type { ServerSettings, ToolOverride } from '../../core/settings/server.ts';
import { overrideAnswer, overrideShape, readOverride } from '../../settings/document/tool-override.ts';
import { changeItems, type ItemChange, limitTool, overrideTool } from '../../settings/server/item-edits.ts';
import {
  enabledInput,
  itemDescriptionInput,
  itemsSwitchInput,
  toolLimitInput,
} from '../../settings/server/server-input.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { jsonBody } from '../frame/body.ts';
import { type ApiEnv, type Caller, changeAs, editorOf } from '../frame/caller.ts';
import { managedServer } from '../frame/reachable.ts';
import { flagOf } from '../frame/query.ts';
import { ok } from '../frame/reply.ts';
import { type AskedTool, overrideChecked, overrideShown } from '../frame/tool-override.ts';

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
export function serverItemRoutes(options: ServerItemRoutes): Hono<ApiEnv> {
  const { settings, catalogue, log } = options;
  const routes = new Hono<ApiEnv>();

  type Wanted = Pick<ItemChange, 'enabled' | 'description'>;

  async function change(c: Context<ApiEnv>, kind: Kind, given: readonly string[], wanted: Wanted) {
    const { caller } = c.var;
    const { username } = editorOf(caller);
    const name = c.req.param('server') ?? '';
    const server = managedServer(caller, name, `Cannot change the ${kind} of server "${name}"`);
    const keyOf = keysOf(catalogue(), caller, server, kind);
    const items = [...new Set(given.map(keyOf))];
    await changeAs(settings, caller, (draft, by) =>
      changeItems(draft, by, { server: server.name, kind, items, ...wanted }),
    );
    const [item] = items;
    const count = items.length;
    log.info('item changed', { server: server.name, kind, item, ...(count > 1 && { count }), by: username });
    return items;
  }

  async function changeOne(c: Context<ApiEnv>, kind: Kind, wanted: Wanted) {
    const [item = ''] = await change(c, kind, [c.req.param('item') ?? ''], wanted);
    return item;
  }

  for (const kind of ['tools', 'prompts', 'resources'] as const) {
    const path = `/servers/:server/${kind}/:item` as const;
    const word = words[kind];

    // One change of the settings, however many there are.
    routes.post(`/servers/:server/${kind}/toggle`, async (c) => {
      editorOf(c.var.caller);
      const { items, enabled } = parseInput(itemsSwitchInput, await jsonBody(c.req.raw), `Cannot switch the ${kind}`);
      const changed = await change(c, kind, items, { enabled });
      return ok(c, { items: changed, enabled });
    });

    routes.post(`${path}/toggle`, async (c) => {
      editorOf(c.var.caller);
      const { enabled } = parseInput(
        enabledInput,
        await jsonBody(c.req.raw),
        `Cannot switch the ${word.toLowerCase()}`,
      );
      const item = await changeOne(c, kind, { enabled });
      return ok(c, { item, enabled }, { message: `${word} ${item} ${enabled ? 'enabled' : 'disabled'} successfully.` });
    });

    routes.put(`${path}/description`, async (c) => {
      editorOf(c.var.caller);
      const attempt = `Cannot describe the ${word.toLowerCase()}`;
      const { description } = parseInput(itemDescriptionInput, await jsonBody(c.req.raw), attempt);
      const item = await changeOne(c, kind, { description });
      return ok(c, { item, description }, { message: `${word} description updated successfully.` });
    });

    routes.delete(`${path}/description`, async (c) => {
      const item = await changeOne(c, kind, { description: null });
      const description = defaultOf(catalogue(), c.req.param('server'), kind, item);
      return ok(c, { item, description }, { message: `${word} description reset successfully.` });
    });
  }

  overrideRoutes(routes, options);
  limitRoute(routes, options);
  return routes;
}

/** What clients see of a tool in place of what its server says. */
function overrideRoutes(routes: Hono<ApiEnv>, { settings, catalogue, log }: ServerItemRoutes): void {
  const overridePath = '/servers/:server/tools/:item/override' as const;

  /** The tool, for those who may change its server. */
  function overridden(c: Context<ApiEnv, typeof overridePath>) {
    const { caller } = c.var;
    const { server: name, item } = c.req.param();
    const server = managedServer(caller, name, `Cannot override a tool of server "${name}"`);
    const tool = keysOf(catalogue(), caller, server, 'tools')(item);
    return { server: server.name, tool, own: server.tools, isManaged: true };
  }

  routes.get(overridePath, (c) => {
    const asked = overridden(c);
    return ok(c, overrideShown(catalogue(), asked, { server: mergedOverride(asked.own.get(asked.tool), undefined) }));
  });

  routes.put(overridePath, async (c) => {
    editorOf(c.var.caller);
    const asked = overridden(c);
    const given = parseInput(overrideShape, await jsonBody(c.req.raw), `Cannot override "${asked.tool}"`);
    const override = readOverride(given);
    const [answer, notes] = overrideChecked(catalogue(), asked, { server: override });
    if (!flagOf(c.req.query(), 'dryRun')) await saveOverride(c, asked, override);
    return ok(c, answer, notes);
  });

  routes.delete(overridePath, async (c) => {
    const asked = overridden(c);
    await saveOverride(c, asked, undefined);
    return ok(c, overrideShown(catalogue(), asked, { server: undefined }));
  });

  async function saveOverride(c: Context<ApiEnv>, { server, tool }: AskedTool, override: ToolOverride | undefined) {
    const { username: by } = editorOf(c.var.caller);
    const written = override && overrideAnswer(override);
    await changeAs(settings, c.var.caller, (draft, editor) =>
      overrideTool(draft, editor, { server, tool, override: written }),
    );
    log.info('tool overridden', { server, item: tool, by });
  }
}

/** One member of one tool, so that two who change tools of a server at the same time both have their way. */
function limitRoute(routes: Hono<ApiEnv>, { settings, catalogue, log }: ServerItemRoutes): void {
  routes.put('/servers/:server/tools/:item/max-result-tokens', async (c) => {
    const { username: by } = editorOf(c.var.caller);
    const { server: name, item } = c.req.param();
    const attempt = `Cannot limit the results of a tool of server "${name}"`;
    const { maxResultTokens: most } = parseInput(toolLimitInput, await jsonBody(c.req.raw), attempt);
    const { caller } = c.var;
    const server = managedServer(caller, name, attempt);
    const tool = keysOf(catalogue(), caller, server, 'tools')(item);
    await changeAs(settings, caller, (draft, editor) => limitTool(draft, editor, { server: server.name, tool, most }));
    log.info('results of a tool limited', { server: server.name, item: tool, by });
    return ok(c, { item: tool, maxResultTokens: most });
  });
}

/**
 * Says by which key the server itself knows an item. It throws HubError `not_found` when the server plainly offers no
 * such thing; while the server is away anything goes.
 */
function keysOf(
  catalogue: Catalogue,
  { settings }: Caller,
  server: ServerSettings,
  kind: Kind,
): (given: string) => string {
  const offer = catalogue.offers.get(server.name);
  if (!offer) return (given) => given;
  const items: readonly Item[] = kind === 'resources' ? [...offer.resources, ...offer.templates] : offer[kind];
  const keys = new Set(items.map(({ key }) => key));
  // Made once, and only for names that are no keys: a request may name all tools of a server that has thousands.
  let byExposed: ReadonlyMap<string, string> | undefined;
  const exposed = () => {
    const prefixes = [...settings.servers.keys()];
    const { nameSeparator } = settings.system;
    return new Map([...keys].map((key) => [exposedName(server.name, key, nameSeparator, prefixes), key]));
  };
  return (given) => {
    if (keys.has(given)) return given;
    byExposed ??= exposed();
    const named = byExposed.get(given);
    if (named !== undefined) return named;
    // The settings may speak of an item that the server does not offer now. Only then: MCPHub's files have the names
    // clients see as keys.
    if (server[kind].has(given)) return given;
    throw saying('not_found', 'no_item', { server: server.name, kind: words[kind].toLowerCase(), name: given });
  };
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
