import { resolve } from 'node:path';
import { isTrusted } from '../../core/access/grants.ts';
import { HubError, type Problem } from '../../core/errors.ts';
import type { ServerSettings, TransportSettings } from '../../core/settings/server.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { Env } from '../../env/env.ts';
import type { Loaded } from '../../settings/backend.ts';
import { settingsFile } from '../../settings/file.ts';
import { expandServer, type ReadFile } from '../../settings/server/placeholders.ts';
import { withPolicyFiles } from '../../settings/system/policy-folder.ts';
import { withForwardAuth } from '../../settings/system/forward-auth-env.ts';
import { parseSettings } from '../../settings/document/parse-settings.ts';
import { readSettingsCopy, settingsCopyPath } from '../../settings/settings-copy.ts';
import { secretValues } from '../../settings/server/secret-values.ts';
import type { Check } from './check.ts';

export interface SettingsFindings {
  readonly checks: readonly Check[];
  /** The file, or the entry of a server in it, is not accepted as it is. */
  readonly invalid: boolean;
  /** What the file says; undefined when it is not there or not accepted. */
  readonly settings: Settings | undefined;
  /** Enabled servers that can be connected: variables filled in, with the names of those that are not set. */
  readonly servers: readonly PreparedServer[];
  /** What must not stand in a report. */
  readonly secrets: readonly string[];
}

export interface PreparedServer {
  readonly name: string;
  readonly settings: ServerSettings;
  readonly transport: TransportSettings;
  readonly missing: readonly string[];
  /**
   * Whether an admin vouches for it; without that it gets nothing of the environment and reaches no private address.
   */
  readonly trusted: boolean;
  readonly allowedCidrs: readonly string[];
}

const name = 'settings';

/** Where the settings are looked at, and what that is called. */
export interface SettingsPlace {
  readonly path: string;
  readonly load: () => Promise<Loaded>;
}

/**
 * The settings file; with a database in `DB_URL`, which the file only fills, the copy of what this hub last had from
 * it.
 */
export async function settingsPlace(env: Pick<Env, 'database' | 'dataDir' | 'settingsPath'>): Promise<SettingsPlace> {
  const path = resolve(env.settingsPath);
  const file = { path, load: () => settingsFile(path).load() };
  if (env.database.kind !== 'postgres') return file;
  const copy = await readSettingsCopy(settingsCopyPath(env.dataDir));
  if (copy === undefined) return { ...file, path: `${path} (for the database in DB_URL, as long as that is empty)` };
  return { path: 'the settings in the database (DB_URL)', load: async () => copy };
}

/** Reads the settings as the hub would: every problem and every oddity with its path. */
export async function checkSettings(
  { path, load }: SettingsPlace,
  variables: Readonly<Record<string, string>>,
  readFile?: ReadFile,
): Promise<SettingsFindings> {
  const loaded = await load();
  if (loaded.kind === 'missing') {
    const detail = `${path} is not there yet; the first start makes it`;
    return { checks: [{ name, status: 'ok', detail }], invalid: false, settings: undefined, servers: [], secrets: [] };
  }
  try {
    if (loaded.kind === 'broken') throw loaded.error;
    const { settings, faults, warnings } = parseSettings(withPolicyFiles(withForwardAuth(variables)(loaded.document)));
    const wrong = [...faults.values()].flat();
    const isWrong = new Set(wrong.map((problem) => problem.path));
    const notes = [...loaded.notes, ...warnings].filter((note) => !isWrong.has(note.path));
    const odd = notes.map((note): Check => ({
      name,
      status: 'warn',
      detail: `${note.path}: ${note.message}`,
    }));
    const enabled = [...settings.servers.values()].filter(({ name, enabled }) => enabled && !faults.has(name));
    const prepared = enabled.map((server) => prepare(settings, server, variables, readFile));
    const detail = `${path}: ${settings.servers.size} servers, ${settings.groups.length} groups`;
    const unusable = prepared.filter((one): one is Check => 'status' in one);
    return {
      checks: [{ name, status: 'ok', detail }, ...wrong.map(asCheck(path)), ...odd, ...unusable],
      invalid: faults.size > 0,
      settings,
      servers: prepared.filter((one): one is PreparedServer => 'transport' in one),
      secrets: secretValues(settings, variables),
    };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return { checks: problemsOf(error, path), invalid: true, settings: undefined, servers: [], secrets: [] };
  }
}

function prepare(
  all: Settings,
  settings: ServerSettings,
  variables: Readonly<Record<string, string>>,
  readFile: ReadFile | undefined,
): PreparedServer | Check {
  const trusted = isTrusted(all, settings);
  const { allowedCidrs = [] } = all.system;
  try {
    return {
      name: settings.name,
      settings,
      trusted,
      allowedCidrs,
      ...(trusted ? expandServer(settings, variables, readFile) : expandServer(settings, {})),
    };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return { name: `server ${settings.name}`, status: 'fail', detail: error.message };
  }
}

function problemsOf(error: HubError, path: string): Check[] {
  if (error.problems.length === 0) return [{ name, status: 'fail', detail: error.message, fix: fixFor(path) }];
  return error.problems.map(asCheck(path));
}

function asCheck(place: string): (problem: Problem) => Check {
  return ({ path, message }) => ({ name, status: 'fail', detail: `${path}: ${message}`, fix: fixFor(place) });
}

function fixFor(place: string): string {
  return `Correct ${place}; docs/configuration.md describes it.`;
}
