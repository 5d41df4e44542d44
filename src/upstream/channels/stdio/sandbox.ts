import { existsSync, mkdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { HubError } from '../../../core/errors.ts';
import { type Reason, reasonWords } from '../../../core/reasons.ts';
import type { SandboxSettings } from '../../../core/settings/server.ts';
import { inControlGroup } from './cgroup.ts';
import type { StdioOptions } from './program.ts';
import { homeOf } from './sandbox-home.ts';

/** What is kept from programs in a sandbox, and where they have their homes. */
export interface SandboxPlaces {
  /** Absolute: nothing of it is seen but the home of the server, bundles and samples. */
  readonly dataDir: string;
  /** Files with secrets of the hub: its settings, its `.env`. */
  readonly secretFiles: readonly string[];
}

export interface Sandboxed {
  readonly sandbox: SandboxSettings;
  readonly places: SandboxPlaces;
  /** Several processes of it run for different callers: what one writes at home the others must not find. */
  readonly isShared: boolean;
}

/** Those of a hub with these settings, which was started in this folder. */
export function sandboxPlaces(hub: { readonly dataDir: string; readonly settingsPath: string }): SandboxPlaces {
  const files = [resolve(hub.settingsPath), resolve('.env')];
  return { dataDir: realOf(resolve(hub.dataDir)), secretFiles: [...new Set([...files, ...files.map(realOf)])] };
}

/** Folders of the system that programs need to run at all. `/opt` is none: applications have their data there. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'];
const systemFiles = [
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/ca-certificates.conf',
  '/etc/group',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/nsswitch.conf',
  '/etc/passwd',
  '/etc/pki/tls',
  '/etc/pki/ca-trust',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/timezone',
];
const networkFiles = ['/etc/hosts', '/etc/resolv.conf', '/etc/services'];

/**
 * `--new-session` is not among them: the program leads a session without a terminal already (`detached`), and has to be
 * in the process group that the hub ends.
 */
const ownNamespaces = [
  '--die-with-parent',
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--cap-drop',
  'ALL',
  '--hostname',
  'sandbox',
];

/** What a program in a sandbox gets of the environment of the hub: no folders of the user, and no sockets. */
const inherited =
  /^(PATH|LANG|LC_\w+|TZ|TERM|HTTPS?_PROXY|NO_PROXY|ALL_PROXY|https?_proxy|no_proxy|all_proxy|(npm_config|NPM_CONFIG)_(registry|REGISTRY|proxy|https_proxy|noproxy)|UV_INDEX_URL|UV_DEFAULT_INDEX|PIP_INDEX_URL|PIP_EXTRA_INDEX_URL)$/;

/** Where the system looks for programs when no variable says. */
export const usualPath = '/usr/local/bin:/usr/bin:/bin';

/** Folders of the data folder that belong to servers. */
const ofServers = ['bundles', 'sample'];

/**
 * The same program, started in a sandbox by bubblewrap (CONTRACT §10): own processes, an own home, the system and the
 * paths that the settings name. Throws HubError `upstream_unavailable` with the reason where that cannot be.
 */
export function inSandbox(options: StdioOptions, { sandbox, places, isShared }: Sandboxed): StdioOptions {
  const { name, command } = options;
  const hubPath = options.inheritedEnv['PATH'] ?? usualPath;
  const path = options.env['PATH'] ?? hubPath;
  const bwrap = onPath('bwrap', hubPath);
  if (process.platform !== 'linux' || bwrap === undefined) throw refused(name, { code: 'sandbox_missing', values: {} });
  checkSandbox(name, sandbox, options.cwd, places);
  const own = programPlaces(command, path, writable(sandbox, places));
  const around = [...systemFolders, ...own].find((one) => existsSync(one) && holdsSecrets(realOf(one), places));
  if (around !== undefined) throw refused(name, { code: 'sandbox_secret', values: { path: around, list: 'command' } });
  const home = homeOf(places.dataDir, name);
  if (!isShared) mkdirSync(home, { recursive: true, mode: 0o700 });
  const cwd = options.cwd === undefined ? home : resolve(options.cwd);
  // Below a folder that the program writes to it is there already, and on the host it could have become a link.
  const isThere = options.cwd === undefined || sandbox.write.some((folder) => isBelow(cwd, folder));
  const seen = [...sandbox.read, ...(isThere ? [] : [cwd]), ...ownFiles(options, places)];
  const env = Object.fromEntries(Object.entries(options.inheritedEnv).filter(([key]) => inherited.test(key)));
  const args = [
    ownNamespaces,
    sandbox.network === 'none' ? ['--unshare-net'] : [],
    systemMounts(sandbox.network === 'host'),
    ['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    own.flatMap((place) => ['--ro-bind-try', realOf(place), place]),
    pathMounts(seen, sandbox.write),
    isShared ? ['--tmpfs', home] : ['--bind', home, home],
    ['--chdir', cwd, '--', command, ...options.args],
  ].flat();
  return {
    ...options,
    cwd: undefined,
    inheritedEnv: { ...env, HOME: home, TMPDIR: '/tmp' },
    spawned: inControlGroup({ command: bwrap, args }, sandbox, options.log),
  };
}

/** HubError `upstream_unavailable` for a program that is not started. */
export function refused(name: string, reason: Reason): HubError {
  const { text, advice } = reasonWords(reason);
  return new HubError('upstream_unavailable', `Cannot start server "${name}": ${text} ${advice}`, { reason });
}

/** Throws HubError for a path that is not there, or that no sandbox may have. */
export function checkSandbox(
  name: string,
  sandbox: SandboxSettings,
  cwd: string | undefined,
  places: SandboxPlaces,
): void {
  const loose = writable(sandbox, places);
  for (const list of ['read', 'write'] as const)
    for (const one of sandbox[list]) {
      checkPath(name, `sandbox.${list}`, one, places);
      mustBeFixed(name, `sandbox.${list}`, one, loose);
    }
  if (cwd === undefined) return;
  if (!isFolder(cwd)) throw refused(name, { code: 'folder_not_found', values: { folder: cwd } });
  checkPath(name, 'cwd', resolve(cwd), places);
  if (!sandbox.write.some((folder) => isBelow(resolve(cwd), folder))) mustBeFixed(name, 'cwd', cwd, loose);
}

/** Folders in which a program in a sandbox can put links. */
function writable({ write }: SandboxSettings, { dataDir }: SandboxPlaces): string[] {
  return [...write.flatMap((folder) => [resolve(folder), realOf(folder)]), join(dataDir, 'sandbox')];
}

/** What the program may write to it could make a link to any folder of the host, which the next start would follow. */
function mustBeFixed(name: string, list: string, path: string, loose: readonly string[]): void {
  const isLoose = waysOf(resolve(path)).some((way) => loose.some((folder) => way !== folder && isBelow(way, folder)));
  if (isLoose) throw refused(name, { code: 'sandbox_nested', values: { path, list } });
}

/** A path, and what it becomes with each link that it leads through. */
function waysOf(path: string, most = 40): string[] {
  const parts = path.split(sep).slice(1);
  for (const at of parts.keys()) {
    const before = sep + parts.slice(0, at + 1).join(sep);
    const link = linkOf(before);
    if (link !== undefined && most > 0)
      return [path, ...waysOf(resolve(dirname(before), link, ...parts.slice(at + 1)), most - 1)];
  }
  return [path];
}

function checkPath(name: string, list: string, path: string, places: SandboxPlaces): void {
  const values = { path, list };
  if (!isAbsolute(path) || !existsSync(path)) throw refused(name, { code: 'sandbox_path', values });
  const real = realpathSync(path);
  const { dataDir } = places;
  const isForServers = ofServers.some((folder) => isBelow(real, join(dataDir, folder)));
  // Also a folder around them: a file that is hidden in it is there again once the hub has replaced it.
  const hasSecrets = (isBelow(real, dataDir) && !isForServers) || holdsSecrets(real, places);
  if (hasSecrets || /^\/(proc|sys|dev)(\/|$)/.test(real)) throw refused(name, { code: 'sandbox_secret', values });
}

/** Whether a folder is, or is around, the data folder or a file with secrets. */
function holdsSecrets(real: string, { dataDir, secretFiles }: SandboxPlaces): boolean {
  return [dataDir, ...secretFiles].some((secret) => isBelow(secret, real));
}

/** A bundle or sample that the arguments name, which the hub put into its data folder for this server. */
function ownFiles({ command, args, cwd }: StdioOptions, { dataDir }: SandboxPlaces): string[] {
  return ofServers.flatMap((folder) => {
    const parent = join(dataDir, folder);
    const below = [command, ...args, cwd ?? ''].filter((text) => isBelow(text, parent) && resolve(text) !== parent);
    const names = below.map((text) => relative(parent, resolve(text)).split(sep)[0] ?? '');
    return [...new Set(names)].map((name) => join(parent, name)).filter((path) => existsSync(path));
  });
}

function systemMounts(hasNetwork: boolean): string[] {
  const folders = systemFolders.flatMap((path) => {
    const link = linkOf(path);
    return link === undefined ? ['--ro-bind-try', path, path] : ['--symlink', link, path];
  });
  const files = [...systemFiles, ...(hasNetwork ? networkFiles : [])];
  // What a link in /etc leads to (systemd-resolved: /run) is not in the sandbox.
  return [...folders, ...files.flatMap((path) => ['--ro-bind-try', realOf(path), path])];
}

/** The program and Node where they are outside of the system's folders, as with nvm or in a user's `bin`. */
function programPlaces(command: string, path: string, loose: readonly string[]): string[] {
  const found = isAbsolute(command) ? resolve(command) : onPath(command, path);
  // Where the program could change it, links that it has made are not followed.
  const isLoose = (place: string) => waysOf(place).some((way) => loose.some((folder) => isBelow(way, folder)));
  const ofProgram =
    found === undefined || isLoose(found) ? [] : [found, ...environmentOf(found), ...installationOf(found)];
  return [...new Set([...installationOf(process.execPath), ...ofProgram])].filter(
    (place) => !isOfSystem(place) && !isLoose(place),
  );
}

/** Of the folder of a program: what it needs of it. Beside that a user has other things there (`~/.local/share`). */
const installed = ['bin', 'lib', 'lib64', 'libexec', 'include', 'pyvenv.cfg'];

/** The libraries of a program that has them beside its `bin`, as Node and Python environments do; else the file. */
function installationOf(program: string): string[] {
  const real = realOf(program);
  const inModules = /^(.{2,})\/lib\/node_modules\//.exec(real)?.[1];
  if (inModules !== undefined) return [join(inModules, 'bin'), join(inModules, 'lib', 'node_modules')];
  const folder = dirname(real);
  const prefix = dirname(folder);
  const isDeep = prefix.split(sep).length > 3 || prefix.startsWith('/opt/');
  const isInstallation = basename(folder) === 'bin' && existsSync(join(prefix, 'lib')) && isDeep;
  return isInstallation ? partsOf(prefix) : [real];
}

/** A Python environment, whose interpreter is a link out of it. */
function environmentOf(program: string): string[] {
  const prefix = dirname(dirname(program));
  return existsSync(join(prefix, 'pyvenv.cfg')) ? partsOf(prefix) : [];
}

function partsOf(prefix: string): string[] {
  return installed.map((part) => join(prefix, part)).filter((part) => existsSync(part));
}

const isOfSystem = (path: string): boolean => systemFolders.some((folder) => isBelow(path, folder));

/** A folder in another one has its own rule, so it is mounted after that. */
function pathMounts(read: readonly string[], write: readonly string[]): string[] {
  return [...read.map((path) => ['--ro-bind', path, path]), ...write.map((path) => ['--bind', path, path])]
    .toSorted(([, a = ''], [, b = '']) => a.length - b.length)
    .flat();
}

/** Whether a path is this folder or in it. */
function isBelow(path: string, folder: string): boolean {
  if (!isAbsolute(path)) return false;
  const way = relative(folder, resolve(path));
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** The file of a command. */
export function onPath(command: string, path: string): string | undefined {
  if (command.includes('/')) return undefined;
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, command))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true);
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
