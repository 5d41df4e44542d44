import { isObject } from '../core/protocol/rpc.ts';
import { bundlesFolder, removeFolder } from './folders.ts';
import type { Manifest } from './manifest.ts';

/** What a server entry stores about the bundle it came from, under `bundle`. */
export interface Origin {
  readonly name: string;
  readonly version: string;
  /** The name of its folder in `<DATA_DIR>/bundles`. */
  readonly folder: string;
  /** Required keys whose values are not given yet: why the entry was registered disabled. */
  readonly missing: readonly string[];
  /** Values given for it that are no secret, for its next version. */
  readonly userConfig: Readonly<Record<string, unknown>>;
}

/** Undefined for an entry that came from no bundle, or whose `bundle` member was edited so that it cannot be used. */
export function originOf(entry: Readonly<Record<string, unknown>> | undefined): Origin | undefined {
  const origin = entry?.['bundle'];
  if (!isObject(origin)) return undefined;
  const { name, version, folder, missing, userConfig } = origin;
  if (typeof folder !== 'string' || !/^[A-Za-z0-9_-][A-Za-z0-9._+-]*$/.test(folder)) return undefined;
  return {
    name: String(name),
    version: String(version),
    folder,
    missing: Array.isArray(missing) ? missing.map(String) : [],
    userConfig: isObject(userConfig) ? userConfig : {},
  };
}

/** The values given for the version before, as far as this version still has these keys. */
export function knownValues(origin: Origin | undefined, manifest: Manifest): Record<string, unknown> {
  const values = Object.entries(origin?.userConfig ?? {});
  return Object.fromEntries(values.filter(([key]) => Object.hasOwn(manifest.user_config ?? {}, key)));
}

/** The members of an entry's `env` that are texts. */
export function textsOf(value: unknown): Record<string, string> {
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/**
 * True while one of the servers runs from the folder that this entry names: imported settings may name a folder twice.
 */
export function isBundleInUse(
  entry: Readonly<Record<string, unknown>>,
  servers: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): boolean {
  const folder = originOf(entry)?.folder;
  return folder !== undefined && Object.values(servers).some((other) => originOf(other)?.folder === folder);
}

/**
 * To be called after a server was deleted: removes the folder of its bundle. Nothing happens for an entry without one.
 * Throws HubError when the disk refuses.
 */
export async function removeBundle(
  entry: Readonly<Record<string, unknown>> | undefined,
  dataDir: string,
): Promise<void> {
  const origin = originOf(entry);
  if (origin !== undefined) await removeFolder(bundlesFolder(dataDir), origin.folder);
}
