import { createHash } from 'node:crypto';

/**
 * A command that installs a package and then runs the package's own program. Until that program runs the process is an
 * installer, which must not be ended half-way: what it leaves then is broken for everything on the machine that uses
 * the same cache.
 */
export interface Launcher {
  readonly name: LauncherName;
  /** The arguments after those that choose the launcher (`npm exec -- …`: what follows `exec`). */
  readonly args: readonly string[];
}

export type LauncherName = keyof typeof launchers;

/** How the phases of a launch show from outside. */
interface Signs {
  /**
   * Words of a command line that show that the process is still the launcher: it may also replace itself by the
   * program. POSIX extended regular expression.
   */
  readonly launcher?: string;
  /**
   * What the command line or the environment of the package's own program has, one entry a line. POSIX extended regular
   * expression.
   */
  readonly program?: string;
  /** Lines on stderr that say that an installation has begun, and that it is over. */
  readonly begins?: RegExp;
  readonly ends?: RegExp;
}

const word = (names: string): string => `(^|[/ ])(${names})(-cli)?(\\.c?js|\\.cmd|\\.exe)?( |$)`;
const binFolder = '/node_modules/\\.bin/';

const launchers = {
  // npm runs the program as it runs a script of a package, with this name for it; install scripts have others.
  npx: { launcher: word('npx|npm'), program: `^npm_lifecycle_event=npx$|/_npx/[0-9a-f]+${binFolder}` },
  uvx: { launcher: word('uvx?'), program: '/(archive-v[0-9]+|environments-v[0-9]+|uv/tools)/.*bin/' },
  bunx: { launcher: word('bunx?'), program: binFolder },
  'pnpm dlx': { launcher: word('pnpm|pnpx|corepack'), program: `/dlx[-/].*/node_modules/` },
  'yarn dlx': { launcher: word('yarn|corepack'), program: '/dlx-[0-9]+/' },
  'pipx run': { launcher: word('pipx'), program: '/pipx/.*bin/' },
  'docker run': { begins: /^Unable to find image |: Pulling from /, ends: /^Status: (Downloaded|Image is up to date)/ },
  'podman run': { begins: /^Trying to pull /, ends: /^Writing manifest / },
} as const satisfies Record<string, Signs>;

/** Commands with the words that have to follow them, besides options, to make them a launcher. */
const commands: Readonly<Record<string, readonly (readonly [string[], LauncherName])[]>> = {
  npx: [[[], 'npx']],
  npm: [
    [['exec'], 'npx'],
    [['x'], 'npx'],
  ],
  uvx: [[[], 'uvx']],
  uv: [[['tool', 'run'], 'uvx']],
  bunx: [[[], 'bunx']],
  bun: [[['x'], 'bunx']],
  pnpx: [[[], 'pnpm dlx']],
  pnpm: [[['dlx'], 'pnpm dlx']],
  yarn: [[['dlx'], 'yarn dlx']],
  pipx: [[['run'], 'pipx run']],
  docker: [[['run'], 'docker run']],
  podman: [[['run'], 'podman run']],
};

/**
 * The launcher that a command is, also behind a shell (`cmd /c npx …`, `sh -c "npx …"`); undefined for every other
 * program.
 */
export function launcherOf(command: string, args: readonly string[]): Launcher | undefined {
  const base = baseName(command);
  if (base === 'cmd' && args[0]?.toLowerCase() === '/c') return inner(args.slice(1));
  if (/^(ba|da|z)?sh$/.test(base) && args[0] === '-c' && args.length === 2) return inner(words(args[1] ?? ''));
  for (const [needed, name] of commands[base] ?? []) {
    if (needed.every((one, i) => args[i] === one)) return { name, args: args.slice(needed.length) };
  }
  return undefined;
}

function inner([command, ...args]: readonly string[]): Launcher | undefined {
  return command === undefined ? undefined : launcherOf(command, args);
}

/**
 * The words of a simple command line. One with quotes, variables or several commands is read far enough to see a
 * launcher.
 */
function words(line: string): string[] {
  const all = line.trim().split(/\s+/);
  const first = all.findIndex((one) => one !== 'exec' && !/^\w+=/.test(one));
  return first === -1 ? [] : all.slice(first);
}

function baseName(command: string): string {
  return (command.split(/[\\/]/).at(-1) ?? '').toLowerCase().replace(/\.(cmd|exe|bat)$/, '');
}

export function signsOf(name: LauncherName): Signs {
  return launchers[name];
}

export function isLauncherName(name: string): name is LauncherName {
  return Object.hasOwn(launchers, name);
}

/**
 * Names what a launch installs; two launches of one key would write to the same place. `place` is the folder, where it
 * is known.
 */
export function installKey({ name, args }: Launcher, place: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([name, place ?? args]))
    .digest('hex')
    .slice(0, 16);
}
