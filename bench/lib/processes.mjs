// What the kernel tells of processes: /proc of Linux.
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

const ticksPerSecond = 100;

/**
 * Who is measured has one core for itself, the load and the tool servers have another; with one core, or elsewhere than
 * on Linux, nothing is pinned.
 */
export const cores =
  process.platform === 'linux' && cpus().length > 1
    ? { measured: '0', load: '1', all: `0-${cpus().length - 1}` }
    : undefined;

export function pin(pid, core) {
  if (core !== undefined) execFileSync('taskset', ['-acp', core, String(pid)], { stdio: 'ignore' });
}

/** A command on the core of the load: what a server's `command` and `args` are in the settings. */
export function onLoadCore(args) {
  if (!cores) return { command: process.execPath, args };
  return { command: 'taskset', args: ['-c', cores.load, process.execPath, ...args] };
}

/** Starts a Node program; `on` is its core. */
export function startNode(args, { on, env = {}, cwd, stdio = ['pipe', 'pipe', 'inherit'] } = {}) {
  const [command, ...rest] = on === undefined ? [process.execPath] : ['taskset', '-c', on, process.execPath];
  const child = spawn(command, [...rest, ...args], { env: { ...process.env, ...env }, cwd, stdio });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

const running = new Set();

/** Ends what still runs. */
export const stopAll = () => Promise.all([...running].map(stop));

/** Ends a process of ours and waits for it. */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await gone;
  clearTimeout(patience);
}

function statOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(parent), ticks: Number(rest[9]) + Number(rest[10]) };
}

/** CPU seconds that a process has used, all its threads and none of its children, to 10 ms. */
export const cpuOf = (pid) => statOf(pid).ticks / ticksPerSecond;

/** Megabytes of it that are in memory. */
export const memoryOf = (pid) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024;

export const threadsOf = (pid) => readdirSync(`/proc/${pid}/task`).length;

export const handlesOf = (pid) => readdirSync(`/proc/${pid}/fd`).length;

export function childrenOf(pid) {
  const found = [];
  for (const name of readdirSync('/proc')) {
    try {
      if (/^\d+$/.test(name) && statOf(name).parent === pid) found.push(Number(name));
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

/**
 * CPU seconds of the whole machine, and of all that this bench runs: the difference of two differences is what others
 * did meanwhile.
 */
export function machineTime(pids) {
  const [user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'latin1')
    .split('\n')[0]
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const all = (user + nice + system + irq + softirq + steal) / ticksPerSecond;
  const family = (pid) => [pid, ...childrenOf(pid).flatMap(family)];
  const ours = family(process.pid)
    .concat(pids)
    .filter((pid, i, list) => list.indexOf(pid) === i);
  return { at: performance.now(), others: all - ours.reduce((sum, pid) => sum + quietCpu(pid), 0) };
}

function quietCpu(pid) {
  try {
    return cpuOf(pid);
  } catch {
    return 0;
  }
}

/** How many cores others kept busy between two readings. */
export const noiseBetween = (before, now) => Math.max(0, (now.others - before.others) / ((now.at - before.at) / 1000));
