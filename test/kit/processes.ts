import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

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
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      try {
        const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
        // The command in parentheses may contain anything; the fields begin behind the last one.
        const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        if (state === 'Z' || state === 'X') return [];
        const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(entry), parent: Number(parent), group: Number(group), command }];
      } catch {
        return []; // gone meanwhile
      }
    });
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
  return processes().some((one) => one.pid === pid);
}

/** How many files a process has open. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** A port of 127.0.0.1 that no process listened on a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
