import type { GroupSettings } from './group.ts';
import type { KeySettings } from './key.ts';
import type { OwnItems } from './own-items.ts';
import type { ServerSettings } from './server.ts';
import type { SystemSettings } from './system.ts';
import type { UserSettings } from './user.ts';

/**
 * The operator's settings as the hub uses them: one immutable snapshot, defaults filled in, trusted. The document they
 * come from (`mcp_settings.json`, unknown keys and all) belongs to `settings/`. Shapes follow MCPHub's file.
 */
export interface Settings {
  /** In the order of the file: where two servers offer the same resource URI, the first wins. */
  readonly servers: ReadonlyMap<string, ServerSettings>;
  readonly groups: readonly GroupSettings[];
  readonly users: readonly UserSettings[];
  readonly keys: readonly KeySettings[];
  readonly system: SystemSettings;
  /** Prompts and resources of the hub itself (CONTRACT §11); absent where there are none. */
  readonly own?: OwnItems | undefined;
}
