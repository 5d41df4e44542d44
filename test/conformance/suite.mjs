// The official conformance suite as a command. It needs Node 22, which comes as a package too; both are locked in
// suite/ and installed when first needed, apart from the project's own dependencies: nothing else needs 240 MB, and a
// `node` in the project's node_modules/.bin would run everything.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('suite/', import.meta.url));
const suite = join(home, 'node_modules/@modelcontextprotocol/conformance');
const installed = join(home, 'node_modules/.locked');

/** A run takes 7 s where nothing else computes; one that hangs is ended. */
const runMs = 600_000;
const installMs = 300_000;

/** Installs exactly what is locked, unless it is there already. False: it cannot be had. */
export function installSuite() {
  const lock = readFileSync(join(home, 'package-lock.json'), 'utf8');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return true;
  console.log('Installing the conformance suite...');
  const failure = installLocked(home);
  if (failure !== undefined) {
    console.log(`The conformance suite cannot be installed: ${failure}`);
    return false;
  }
  writeFileSync(installed, lock);
  return true;
}

/**
 * Runs `npm ci` in a folder; what went wrong, or undefined. Packages that want a newer Node are installed too: the
 * suite runs on the Node that comes with it. Within `npm run` the project's `engine-strict` is in the environment,
 * where only a flag overrides it.
 */
export function installLocked(folder) {
  const options = { cwd: folder, stdio: 'inherit', timeout: installMs };
  const { status, error } = spawnSync('npm', ['ci', '--no-engine-strict'], options);
  return status === 0 ? undefined : (error?.message ?? `npm ended with ${status}`);
}

/**
 * The scenarios that count for a revision, as the suite has frozen them; `party` is who is looked at: `server` or
 * `client`. What reads them is loaded here: `.ci/run` installs the suite beside the project's own dependencies.
 */
export function scoredScenarios(revision, party = 'server') {
  const { load } = createRequire(import.meta.url)('js-yaml');
  return load(readFileSync(join(suite, `requirements/${revision}.yaml`), 'utf8'))[party];
}

/**
 * Runs every scenario of a revision against an endpoint, and resolves with the checks of each: `Map<scenario, { id,
 * status, errorMessage? }[]>`. What the suite printed is left in `folder` as `output.txt`.
 */
export async function runSuite(url, revision, folder) {
  await conformanceInTurn(folder, ['server', '--url', url, '--requirements', revision]);
  return readResults(folder, 'server');
}

/**
 * Lets the suite play the server of one scenario, start `command` as the client that is looked at, and resolves with
 * the checks; undefined when there are none. What was printed is left below `folder`.
 */
export async function runClientScenario({ scenario, revision, command, folder }) {
  const own = join(folder, scenario);
  await conformance(own, ['client', '--command', command, '--scenario', scenario, '--spec-version', revision]);
  const file = readdirSync(own, { recursive: true }).find((entry) => entry.endsWith('checks.json'));
  return file === undefined ? undefined : JSON.parse(readFileSync(join(own, file), 'utf8'));
}

/**
 * Runs the scenarios for authorization servers of a revision, as `runSuite` does. `browse` is called with the address
 * that a person is to open; `port` is a free one, to which `client` has its answers sent.
 */
export async function runAuthorizationServer({ issuer, resource, client, port, revision, folder, browse }) {
  const about = ['--url', issuer, '--resource', resource, '--client-id', client, '--port', String(port)];
  let isOpened = false;
  await conformance(folder, ['authorization', ...about, '--spec-version', revision], (output) => {
    const [address] = /^https?:\S+[?&]response_type=code&\S+(?=\n)/m.exec(output) ?? [];
    if (address === undefined || isOpened) return;
    isOpened = true;
    browse(address);
  });
  return readResults(folder, 'authorization-server');
}

const node = join(home, 'node_modules/node/bin/node');
const program = join(suite, 'dist/index.js');
const runs = fileURLToPath(new URL('suite-runs.mjs', import.meta.url));

function emptied(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

/**
 * Runs the suite's own command in a process of its own, which leaves its results in `folder`. `heard` is called with
 * all it said so far.
 */
async function conformance(folder, args, heard = () => {}) {
  emptied(folder);
  const child = spawn(node, [program, ...args, '-o', folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: runMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      heard(output);
    });
  }
  const signal = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_code, signal) => resolve(signal));
  });
  writeFileSync(join(folder, 'output.txt'), output);
  if (signal !== null) throw new Error(`The suite did not end within ${runMs} ms: ${folder}/output.txt`);
}

/** Processes that have loaded the suite and run nothing now. */
const idle = [];

/** The same in a process that has loaded the suite, behind those that it ran before. `endSuite` ends them all. */
async function conformanceInTurn(folder, args) {
  emptied(folder);
  const child = idle.pop() ?? spawn(node, [runs, program], { stdio: 'pipe' });
  const streams = [child.stdout, child.stderr];
  let output = '';
  let late;
  try {
    await new Promise((resolve, reject) => {
      late = setTimeout(() => reject(new Error(`The suite did not end within ${runMs} ms`)), runMs);
      child.once('error', reject);
      child.once('close', (code) => reject(new Error(`The suite ended with ${code}`)));
      for (const stream of streams)
        stream.setEncoding('utf8').on('data', (text) => {
          output += text;
          if (/^The command has ended with \d+\.$/m.test(output)) resolve();
        });
      child.stdin.write(`${JSON.stringify([...args, '-o', folder])}\n`);
    });
    idle.push(child);
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`${error.message}: ${folder}/output.txt`, { cause: error });
  } finally {
    clearTimeout(late);
    child.removeAllListeners();
    for (const stream of streams) stream.removeAllListeners('data');
    writeFileSync(join(folder, 'output.txt'), output);
  }
}

/** Ends the processes that have loaded the suite. */
export function endSuite() {
  for (const child of idle.splice(0)) child.kill('SIGKILL');
}

/** One folder per scenario, named `<party>-<scenario>-<time>`. */
function readResults(folder, party) {
  const results = new Map();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const [, prefix, scenario] = /^(server|authorization-server)-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(entry.name) ?? [];
    if (prefix !== party) continue;
    results.set(scenario, JSON.parse(readFileSync(join(folder, entry.name, 'checks.json'), 'utf8')));
  }
  return results;
}
