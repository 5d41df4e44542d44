import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { homedir } from 'node:os';
import { upstreamLimits } from '../../limits.ts';

/**
 * Options of npx that take no value, and those that name the packages. With any other it is not known which folder is
 * used.
 */
const plain = new Set(['-y', '--yes', '--no', '-q', '--quiet', '--silent', '--prefer-offline', '--prefer-online']);

/** What `npx` is asked to install, as it is written. Undefined when that cannot be told for certain. */
export function npxPackages(args: readonly string[]): string[] | undefined {
  const packages: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    const [, inline] = /^--package=(.+)$/.exec(arg) ?? [];
    if (inline !== undefined) packages.push(inline);
    else if (arg === '-p' || arg === '--package') packages.push(args[++i] ?? '');
    else if (!arg.startsWith('-') || arg === '--') {
      const program = arg === '--' ? args[i + 1] : arg;
      if (packages.length === 0 && program !== undefined) packages.push(program);
      break;
    } else if (!plain.has(arg)) return undefined;
  }
  // A path, an address or an alias is not looked up by its text alone.
  const isName = (one: string): boolean => /^(@[\w.~-]+\/)?[\w.~-]+(@[\w.+~^*-]+)?$/.test(one) && !one.startsWith('.');
  return packages.length > 0 && packages.every(isName) ? packages : undefined;
}

/** The folder of its cache into which `npx` installs these packages: npm names it by a hash of what is asked for. */
export function npxFolder(packages: readonly string[], env: Readonly<Record<string, string>>): string | undefined {
  const cache = npmCache(env);
  if (cache === undefined) return undefined;
  const wanted = packages.toSorted((a, b) => a.localeCompare(b, 'en')).join('\n');
  return join(cache, '_npx', createHash('sha512').update(wanted).digest('hex').slice(0, 16));
}

function npmCache(env: Readonly<Record<string, string>>): string | undefined {
  const named = env['npm_config_cache'] ?? env['NPM_CONFIG_CACHE'];
  if (named) return named;
  const home = env['HOME'] ?? env['USERPROFILE'] ?? homedir();
  const userFile = env['npm_config_userconfig'] ?? env['NPM_CONFIG_USERCONFIG'] ?? join(home, '.npmrc');
  const [, written] = /^\s*cache\s*=\s*(.+?)\s*$/m.exec(textOf(userFile)) ?? [];
  if (written !== undefined) return written.startsWith('/') ? written : undefined;
  if (process.platform !== 'win32') return join(home, '.npm');
  return env['LOCALAPPDATA'] === undefined ? undefined : join(env['LOCALAPPDATA'], 'npm-cache');
}

/**
 * Whether an installation in this folder came to its end: npm writes the list of what is there, and then what was asked
 * for.
 */
export function isInstalled(folder: string): boolean {
  try {
    const { _npx: done, dependencies } = JSON.parse(textOf(join(folder, 'package.json'))) as {
      _npx?: unknown;
      dependencies?: Record<string, unknown>;
    };
    const modules = join(folder, 'node_modules');
    const has = (path: string): boolean => lstatSync(join(modules, path), { throwIfNoEntry: false }) !== undefined;
    const names = Object.keys(dependencies ?? {});
    return done !== undefined && has('.package-lock.json') && names.length > 0 && names.every((name) => has(name));
  } catch {
    return false;
  }
}

/** Whether there is anything in this folder. */
export function exists(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
}

const missing = [
  'MODULE_NOT_FOUND|Cannot find (module|package)',
  'Invalid package config|Unexpected end of JSON input|ENOTEMPTY',
  'ENOENT.*package\\.json|could not determine executable',
].join('|');
const missingPart = new RegExp(missing);
const missingProgram = /(^|: )[^ ]+: (command )?not found$|: No such file or directory$/;

/**
 * Reads the last words of a program that was started from this folder, line by line, for signs that the folder lacks
 * files.
 */
export function brokenCacheSigns(folder: string) {
  const path = join('_npx', basename(folder));
  let lacks = false;
  let names = false;
  let lacksProgram = false;
  return {
    add(line: string): void {
      if (missingPart.test(line)) lacks = true;
      if (line.includes(path)) names = true;
      if (missingProgram.test(line)) lacksProgram = true;
    },
    get found(): boolean {
      return (lacks && names) || lacksProgram;
    },
  };
}

/**
 * Removes the folder of one package from the npx cache, so that the next `npx` installs it again. Only a real folder of
 * npm's naming directly inside a real `_npx` folder is removed, links inside it are removed and not followed, and
 * nothing is removed that a process uses. Says what was done.
 */
export async function removeFromCache(folder: string): Promise<'removed' | 'in use' | 'refused'> {
  const parent = dirname(folder);
  if (!/^[0-9a-f]{16}$/.test(basename(folder)) || basename(parent) !== '_npx') return 'refused';
  for (const path of [parent, folder]) {
    const found = await lstat(path).catch(() => undefined);
    if (!found?.isDirectory() || found.isSymbolicLink()) return 'refused';
  }
  const real = realpathSync(folder);
  if (await isUsed(real)) return 'in use';
  await rm(real, { recursive: true, force: true });
  return 'removed';
}

/**
 * Whether npm is at work in this folder, or a process of this machine runs from it. The latter is known on Linux alone;
 * elsewhere the caller's own processes have ended.
 */
async function isUsed(folder: string): Promise<boolean> {
  // npm touches its lock every few seconds; an older one was left by an npm that was killed.
  const lock = await lstat(join(folder, 'concurrency.lock')).catch(() => undefined);
  if (lock && Date.now() - lock.mtimeMs < upstreamLimits.npmLockMs) return true;
  const inside = `_npx/${basename(folder)}/`;
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.includes(inside)) return true;
  }
  return false;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
