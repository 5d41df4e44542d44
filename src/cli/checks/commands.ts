import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TransportSettings } from '../../core/settings/server.ts';
import { cliLimits } from '../limits.ts';
import type { Check } from './check.ts';

/** Launchers that are reported even when no server needs them, and how to get them. */
const launchers: Readonly<Record<string, string>> = {
  npx: 'Install Node.js with npm: https://nodejs.org/',
  uvx: 'Install uv: https://docs.astral.sh/uv/',
  docker: 'Install Docker: https://docs.docker.com/get-docker/',
};

/** A server that is to be connected, its variables filled in. */
export interface ReadyServer {
  readonly name: string;
  readonly transport: TransportSettings;
}

/**
 * One check per program that starts servers: is it there, and who needs it? The usual launchers come first. `path` is
 * the hub's own PATH.
 */
export async function checkCommands(servers: readonly ReadyServer[], path: string): Promise<Check[]> {
  const users = commandUsers(servers, path);
  const commands = new Set([...Object.keys(launchers), ...users.keys()]);
  return Promise.all([...commands].map((command) => checkCommand(command, users.get(command) ?? [], path)));
}

interface User {
  readonly server: string;
  /** Where this server's process would look for the command. */
  readonly path: string;
  readonly cwd: string;
}

function commandUsers(servers: readonly ReadyServer[], path: string): Map<string, User[]> {
  const users = new Map<string, User[]>();
  for (const { name, transport } of servers) {
    if (transport.type !== 'stdio') continue;
    const { command, env, cwd } = transport;
    users.set(command, [
      ...(users.get(command) ?? []),
      { server: name, path: env['PATH'] ?? path, cwd: resolve(cwd ?? '.') },
    ]);
  }
  return users;
}

async function checkCommand(command: string, users: readonly User[], path: string): Promise<Check> {
  const name = basename(command);
  const neededBy =
    users.length === 0 ? 'no server needs it' : `needed by ${users.map(({ server }) => server).join(', ')}`;
  const lookFor: readonly Pick<User, 'path' | 'cwd'>[] = users.length > 0 ? users : [{ path, cwd: '.' }];
  const places = lookFor.map(({ path, cwd }) => findCommand(command, path, cwd));
  const [place] = places;
  if (place === undefined || places.includes(undefined)) {
    const status = users.length === 0 ? 'ok' : 'fail';
    const fix = launchers[command] ?? 'Install it, or give an absolute path as the command.';
    return { name, status, detail: `${command} not found; ${neededBy}`, ...(status === 'fail' && { fix }) };
  }
  if (name === 'docker') return checkDockerEngine(place, neededBy, users.length > 0);
  return { name, status: 'ok', detail: `${place}; ${neededBy}` };
}

/** The file that would be run, or undefined. `command` with a slash is a path, from `cwd` when relative. */
function findCommand(command: string, path: string, cwd: string): string | undefined {
  if (/[\\/]/.test(command)) return isExecutable(resolve(cwd, command)) ? resolve(cwd, command) : undefined;
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat', ''] : [''];
  const candidates = path
    .split(delimiter)
    .flatMap((folder) => endings.map((ending) => join(folder || '.', command + ending)));
  return candidates.find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The client alone is not enough: does the engine answer? */
async function checkDockerEngine(client: string, neededBy: string, needed: boolean): Promise<Check> {
  const name = 'docker';
  try {
    const { stdout } = await promisify(execFile)(client, ['version', '--format', '{{.Server.Version}}'], {
      timeout: cliLimits.doctorEngineMs,
    });
    return { name, status: 'ok', detail: `engine ${stdout.trim()} answers; ${neededBy}` };
  } catch {
    const detail = `${client} is there, but its engine does not answer; ${neededBy}`;
    return needed
      ? { name, status: 'fail', detail, fix: 'Start Docker, and check with "docker version".' }
      : { name, status: 'ok', detail };
  }
}
