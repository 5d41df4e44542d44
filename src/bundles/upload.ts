import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, HubError } from '../core/errors.ts';
import { mask } from '../core/mask.ts';
import type { RequiredConfig } from '../settings/server/required-config.ts';
import type { ServerEntry } from '../settings/server/server-entry.ts';
import { damaged, quoted } from './failures.ts';
import { bundlesFolder, keepFolder, removeFolder, removeLeftovers, removeTree } from './folders.ts';
import { bundleLimits } from './limits.ts';
import { type Manifest, parseManifest } from './manifest.ts';
import { handSet, type HandSet, wordsBefore } from './hand-set.ts';
import { isBundleInUse, knownValues, type Origin, originOf, removeBundle, textsOf } from './origin.ts';
import { type BundleHost, bundleServer, bundleWords, type BundleWords, thisHost } from './server-config.ts';
import { type Bundle, openBundle } from './unpack.ts';

/** The part of the settings document that a bundle touches, and the way to change it (`SettingsStore.change`). */
type Draft = { mcpServers?: Record<string, Record<string, unknown>> };
export type ChangeSettings = <T>(edit: (draft: Draft) => T) => Promise<T>;

export interface BundleUpload {
  /** Where the uploaded bytes are. The caller removes the file afterwards. */
  readonly file: string;
  /** What the uploader called it. */
  readonly filename: string;
  /** Take the place of a server of that name. */
  readonly replace: boolean;
  /** Values for the bundle's `user_config`, by key. */
  readonly userConfig: Readonly<Record<string, unknown>>;
  /** Who owns the server, when it is new. */
  readonly owner?: string;
  readonly change: ChangeSettings;
  readonly dataDir: string;
  readonly host?: BundleHost;
}

/** The answer to an upload (CONTRACT §4, MCPB upload). Secrets in `config` are masked. */
export interface ImportedBundle {
  readonly manifest: Manifest;
  readonly server: { readonly name: string; readonly config: ServerEntry };
  readonly requiredConfig: readonly RequiredConfig[];
  /** What the operator should know, one sentence each. */
  readonly notes: readonly string[];
}

/**
 * Unpacks a bundle and registers its server. A replaced server keeps what the operator decided about it (who may use
 * it, its switched-off tools, whether it runs, variables and the description changed by hand) and the values given
 * before, and its folder goes, unless another server runs from it. Whatever fails, settings and disk are as they were.
 * Throws HubError `invalid_input` (bad bundle, bad values), `too_large`, `conflict` (the name is taken),
 * `misconfigured` (the disk).
 */
export async function importBundle(upload: BundleUpload): Promise<ImportedBundle> {
  if (!/\.(mcpb|dxt)$/i.test(upload.filename)) {
    throw damaged(`${quoted(upload.filename)} is not called *.mcpb or *.dxt`);
  }
  const parent = bundlesFolder(upload.dataDir);
  await removeLeftovers(parent);
  const bundle = await openBundle(upload.file);
  try {
    const manifest = await readManifest(bundle);
    const source: Source = {
      upload,
      manifest,
      files: bundle.files,
      parent,
      before: await before(upload, manifest, parent),
    };
    // Everything that can be refused is refused before a gigabyte is unpacked.
    const { executables } = await upload.change((draft) => entryFor(draft, source, manifest.name));
    const folder = await install(bundle, source, executables);
    return await register(source, folder).catch(async (error: unknown) => {
      await removeFolder(parent, folder);
      throw error;
    });
  } finally {
    bundle.close();
  }
}

interface Source {
  readonly upload: BundleUpload;
  readonly manifest: Manifest;
  readonly files: ReadonlySet<string>;
  /** The folder of all bundles. */
  readonly parent: string;
  /** What the version in this folder was made into, where there is one. */
  readonly before: { readonly folder: string; readonly words: BundleWords } | undefined;
}

async function before({ change, host }: BundleUpload, { name }: Manifest, parent: string): Promise<Source['before']> {
  const origin = await change((draft) => originOf(entryOf(draft, name)));
  const words = origin && (await wordsBefore(origin, parent, host));
  return words && { folder: origin.folder, words };
}

function entryOf({ mcpServers = {} }: Readonly<Draft>, name: string): Record<string, unknown> | undefined {
  return Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined;
}

async function readManifest(bundle: Bundle): Promise<Manifest> {
  const json = await bundle.readText('manifest.json', bundleLimits.bundleManifestBytes);
  if (json !== undefined) return parseManifest(json);
  const elsewhere = [...bundle.files].find((file) => file.endsWith('/manifest.json'));
  const hint =
    elsewhere === undefined ? '' : `; there is ${quoted(elsewhere)}: pack the contents of that folder, not the folder`;
  throw damaged(`it has no manifest.json at its top${hint}`);
}

