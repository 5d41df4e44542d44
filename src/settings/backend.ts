import type { HubError, Problem } from '../core/errors.ts';

/**
 * `mcp_settings.json` as plain JSON. Only the containers are named: what is in them is checked when the change is
 * written.
 */
export interface SettingsDocument {
  mcpServers?: Record<string, Record<string, unknown>>;
  groups?: Record<string, unknown>[];
  users?: Record<string, unknown>[];
  bearerKeys?: Record<string, unknown>[];
  systemConfig?: Record<string, unknown>;
  [key: string]: unknown;
}

/** What a backend holds now. `revision` changes when, and only when, the stored content does. */
export type Loaded =
  | {
      readonly kind: 'found';
      readonly document: unknown;
      readonly revision: string;
      readonly notes: readonly Problem[];
    }
  | { readonly kind: 'missing' }
  /** It is there and cannot be read or parsed; the error says where and why. */
  | { readonly kind: 'broken'; readonly error: HubError };

export type Saved = { readonly kind: 'saved'; readonly revision: string } | { readonly kind: 'stale' };

/** Where the settings document is kept: a file, or a table that replicas share. */
export interface SettingsBackend {
  /** For messages: `settings file /etc/toolhub/mcp_settings.json`. */
  readonly name: string;
  /** What goes wrong is `broken`. Throws only what `waiting` of a table throws. */
  load(): Promise<Loaded>;
  /**
   * Replaces the whole document, or nothing. `basedOn` is the revision it was made from (undefined: there was none); if
   * the backend holds another one by now the answer is `stale` and nothing is written. Throws HubError when it cannot
   * write.
   */
  save(document: SettingsDocument, basedOn: string | undefined): Promise<Saved>;
  /**
   * Calls back after the stored content was changed, also by this backend's own `save`; never synchronously, and
   * sometimes without a change.
   */
  watch(changed: () => void): Promise<{ close(): Promise<void> }>;
}
