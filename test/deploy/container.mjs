// Runs an image with crun, as Docker does with --read-only --tmpfs /tmp --cap-drop ALL --network none.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { work } from './build-image.mjs';

/** Only for a container that never gets there. */
const boundMs = 180_000;

/** What Docker covers of /proc, and what it lets no program write to. */
const maskedPaths = [
  '/proc/acpi',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/scsi',
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/**
 * `env` is added to that of the image, `secrets` a folder that is mounted read-only where deploy/kubernetes has it.
 * With `onHost` the container has the network of this machine, as several of them need that are to reach each other.
 */
export function startContainer({ rootfs, config }, volume, { name = '', env = {}, secrets, onHost = false } = {}) {
  const id = `toolhub-test-${process.pid}${name}`;
  const bundle = join(work, `bundle${name}`);
  // crun refuses a machine that has both versions of cgroups, so it does not see the newer one.
  const hidden = ['--mount', 'sh', '-c', 'umount /sys/fs/cgroup/unified 2>/dev/null; exec crun "$@"', 'crun'];
  const command = [...hidden, '--root', join(work, 'crun'), '--cgroup-manager=disabled'];
  const crun = (...args) => spawnSync('unshare', [...command, ...args], { encoding: 'utf8', timeout: boundMs });
  crun('delete', '--force', id);
  rmSync(bundle, { recursive: true, force: true });
  mkdirSync(bundle, { recursive: true });
  writeFileSync(
    join(bundle, 'config.json'),
    JSON.stringify(runtimeConfig({ rootfs, config, volume, env, secrets, onHost })),
  );
  const child = spawn('unshare', [...command, 'run', '--bundle', bundle, id], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = once(child, 'exit').then(([code]) => code);

  /** Runs a program in it. */
  function exec(program, input = '') {
    const options = { encoding: 'utf8', input, timeout: boundMs };
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      [...command, 'exec', '--user', config.User, id, ...program],
      options,
    );
    return { status, said: `${stdout}${status === 0 ? '' : stderr}`.trim() };
  }

  /** Sends a request from within, since nothing else reaches it. */
  async function ask(method, path, { token, body } = {}) {
    const request = { method, path, token, body };
    const { said } = exec(['node', '-e', asking], JSON.stringify(request));
    try {
      return JSON.parse(said);
    } catch {
      return { status: 0, body: { said } };
    }
  }

  async function until(condition) {
    for (const end = Date.now() + boundMs; Date.now() < end; await after(200)) {
      const value = await condition();
      if (value) return value;
      if (child.exitCode !== null) break;
    }
    throw new Error(`The container did not get there: ${condition}\n${output}`);
  }

  return {
    pid: child.pid,
    ended,
    exec,
    ask,
    until,
    output: () => output,
    ready: () => until(async () => (await ask('GET', '/health/ready')).status === 200),
    /** As `docker stop`; its exit code. */
    async stop() {
      crun('kill', id, config.StopSignal ?? 'SIGTERM');
      const killed = setTimeout(() => crun('kill', id, 'KILL'), boundMs);
      const code = await ended;
      clearTimeout(killed);
      return code;
    },
  };
}

const asking = `
let text = '';
process.stdin.on('data', (chunk) => (text += chunk)).on('end', async () => {
  const { method, path, token, body } = JSON.parse(text);
  const headers = {
    accept: 'application/json, text/event-stream',
    ...(body && { 'content-type': 'application/json' }),
    ...(token && { authorization: 'Bearer ' + token }),
  };
  const answer = await fetch('http://127.0.0.1:3000' + path, { method, headers, body: body && JSON.stringify(body) });
  const said = await answer.text();
  const json = said.startsWith('event:') || said.startsWith('data:') ? said.slice(said.indexOf('{')) : said || '{}';
  console.log(JSON.stringify({ status: answer.status, body: JSON.parse(json) }));
});`;

function runtimeConfig({ rootfs, config, volume, env, secrets, onHost }) {
  const [uid, gid] = config.User.split(':').map(Number);
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] };
  const kinds = ['pid', 'ipc', 'uts', 'mount', ...(onHost ? [] : ['network'])];
  const secretMounts = secrets
    ? [{ destination: '/run/secrets/toolhub', type: 'bind', source: secrets, options: ['bind', 'ro'] }]
    : [];
  return {
    ociVersion: '1.0.2',
    hostname: 'toolhub-test',
    root: { path: rootfs, readonly: true },
    process: {
      user: { uid, gid },
      args: [...config.Entrypoint, ...config.Cmd],
      env: [...config.Env, ...Object.entries(env).map(([key, value]) => `${key}=${value}`)],
      cwd: config.WorkingDir,
      capabilities: none,
      noNewPrivileges: true,
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      {
        destination: '/dev',
        type: 'tmpfs',
        source: 'tmpfs',
        options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'],
      },
      {
        destination: '/dev/pts',
        type: 'devpts',
        source: 'devpts',
        options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620'],
      },
      {
        destination: '/dev/shm',
        type: 'tmpfs',
        source: 'shm',
        options: ['nosuid', 'noexec', 'nodev', 'mode=1777', 'size=65536k'],
      },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777', 'size=256m'] },
      { destination: Object.keys(config.Volumes)[0], type: 'bind', source: volume, options: ['bind', 'rw'] },
      ...secretMounts,
    ],
    linux: { namespaces: kinds.map((type) => ({ type })), maskedPaths, readonlyPaths },
  };
}
