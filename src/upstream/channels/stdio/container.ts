import type { ContainerSettings, SandboxSettings } from '../../../core/settings/types.ts';
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
  const { network = 'none', read = [], write = [] } = sandbox ?? {};
  checkSandbox(options.name, { network, read, write }, options.cwd, places);
  for (const [list, paths] of Object.entries({ read, write }))
    for (const one of paths)
      // The engine takes what follows for something else.
      if (one.includes(':'))
        throw refused(options.name, { code: 'sandbox_path', values: { path: one, list: `sandbox.${list}` } });
  const args = [
    ['run', '--rm', '--interactive', '--init', '--network', network],
    [
      '--cap-drop',
      'ALL',
      '--security-opt',
      'no-new-privileges',
      '--pids-limit',
      `${upstreamLimits.containerProcesses}`,
    ],
    read.flatMap((one) => ['--volume', `${one}:${one}:ro`]),
    write.flatMap((one) => ['--volume', `${one}:${one}`]),
    options.cwd === undefined ? [] : ['--workdir', options.cwd],
    Object.keys(options.env).flatMap((name) => ['--env', name]),
    [container.image],
    options.command === '' ? [] : [options.command],
    options.args,
  ].flat();
  return { ...options, cwd: undefined, spawned: { command: engine, args } };
}
