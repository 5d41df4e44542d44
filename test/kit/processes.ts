import { randomInt } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * One process as /proc tells it. `group` is the process group; zombies are left out everywhere, for they no longer run.
 */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly command: string;
}

export function processes(): ProcessInfo[] {
  return readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? (processOf(entry) ?? []) : []));
}

/** Undefined for one that has ended. */
function processOf(pid: string): ProcessInfo | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may contain anything; the fields begin behind the last one.
    const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return { pid: Number(pid), parent: Number(parent), group: Number(group), command };
  } catch {
    return undefined; // gone meanwhile
  }
}

/** Everything that descends from a process, however deep. */
export function descendants(pid: number): ProcessInfo[] {
  const all = processes();
  const found: ProcessInfo[] = [];
  for (let parents = [pid]; parents.length > 0;) {
    const next = all.filter((one) => parents.includes(one.parent));
    found.push(...next);
    parents = next.map((one) => one.pid);
  }
  return found;
}

export function isAlive(pid: number): boolean {
  return processOf(String(pid)) !== undefined;
}

/** How many files a process has open. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/**
 * A port of 127.0.0.1 that no process listened on a moment ago. It is below those that the system gives to outgoing
 * connections (32768 and up on Linux): one of these would take it before the server that is to have it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
