import { unfitValues } from '../core/access/tool-override.ts';
import type { Catalogue, Item } from '../core/catalogue.ts';
import type { Logger } from '../core/logger.ts';
import type { ToolOverride } from '../core/settings/server.ts';
import type { Settings } from '../core/settings/settings.ts';

export interface Overridden {
  readonly settings: () => Settings;
  /** What the servers say of themselves. */
  readonly catalogue: () => Catalogue;
  readonly log: Logger;
}

/**
 * To be called when settings or catalogue may have changed: warns of values of overridden arguments that the tool does
 * not take, each once, as soon as the tool is known.
 */
export function createOverrideWarnings({ settings, catalogue, log }: Overridden): () => void {
  const checked = new WeakMap<ToolOverride, { readonly item: Item; readonly mistakes: readonly string[] }>();
  let told: ReadonlySet<string> = new Set();

  function mistakesOf(item: Item, override: ToolOverride): readonly string[] {
    const known = checked.get(override);
    if (known?.item === item) return known.mistakes;
    const mistakes = unfitValues(item, override).map(({ text }) => text);
    checked.set(override, { item, mistakes });
    return mistakes;
  }

  return () => {
    const { offers } = catalogue();
    const now = overridesIn(settings()).flatMap(({ path, server, tool, override }) => {
      const item = offers.get(server)?.tools.find(({ key }) => key === tool);
      return item ? mistakesOf(item, override).map((mistake) => `${path}: ${mistake}`) : [];
    });
    for (const text of now) if (!told.has(text)) log.warn(text);
    told = new Set(now);
  };
}

/** Those that do something about arguments, with their place in the settings. */
function overridesIn({ servers, groups }: Settings) {
  const ofServers = [...servers.values()].flatMap(({ name, tools }) =>
    [...tools].map(([tool, { override }]) => ({ path: `mcpServers.${name}`, server: name, tool, override })),
  );
  const ofGroups = groups.flatMap((group) =>
    group.servers.flatMap(({ name, overrides }) =>
      [...(overrides ?? [])].map(([tool, override]) => ({
        path: `groups.${group.name}.${name}`,
        server: name,
        tool,
        override,
      })),
    ),
  );
  return [...ofServers, ...ofGroups].flatMap(({ path, server, tool, override }) =>
    override?.arguments ? [{ path: `${path}.${tool}`, server, tool, override }] : [],
  );
}
