import { statSync } from 'node:fs';
import { win32 } from 'node:path';
import { HubError } from '../../../core/errors.ts';

/** How a command is started on Windows, which starts `.exe` files by themselves and scripts through `cmd.exe`. */
export interface WindowsStart {
  readonly command: string;
  readonly args: readonly string[];
  /** A `.cmd` or `.bat` file: it needs `cmd.exe`, and its arguments have to be escaped for it. */
  readonly isScript: boolean;
}

interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
  readonly node?: string;
  readonly isFile?: (path: string) => boolean;
}

/**
 * What cannot be passed to a script: it hands its arguments to a second command line, where these end a quotation,
 * name a variable, or begin another command (CVE-2024-27980).
 */
const unsafe = /["%\r\n\0]/;

/**
 * Finds the file of a command as Windows does, by `PATH` and `PATHEXT`, but never in the current folder unless the
 * command says so. `npx` and `npm` are scripts that start Node: they are started as that, without `cmd.exe`. Throws
 * `ENOENT` for a name that is not found: Windows would look for it in the current folder too. A path that is not found
 * is returned as it is, and starting it fails. Throws HubError `invalid_input` for arguments that no script can take.
 */
export function windowsStart(command: string, args: readonly string[], place: Place): WindowsStart {
  const { node = process.execPath, isFile = isFileHere } = place;
  const file = findFile(command, place, isFile);
  if (file === undefined && !isPath(command))
    throw Object.assign(new Error(`spawn ${command} ENOENT`), { code: 'ENOENT', syscall: `spawn ${command}` });
  if (file === undefined || !/\.(?:cmd|bat)$/i.test(file)) return { command: file ?? command, args, isScript: false };
  const folder = win32.dirname(file);
  const name = win32.parse(file).name.toLowerCase();
  const program = win32.join(folder, 'node_modules', 'npm', 'bin', `${name}-cli.js`);
  if ((name === 'npx' || name === 'npm') && isFile(program)) {
    const own = win32.join(folder, 'node.exe');
    return { command: isFile(own) ? own : node, args: [program, ...args], isScript: false };
  }
  const wrong = args.find((arg) => unsafe.test(arg));
  if (wrong !== undefined)
    throw new HubError(
      'invalid_input',
      `${win32.basename(file)} is a script of Windows, and an argument of it has a quotation mark, a percent sign or a line break, which no script gets unchanged. Start the program itself (such as "node" with its file) in place of the script`,
    );
  return { command: file, args, isScript: true };
}

function findFile(command: string, { env, cwd }: Place, isFile: (path: string) => boolean): string | undefined {
  const endings = (variable(env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';').filter((ending) => ending !== '');
  const isEnded = endings.some((ending) => command.toLowerCase().endsWith(ending.toLowerCase()));
  const names = [...(isEnded ? [command] : []), ...endings.map((ending) => command + ending.toLowerCase())];
  const folders = isPath(command) ? [cwd ?? '.'] : (variable(env, 'PATH') ?? '').split(';').map(unquoted);
  for (const folder of folders.filter((one) => one !== '')) {
    for (const name of names) {
      const path = win32.resolve(folder, name);
      if (isFile(path)) return path;
    }
  }
  return undefined;
}

function isPath(command: string): boolean {
  return /[\\/:]/.test(command);
}

/** Names of variables have no case there: it is `Path` as a rule. */
function variable(env: Place['env'], name: string): string | undefined {
  const found = Object.keys(env).find((one) => one.toUpperCase() === name);
  return found === undefined ? undefined : env[found];
}

/** A folder of PATH may stand in quotation marks. */
function unquoted(folder: string): string {
  return folder.replace(/^"(.*)"$/, '$1');
}

function isFileHere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
