import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Image, lastImage, missing, work } from '../deploy/build-image.mjs';
import { startContainer } from '../deploy/container.mjs';
import { atEnd } from '../kit/at-end.ts';
import { tempFolder } from '../kit/databases.ts';
import { descendants } from '../kit/processes.ts';
import { raw } from '../kit/raw.ts';
import { Hopeless, until } from '../kit/until.ts';

/** What outlives a hub of a StatefulSet: its volume and its secrets. */
export interface Place {
  readonly name: string;
  readonly port: number;
  readonly volume: string;
  readonly secrets: string;
  readonly env: Record<string, string>;
}

/** A hub that runs at a place. */
export interface Deployed {
  readonly url: string;
  /** Ready by `/health/ready`, as a proxy looks at it. */
  ready(): Promise<void>;
  health(): Promise<Health>;
  /** The end of what it printed. */
  output(): string;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
  memory(): Memory;
}

export interface Health {
  readonly version: string;
  readonly servers: { readonly connected: number; readonly asleep?: number };
  readonly hubs?: { readonly reachable: number };
}

/** In MB: the hub's own process, and all below it (pages that several have are divided among them). */
export interface Memory {
  readonly hub: number;
  readonly below: number;
  readonly belowCount: number;
}

/** A version of the hub that can be started. */
export interface Release {
  readonly how: string;
  start(place: Place): Deployed;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A place with the secrets that deploy/kubernetes mounts, for user 1000 as in the image. */
export function place(name: string, port: number, secrets: Record<string, string>, env: Record<string, string>): Place {
  const folder = tempFolder();
  const own = (path: string, mode: number): void => {
    chmodSync(path, mode);
    if (process.getuid?.() === 0) chownSync(path, 1000, 1000);
  };
  const [volume, secretFolder] = [join(folder, 'volume'), join(folder, 'secrets')];
  for (const path of [volume, secretFolder]) mkdirSync(path);
  for (const [file, text] of Object.entries(secrets)) {
    writeFileSync(join(secretFolder, file), text);
    own(join(secretFolder, file), 0o440);
  }
  own(volume, 0o700);
  own(secretFolder, 0o700);
  // The folder of a test is its user's alone, and a container would not get to what is in it.
  chmodSync(folder, 0o755);
  return { name, port, volume, secrets: secretFolder, env };
}

/**
 * The image of the last `npm run test:image`; where there is none, the same command with the same environment as a
 * process of this machine. The next one differs in its version alone.
 */
export function releases(next: string): { readonly now: Release; readonly next: Release } {
  const isBuilt = missing() === undefined && existsSync(join(work, 'storage/root'));
  return isBuilt
    ? { now: fromImage(lastImage()), next: fromImage(withVersion(lastImage(), next)) }
    : { now: fromFolder(root), next: fromFolder(copyWithVersion(next)) };
}

function withVersion(image: Image, version: string): Image {
  writeVersion(join(image.rootfs, 'opt/toolhub/package.json'), version);
  return image;
}

function copyWithVersion(version: string): string {
  const folder = tempFolder();
  for (const name of ['dist', 'models', 'package.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeVersion(join(folder, 'package.json'), version);
  return folder;
}

function writeVersion(file: string, version: string): void {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/"version": *"[^"]*"/, `"version": "${version}"`));
}

const secretNames = { DB_URL_FILE: 'db_url', JWT_SECRET_FILE: 'jwt_secret', ADMIN_PASSWORD_FILE: 'admin_password' };

/** As deploy/kubernetes/base/stateful-set.yaml starts the image, but for the network, which is that of this machine. */
function fromImage(image: Image): Release {
  return {
    how: 'the image of deploy/Containerfile under crun: user 1000, no capability, read-only root, secrets as files',
    start(at) {
      const env = { ...environment(at, '/run/secrets/toolhub'), ...at.env };
      const options = { name: `-${at.name}`, secrets: at.secrets, onHost: true, env };
      const container = startContainer(image, at.volume, options);
      return deployed(at, { ...container, isBelowInit: true });
    },
  };
}

/** The same command and environment without a container. */
function fromFolder(folder: string): Release {
  return {
    how: 'the command and environment of deploy/Containerfile as processes of this machine (no image was built)',
    start(at) {
      const own = {
        SETTINGS_PATH: join(at.volume, 'mcp_settings.json'),
        DATA_DIR: join(at.volume, 'hub'),
        HOME: join(at.volume, 'home'),
        PATH: process.env['PATH'] ?? '',
        NODE_ENV: 'production',
      };
      const args = [join(folder, 'dist/cli.js'), 'serve'];
      const env = { ...own, ...environment(at, at.secrets), ...at.env };
      const child = spawn(process.execPath, args, { cwd: at.volume, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (chunk: string) => (said = `${said}${chunk}`.slice(-4_000)));
      const ended = once(child, 'exit').then(([code]) => code as number | null);
      const stop = (): Promise<number | null> => {
        child.kill('SIGTERM');
        return ended;
      };
      return deployed(at, { pid: child.pid ?? 0, ended, stop, output: () => said, isBelowInit: false });
    },
  };
}

function environment({ port, name }: Place, secrets: string): Record<string, string> {
  const files = Object.entries(secretNames).map(([variable, file]) => [variable, `${secrets}/${file}`]);
  return {
    ...Object.fromEntries(files),
    LOG_FORMAT: 'json',
    HOST: '127.0.0.1',
    PORT: String(port),
    OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${name}`,
  };
}

interface Started {
  readonly pid: number;
  readonly ended: Promise<number | null>;
  readonly stop: () => Promise<number | null>;
  readonly output: () => string;
  /** The hub is what the first process of the container has started, and not the process itself. */
  readonly isBelowInit: boolean;
}

function deployed({ port }: Place, { pid, ended, stop, output, isBelowInit }: Started): Deployed {
  const url = `http://127.0.0.1:${port}`;
  let code: number | null | undefined;
  void ended.then((ending) => (code = ending));
  atEnd(async () => {
    if (code === undefined) await stop();
  });
  const get = (path: string) => raw(`${url}${path}`, { method: 'GET' });
  return {
    url,
    output,
    stop,
    async ready() {
      await until('the hub is ready', async () => {
        if (code !== undefined) throw new Hopeless(`The hub ended with ${code}: ${output()}`);
        return (await get('/health/ready')).status === 200;
      });
    },
    health: async () => JSON.parse((await get('/health')).text) as Health,
    memory() {
      const init = isBelowInit ? descendants(pid).find(({ command }) => command.startsWith('tini ')) : undefined;
      const hub = init ? (descendants(init.pid).find(({ parent }) => parent === init.pid)?.pid ?? pid) : pid;
      const programs = descendants(hub);
      const each = programs.map((one) => kilobytes(one.pid, 'smaps_rollup', 'Pss'));
      const sum = each.reduce((all, one) => all + one, 0);
      return {
        hub: Math.round(kilobytes(hub, 'status', 'VmRSS') / 1_024),
        below: Math.round(sum / 1_024),
        belowCount: programs.length,
      };
    },
  };
}

function kilobytes(pid: number, file: string, member: string): number {
  try {
    return Number(
      new RegExp(`^${member}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1] ?? 0,
    );
  } catch {
    return 0; // It has ended meanwhile.
  }
}
