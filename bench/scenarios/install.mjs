// What is installed for a user who only runs the hub: the package as a release has it, installed into an empty folder
// with an empty npm cache; then `npx` on another empty cache, until the sample servers are connected.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after } from '../lib/numbers.mjs';

export const about =
  'packages and disk of an installation from the package, and a start by npx; needs the npm registry';
/** Only when it is asked for: it downloads from the npm registry. */
export const byName = true;

const repository = fileURLToPath(new URL('../../', import.meta.url));
const sampleServers = 3;
const longestStartMs = 10 * 60_000;

export async function run({ note }) {
  const home = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    // The caller has built it.
    npm(['pack', '--ignore-scripts', '--pack-destination', home], repository);
    const [tarball] = readdirSync(home);
    const folder = join(home, 'installed');
    mkdirSync(folder);
    npm(['install', '--cache', join(home, 'cache'), '--no-audit', '--no-fund', join(home, tarball)], folder);
    for (const [part, reading] of partsOf(join(folder, 'node_modules'))) note({ part }, reading);
    note({ part: 'started by npx, empty cache' }, { tools: await startByNpx(home, `file:${join(home, tarball)}`) });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function npm(args, cwd) {
  const { status, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', shell: process.platform === 'win32' });
  if (status !== 0) throw new Error(`npm ${args[0]} ended with ${status}: ${stderr}`);
}

/** Packages and megabytes (10⁶ bytes of disk blocks): all, those of a megabyte and more, the others together. */
function partsOf(modules) {
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
  const sizes = Object.keys(packages)
    .map((path) => path.replace(/^node_modules\//, ''))
    .map((name) => [name, diskOf(join(modules, name)) / 1e6])
    .sort(([, one], [, other]) => other - one);
  const sum = (list) => ({ packages: list.length, mb: list.reduce((whole, [, mb]) => whole + mb, 0) });
  const large = sizes.filter(([, mb]) => mb >= 1);
  return [
    ['all', sum(sizes)],
    ...large.map(([name, mb]) => [name, { packages: 1, mb }]),
    ['others', sum(sizes.slice(large.length))],
  ];
}

function diskOf(path) {
  const { blocks } = lstatSync(path);
  const inside = lstatSync(path).isDirectory() ? readdirSync(path) : [];
  return inside.reduce((bytes, name) => bytes + diskOf(join(path, name)), blocks * 512);
}

/** Starts the hub until it has said where the first login is; gives how many tools its sample servers have. */
async function startByNpx(home, spec) {
  const cwd = join(home, 'started');
  mkdirSync(cwd);
  const from = performance.now();
  const env = { ...process.env, PORT: '0', LOG_FORMAT: 'json', LOG_LEVEL: 'info', npm_config_cache: join(home, 'npx') };
  const child = spawn('npx', ['--yes', spec, 'serve'], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const when = async (look) => {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (child.exitCode !== null || performance.now() - from > longestStartMs) throw new Error(`npx said:\n${said}`);
      await after(100);
    }
  };
  try {
    await when(() => /is ready"/.exec(said)?.[0]);
    const [, file] = await when(
      () => /First admin made: .*password in ([^"]+?first-admin-password)/.exec(said) ?? undefined,
    );
    if (!existsSync(file)) throw new Error(`${file} is not there`);
    const tools = () => [...said.matchAll(/: connected","fields":\{"tools":(\d+)/g)].map(([, count]) => Number(count));
    await when(() => (tools().length === sampleServers ? true : undefined));
    return tools().reduce((all, count) => all + count, 0);
  } finally {
    // The whole group: npx does not pass the signal on.
    if (child.exitCode === null) process.kill(-Number(child.pid), 'SIGINT');
    await ended;
  }
}
