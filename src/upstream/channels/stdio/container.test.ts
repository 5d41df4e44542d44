import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silent, tempFolder } from '../../../../test/kit/databases.ts';
import { until } from '../../../../test/kit/until.ts';
import { HubError } from '../../../core/errors.ts';
import type { SandboxSettings } from '../../../core/settings/server.ts';
import { openReaper } from './reaper.ts';
import { inContainer } from './container.ts';
import { openProgram, type StdioOptions } from './program.ts';

const data = tempFolder();
mkdirSync(join(data, 'given'));
const given = join(data, 'given');
const places = { dataDir: join(data, 'hub'), secretFiles: [] };

function engine(name: string): string {
  const folder = tempFolder();
  writeFileSync(join(folder, name), '#!/bin/sh\n');
  chmodSync(join(folder, name), 0o755);
  return folder;
}

const optionsOf = (path: string, sandbox?: Partial<SandboxSettings>, more: Partial<StdioOptions> = {}) =>
  inContainer(
    {
      name: 'notes',
      command: 'node',
      args: ['server.js', '--flag'],
      env: { TOKEN: 'a secret' },
      inheritedEnv: { PATH: path, HOME: '/home/ann' },
      cwd: undefined,
      maxMessageBytes: 1,
      log: silent,
      owner: '',
      reaper: openReaper(),
      ...more,
    },
    {
      container: { image: 'node:24-slim' },
      sandbox: sandbox && { network: 'none', read: [], write: [], ...sandbox },
      places,
    },
  );

const started = (...given: Parameters<typeof optionsOf>) => optionsOf(...given).spawned;

beforeEach(() => {
  vi.spyOn(process, 'getuid').mockReturnValue(1234);
  vi.spyOn(process, 'getgid').mockReturnValue(5678);
});
afterEach(() => vi.restoreAllMocks());

test('a program runs in a container of its image, closed as far as it is not opened, with no secret in the command', () => {
  const docker = engine('docker');
  expect(started(docker)).toEqual({
    command: join(docker, 'docker'),
    args: [
      ['run', '--rm', '--interactive', '--init'],
      ['--name', expect.stringMatching(/^toolhub-[0-9a-f-]{36}$/) as string, '--network', 'none'],
      ['--user', '1234:5678', '--env', 'HOME=/tmp'],
      ['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--pids-limit', '512'],
      ['--env', 'TOKEN', 'node:24-slim', 'node', 'server.js', '--flag'],
    ].flat(),
    ended: expect.any(Function) as () => void,
  });
  const open = started(docker, { network: 'host', read: [given], write: [given] })?.args.join(' ');
  expect(open).toContain('--network host');
  expect(started(docker, { memoryMb: 64, cpus: 0.5, processes: 9 })?.args.join(' ')).toContain(
    '--pids-limit 9 --memory 64m --memory-swap 64m --cpus 0.5 ',
  );
  expect(open).toContain(`--volume ${given}:${given}:ro --volume ${given}:${given} `);
});

test('a container is removed when its client has ended', async () => {
  const docker = engine('docker');
  const told = join(docker, 'told');
  // It ends with its input.
  const script = `#!/bin/sh\necho "$@" >>${told}\n[ "$1" = rm ] || exec /bin/cat >/dev/null\n`;
  writeFileSync(join(docker, 'docker'), script);
  const events = { message: () => true, large: () => true, failed() {}, closed() {} };
  const channel = openProgram(optionsOf(docker), events);
  await channel.close();
  const [run = '', removal = ''] = await until('both ran', () => {
    const lines = readFileSync(told, 'utf8').trim().split('\n');
    return lines.length === 2 && lines;
  });
  const [, name = ''] = /--name (\S+)/.exec(run) ?? [];
  expect(name).toMatch(/^toolhub-/);
  expect(removal).toBe(`rm --force ${name}`);
});

test('Podman is taken where there is no Docker, and the program of the image where there is no command', () => {
  const podman = engine('podman');
  const { command, args = [] } = started(podman, undefined, { command: '', args: [] }) ?? {};
  expect([command, args.at(-1)]).toEqual([join(podman, 'podman'), 'node:24-slim']);
  expect(args.join(' ')).toContain('--userns keep-id --user 1234:5678');
});

test('a machine without either, and paths with secrets of the hub, are refused by name', () => {
  const refusal = (run: () => unknown) => {
    try {
      run();
      return 'none';
    } catch (error) {
      return error instanceof HubError ? error.reason?.code : String(error);
    }
  };
  expect(refusal(() => started(tempFolder()))).toBe('container_missing');
  const docker = engine('docker');
  expect(refusal(() => started(docker, { read: ['/'] }))).toBe('sandbox_secret');
  expect(refusal(() => started(docker, { read: ['/no/such:path'] }))).toBe('sandbox_path');
});
