import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';
import { damaged, quoted } from './failures.ts';
import { mask } from '../core/mask.ts';
import type { RequiredConfig } from '../settings/server/required-config.ts';
import type { ServerEntry } from '../settings/server/server-entry.ts';
import { literal, variableName } from '../settings/server/variables.ts';
import type { Manifest } from './manifest.ts';
import { takeUserValues, type UserValue } from './user-values.ts';

/** The machine a bundle is to run on. */
export interface BundleHost {
  /** As in `process.platform`. */
  readonly platform: string;
  readonly home: string;
}

/** An unpacked bundle: its folder, and the files in it as paths with `/`. */
export interface BundlePlace {
  readonly folder: string;
  readonly files: ReadonlySet<string>;
}

export interface BundleServer {
  /**
   * Ready for the settings. Disabled while something required is missing; a placeholder of the hub stands in for it
   * then.
   */
  readonly config: ServerEntry;
  readonly requiredConfig: readonly RequiredConfig[];
  /** Files of the bundle that must be executable, as paths with `/`. */
  readonly executables: readonly string[];
  /** What the operator should know, one sentence each. */
  readonly notes: readonly string[];
}

export function thisHost(): BundleHost {
  return { platform: process.platform, home: homedir() };
}

export interface BundleServerOptions {
  readonly host?: BundleHost;
  /** The environment of the entry this one replaces: a secret in it stays when no new one is given. */
  readonly previousEnv?: Readonly<Record<string, string>>;
  /** Puts a mask in the place of secrets, for answers. */
  readonly hideSecrets?: boolean;
}

/**
 * Makes a server entry of a bundle (CONTRACT §4, MCPB upload). Its variables are filled in once and for all: whatever
 * the manifest or the user's values contain besides, `${…}` included, is plain text to the hub, so that no bundle reads
 * the hub's environment. An optional value that was not given leaves out its argument, and the flag before it; its
 * environment variable is not set. Several values (`multiple`) become several arguments, or one text joined by `:`
 * (paths; `;` on Windows) or `,`. Throws HubError `invalid_input` for user values that do not fit, and for a command
 * that is not there.
 */
export function bundleServer(
  manifest: Manifest,
  place: BundlePlace,
  given: Readonly<Record<string, unknown>>,
  { host = thisHost(), previousEnv = {}, hideSecrets = false }: BundleServerOptions = {},
): BundleServer {
  const system = systemVariables(place.folder, host);
  const { values, missing } = takeUserValues(manifest, given, (text) => fillSystem(text, system));
  const template = createTemplate(manifest, system, hideSecrets ? masked(manifest, values) : values, pathOf(host));

  const launch = launchOf(manifest, host.platform);
  const { command, executable } = resolveCommand(template.fillNow(launch.command), place, host);
  const env: Record<string, string> = {};
  const kept = new Set<string>();
  for (const [name, text] of Object.entries(launch.env)) {
    const absent = template.absentIn(text);
    const previous = absent.length > 0 && Object.hasOwn(previousEnv, name) ? previousEnv[name] : undefined;
    const isOld = previous !== undefined && previous !== template.fill(text);
    const value = isOld ? (hideSecrets ? mask : previous) : template.fill(text);
    if (isOld) for (const key of absent) kept.add(key);
    if (value !== undefined) env[name] = value;
  }
  for (const text of [launch.command, ...launch.args]) for (const key of template.absentIn(text)) kept.delete(key);
  const stillMissing = missing.filter(({ key }) => !kept.has(key));
  const entryPoint = manifest.server.type === 'binary' ? manifest.server.entry_point : undefined;
  const executables = [executable, entryPoint].flatMap((file) =>
    file !== undefined && place.files.has(file) ? [file] : [],
  );

  return {
    config: {
      type: 'stdio',
      command: command === undefined ? (template.fill(launch.command) ?? '') : literal(command),
      args: template.fillArgs(launch.args),
      ...(Object.keys(env).length > 0 && { env }),
      // Many bundles name their files relative to themselves.
      cwd: literal(place.folder),
      ...(manifest.description !== undefined && { description: manifest.description }),
      enabled: stillMissing.length === 0,
    },
    requiredConfig: stillMissing,
    executables: [...new Set(executables)],
    notes: notesOn(manifest, place, stillMissing, host),
  };
}

/**
 * What a bundle makes of its values in one place of its entry; undefined where a value was never given, or is a secret
 * that was not kept.
 */
export interface BundleWords {
  readonly args: readonly string[] | undefined;
  readonly env: ReadonlyMap<string, string | undefined>;
  readonly description: string | undefined;
  /** The options a variable of the environment is made of. */
  optionsOf(variable: string): string[];
}

