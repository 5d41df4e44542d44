import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { errorText } from '../../../core/errors.ts';
import type { ContainerSettings, SandboxSettings } from '../../../core/settings/server.ts';
import { upstreamLimits } from '../../limits.ts';
import type { StdioOptions } from './program.ts';
import { checkSandbox, onPath, refused, type SandboxPlaces, usualPath } from './sandbox.ts';

export interface Contained {
  readonly container: ContainerSettings;
  /** What it reaches; undefined: no network and no path. */
  readonly sandbox: SandboxSettings | undefined;
  readonly places: SandboxPlaces;
}

const engines = ['docker', 'podman'] as const;

/**
 * The same program, started in a container of an image by Docker or Podman. Values of variables are not on its command
 * line, which every user of the machine can read. Throws HubError `upstream_unavailable` with the reason.
 */
export function inContainer(options: StdioOptions, { container, sandbox, places }: Contained): StdioOptions {
  const path = options.inheritedEnv['PATH'] ?? usualPath;
  const engine = engines.map((name) => onPath(name, path)).find((found) => found !== undefined);
  if (engine === undefined) throw refused(options.name, { code: 'container_missing', values: {} });
  const { network = 'none', read = [], write = [], memoryMb, cpus, processes } = sandbox ?? {};
  checkSandbox(options.name, { network, read, write }, options.cwd, places);
  for (const [list, paths] of Object.entries({ read, write }))
    for (const one of paths)
      // The engine takes what follows for something else.
      if (one.includes(':'))
        throw refused(options.name, { code: 'sandbox_path', values: { path: one, list: `sandbox.${list}` } });
  const called = `toolhub-${randomUUID()}`;
  const args = [
    ['run', '--rm', '--interactive', '--init', '--name', called, '--network', network],
    asUser(basename(engine), options.env),
    [
      '--cap-drop',
      'ALL',
      '--security-opt',
      'no-new-privileges',
      '--pids-limit',
      `${processes ?? upstreamLimits.containerProcesses}`,
    ],
    // No swap on top.
    memoryMb === undefined ? [] : ['--memory', `${memoryMb}m`, '--memory-swap', `${memoryMb}m`],
    cpus === undefined ? [] : ['--cpus', `${cpus}`],
    read.flatMap((one) => ['--volume', `${one}:${one}:ro`]),
    write.flatMap((one) => ['--volume', `${one}:${one}`]),
    options.cwd === undefined ? [] : ['--workdir', options.cwd],
    Object.keys(options.env).flatMap((name) => ['--env', name]),
    [container.image],
    options.command === '' ? [] : [options.command],
    options.args,
  ].flat();
  // What runs in it is no child of the hub: it goes on when its client is killed.
  const ended = (env: NodeJS.ProcessEnv): void =>
    spawn(engine, ['rm', '--force', called], { env, detached: true, stdio: 'ignore', windowsHide: true })
      .on('error', (error) => options.log.debug(`a container was not removed: ${errorText(error)}`))
      .unref();
  return { ...options, cwd: undefined, spawned: { command: engine, args, ended } };
}

/** The user of the hub, whose files those that are written in `sandbox.write` are. */
function asUser(engine: string, env: Readonly<Record<string, string>>): string[] {
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  if (user === undefined || group === undefined) return [];
  return [
    // Without root, Podman has that user under another number in the container.
    ...(engine === 'podman' && user !== 0 ? ['--userns', 'keep-id'] : []),
    '--user',
    `${user}:${group}`,
    // The image does not know the user, and has no folder for it.
    ...(user === 0 || 'HOME' in env ? [] : ['--env', 'HOME=/tmp']),
  ];
}