/** Unpacks and gives the folder its name, which is returned. */
async function install(bundle: Bundle, { manifest, parent }: Source, executables: readonly string[]): Promise<string> {
  const temporary = await bundle.unpack(parent);
  try {
    for (const file of executables) await chmod(join(temporary, ...file.split('/')), 0o755);
    const version = manifest.version.replace(/[^A-Za-z0-9._+-]+/g, '-').slice(0, 40);
    return await keepFolder(temporary, parent, `${manifest.name}-${version}`);
  } catch (error) {
    await removeTree(temporary);
    throw error;
  }
}

async function register(source: Source, folder: string): Promise<ImportedBundle> {
  const { manifest, upload } = source;
  const { old, servers, answer, requiredConfig, notes } = await upload.change((draft) => {
    const made = entryFor(draft, source, folder);
    const servers = { ...draft.mcpServers, [manifest.name]: made.entry };
    draft.mcpServers = servers;
    return { ...made, servers };
  });
  const result = { manifest, server: { name: manifest.name, config: answer }, requiredConfig };
  try {
    if (old && !isBundleInUse(old, servers)) await removeBundle(old, upload.dataDir);
    return { ...result, notes };
  } catch (error) {
    return { ...result, notes: [...notes, `The folder of the old version is still there: ${errorText(error)}`] };
  }
}

/**
 * Members of an entry that say how its server is started; the others are the operator's decisions and outlive a
 * replacement.
 */
const startMembers = new Set(
  (
    'type transport command args env cwd url serverUrl httpUrl headers passthroughHeaders openapi oauth proxy ' +
    'credentialTemplate enabled disabled description bundle'
  ).split(' '),
);

/**
 * The entry for the bundle in this folder, given what the settings hold now. Throws HubError `conflict` when the name
 * is taken.
 */
function entryFor(draft: Readonly<Draft>, source: Source, folder: string) {
  const { upload, manifest, files, parent } = source;
  const { name, version } = manifest;
  const old = entryOf(draft, name);
  if (old !== undefined && !upload.replace) {
    throw new HubError(
      'conflict',
      `Cannot add server "${name}" from the bundle: there is one of that name. Upload it with replace=true to replace it.`,
    );
  }
  const origin = originOf(old);
  const place = { folder: join(parent, folder), files };
  const given = { ...knownValues(origin, manifest), ...upload.userConfig };
  const options = {
    host: upload.host ?? thisHost(),
    previousEnv: textsOf(origin === undefined ? undefined : old?.['env']),
  };
  const made = bundleServer(manifest, place, given, options);
  const masked = bundleServer(manifest, place, given, { ...options, hideSecrets: true });

  const wasOff = old?.['enabled'] === false || old?.['disabled'] === true;
  const offByOperator = wasOff && (origin === undefined || origin.missing.length === 0);
  const bundle: Origin = {
    name,
    version,
    folder,
    missing: made.requiredConfig.map(({ key }) => key),
    userConfig: withoutSecrets(given, manifest),
  };
  const decided = Object.fromEntries(Object.entries(old ?? {}).filter(([key]) => !startMembers.has(key)));
  const byHand = old && origin && changedByHand(old, origin, source, place.folder);
  const finish = (config: ServerEntry, shown: (value: string) => string): ServerEntry => ({
    ...(byHand ? withHandSet(config, byHand, shown) : config),
    ...(old === undefined && upload.owner !== undefined ? { owner: upload.owner } : decided),
    enabled: config.enabled === true && !offByOperator,
    bundle,
  });
  const { requiredConfig, executables } = made;
  const notes = byHand?.args ? [...made.notes, argsReplaced] : made.notes;
  const entry = finish(made.config, (value) => value);
  return { old, entry, answer: finish(masked.config, () => mask), requiredConfig, notes, executables };
}

const argsReplaced =
  'Its arguments had been changed by hand; they are those of the new version now. Change them again if that is still needed.';

function changedByHand(
  old: Readonly<Record<string, unknown>>,
  origin: Origin,
  { upload, manifest, before }: Source,
  folder: string,
): HandSet | undefined {
  if (before?.folder !== origin.folder) return undefined;
  const given = upload.userConfig;
  const words = bundleWords(manifest, folder, { ...knownValues(origin, manifest), ...given }, upload.host);
  return handSet(old, before.words, { words, given });
}

function withHandSet({ env, ...config }: ServerEntry, byHand: HandSet, shown: (value: string) => string): ServerEntry {
  const merged = new Map(Object.entries(textsOf(env)));
  for (const [name, value] of byHand.env) {
    if (value === undefined) merged.delete(name);
    else merged.set(name, shown(value));
  }
  const { description } = byHand;
  return {
    ...config,
    ...(merged.size > 0 && { env: Object.fromEntries(merged) }),
    ...(description !== undefined && { description }),
  };
}

function withoutSecrets(given: Readonly<Record<string, unknown>>, manifest: Manifest): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([key]) => manifest.user_config?.[key]?.sensitive !== true));
}