/**
 * The texts of the entry that `bundleServer` makes, to be compared with what stands there by now. Throws as that does
 * for user values that do not fit.
 */
export function bundleWords(
  manifest: Manifest,
  folder: string,
  given: Readonly<Record<string, unknown>>,
  host: BundleHost = thisHost(),
): BundleWords {
  const system = systemVariables(folder, host);
  const { values } = takeUserValues(manifest, given, (text) => fillSystem(text, system));
  const template = createTemplate(manifest, system, values, pathOf(host));
  const { args, env } = launchOf(manifest, host.platform);
  const isKnown = (text: string): boolean => template.absentIn(text).length === 0;
  return {
    args: args.every(isKnown) ? template.fillArgs(args) : undefined,
    env: new Map(Object.entries(env).map(([name, text]) => [name, isKnown(text) ? template.fill(text) : undefined])),
    description: manifest.description,
    optionsOf: (name) => optionsIn(env[name] ?? ''),
  };
}

function pathOf({ platform }: BundleHost): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

interface Launch {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** How to start it: as the manifest says for this platform, else by its kind. */
function launchOf({ server }: Manifest, platform: string): Launch {
  const { platform_overrides: overrides = {}, ...given } = server.mcp_config ?? {};
  const own = Object.hasOwn(overrides, platform) ? overrides[platform] : undefined;
  const usual = usualLaunch(server.type, server.entry_point ?? '', platform);
  const command = own?.command ?? given.command;
  return {
    command: command ?? usual.command,
    args: own?.args ?? given.args ?? usual.args,
    env: { ...given.env, ...own?.env },
  };
}

function usualLaunch(type: Manifest['server']['type'], entryPoint: string, platform: string): Omit<Launch, 'env'> {
  const file = `\${__dirname}/${entryPoint}`;
  switch (type) {
    case 'node':
      return { command: 'node', args: [file] };
    case 'python':
      return { command: platform === 'win32' ? 'python' : 'python3', args: [file] };
    case 'uv':
      return { command: 'uv', args: ['run', '--directory', '${__dirname}', entryPoint] };
    case 'binary':
      return { command: file, args: [] };
  }
}

function systemVariables(folder: string, host: BundleHost): ReadonlyMap<string, string> {
  const path = pathOf(host);
  const { home } = host;
  return new Map([
    ['__dirname', folder],
    ['HOME', home],
    ['DESKTOP', path.join(home, 'Desktop')],
    ['DOCUMENTS', path.join(home, 'Documents')],
    ['DOWNLOADS', path.join(home, 'Downloads')],
    ['pathSeparator', path.sep],
    ['/', path.sep],
  ]);
}

const variable = /\$\{([^{}]*)\}/g;
const optionPrefix = 'user_config.';

function fillSystem(text: string, system: ReadonlyMap<string, string>): string {
  return text.replace(variable, (whole, name: string) => system.get(name) ?? whole);
}

/** `text` is to be taken as it stands, `placeholder` is one for the hub to fill in at connect time. */
type Piece = { text: string } | { placeholder: string };

/** Fills the variables of a manifest's texts in one pass: what a value contains is not looked at again. */
function createTemplate(
  manifest: Manifest,
  system: ReadonlyMap<string, string>,
  values: ReadonlyMap<string, UserValue>,
  { delimiter }: typeof posix,
) {
  /** The value of a variable; undefined = an option that has none; the variable itself when it is unknown. */
  function lookUp(name: string): Piece | { list: readonly string[]; joined: string } | undefined {
    const key = name.startsWith(optionPrefix) ? name.slice(optionPrefix.length) : '';
    const option = Object.hasOwn(manifest.user_config ?? {}, key) ? manifest.user_config?.[key] : undefined;
    if (option === undefined) return { text: system.get(name) ?? `\${${name}}` };
    const value = values.get(key);
    if (typeof value === 'string') return { text: value };
    const isPath = option.type === 'directory' || option.type === 'file';
    if (value !== undefined) return { list: value, joined: value.join(isPath ? delimiter : ',') };
    // A prefix of its own: a bundle called "jwt" with an option "secret" must not be handed JWT_SECRET.
    return option.required === true ? { placeholder: `\${${variableName('MCPB', manifest.name, key)}}` } : undefined;
  }

  function pieces(text: string): Piece[] {
    const found: Piece[] = [];
    let at = 0;
    for (const match of text.matchAll(variable)) {
      const value = lookUp(match[1] ?? '');
      found.push({ text: text.slice(at, match.index) });
      if (value !== undefined) found.push('list' in value ? { text: value.joined } : value);
      at = match.index + match[0].length;
    }
    return [...found, { text: text.slice(at) }];
  }

  function whole(text: string): string | undefined {
    const [match] = text.matchAll(variable);
    return match?.[0] === text ? match[1] : undefined;
  }

  /** A text for the settings; undefined when it is nothing but an option without a value. */
  function fill(text: string): string | undefined {
    const name = whole(text);
    if (name !== undefined && lookUp(name) === undefined) return undefined;
    let result = '';
    let plain = '';
    for (const piece of pieces(text)) {
      if ('text' in piece) plain += piece.text;
      else {
        result += literal(plain) + piece.placeholder;
        plain = '';
      }
    }
    return result + literal(plain);
  }

  function fillArgs(args: readonly string[]): string[] {
    const filled: string[] = [];
    for (const arg of args) {
      const name = whole(arg);
      const value = name === undefined ? undefined : lookUp(name);
      const text = fill(arg);
      if (value !== undefined && 'list' in value) filled.push(...value.list.map(literal));
      else if (text !== undefined) filled.push(text);
      else if (/^--?[A-Za-z][\w-]*$/.test(filled.at(-1) ?? '')) filled.pop();
    }
    return filled;
  }

  /** A text that is needed at once, as it is; undefined when something required is missing in it. */
  function fillNow(text: string): string | undefined {
    const found = pieces(text);
    return found.every((piece) => 'text' in piece) ? found.map((piece) => piece.text).join('') : undefined;
  }

  /** Options in a text that have no value. */
  function absentIn(text: string): string[] {
    return optionsIn(text).filter((key) => Object.hasOwn(manifest.user_config ?? {}, key) && !values.has(key));
  }

  return { fill, fillArgs, fillNow, absentIn };
}

/** The keys of the options that a text names. */
function optionsIn(text: string): string[] {
  const names = [...text.matchAll(variable)].map((match) => match[1] ?? '');
  return names.filter((name) => name.startsWith(optionPrefix)).map((name) => name.slice(optionPrefix.length));
}

/** A program of the bundle, by its full path, or one that the system finds. */
function resolveCommand(
  command: string | undefined,
  { folder, files }: BundlePlace,
  host: BundleHost,
): { command: string | undefined; executable?: string } {
  if (command === undefined) return { command };
  if (command.trim() === '') throw damaged('its command is empty');
  const path = pathOf(host);
  const withExe = (file: string) =>
    host.platform === 'win32' && !files.has(file) && files.has(`${file}.exe`) ? `${file}.exe` : file;
  const inside = path.relative(folder, path.resolve(folder, command)).replaceAll('\\', '/');
  const outside = inside.startsWith('..') || path.isAbsolute(inside);
  if (path.isAbsolute(command) && outside) return { command };
  if (outside) throw damaged(`its command ${quoted(command)} leads out of the bundle`);
  const isProgramOfSystem = !path.isAbsolute(command) && !/[/\\]/.test(command) && !files.has(withExe(command));
  if (isProgramOfSystem) return { command };
  const file = withExe(inside);
  if (!files.has(file)) throw damaged(`its command ${quoted(command)} is not in it`);
  return { command: path.join(folder, file), executable: file };
}

function masked(manifest: Manifest, values: ReadonlyMap<string, UserValue>): ReadonlyMap<string, UserValue> {
  return new Map(
    [...values].map(([key, value]) => {
      const hide = manifest.user_config?.[key]?.sensitive === true;
      return [key, !hide ? value : typeof value === 'string' ? mask : value.map(() => mask)];
    }),
  );
}

function notesOn(
  manifest: Manifest,
  { files }: BundlePlace,
  missing: readonly RequiredConfig[],
  { platform }: BundleHost,
): string[] {
  const notes: string[] = [];
  const entryPoint = manifest.server.entry_point;
  if (entryPoint !== undefined && !files.has(posix.normalize(entryPoint))) {
    notes.push(`${quoted(entryPoint)} (server.entry_point) is not in the bundle; it may not start.`);
  }
  if (missing.length > 0) {
    const names = missing.map(({ key, title }) => (title === key ? key : `${title} (${key})`)).join(', ');
    notes.push(`Disabled until it is configured: ${names}.`);
  }
  const platforms = manifest.compatibility?.platforms ?? [];
  if (platforms.length > 0 && !platforms.includes(platform)) {
    notes.push(`Made for ${platforms.join(', ')}; this hub runs on ${platform}, where it may not start.`);
  }
  return notes;
}
