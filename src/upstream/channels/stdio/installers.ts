import { readdir, readFile } from 'node:fs/promises';
import { statFields } from '../../../disk/process-start.ts';
import { installVariable } from './child-env.ts';
import { createGroupWatch } from './group-watch.ts';
import { isLauncherName, type Launcher, type LauncherName } from './launcher.ts';
import type { ProcessTable } from './process-table.ts';

/** A launcher that is installing, whichever hub of this machine started it. */
export interface Installer {
  readonly group: number;
  readonly launcher: LauncherName;
  /** `installKey` of what it installs. */
  readonly key: string;
}

/** The mark that a launcher carries in its environment, from which another hub can tell what it installs. */
export function installMark({ name }: Launcher, key: string): string {
  return `${name}:${key}`;
}

/**
 * What the environment of a process says of an installation; `environ` is one variable after the other, with NUL
 * between them.
 */
export function readInstallMark(environ: string): Pick<Installer, 'launcher' | 'key'> | undefined {
  const start = `${installVariable}=`;
  const mark = environ
    .split('\0')
    .find((entry) => entry.startsWith(start))
    ?.slice(start.length);
  const [launcher = '', key = ''] = mark?.split(':') ?? [];
  return isLauncherName(launcher) ? { launcher, key } : undefined;
}

/** All that are installing now. On Linux alone; elsewhere there are none. */
export async function findInstallers(table: ProcessTable): Promise<Installer[]> {
  if (process.platform !== 'linux') return [];
  const groups = new Map<number, Installer>();
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const mark = readInstallMark(await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''));
    if (!mark) continue;
    const group = Number(statFields(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))[2] ?? 0);
    if (group > 1) groups.set(group, { ...mark, group });
  }
  const watch = createGroupWatch(table);
  const installing: Installer[] = [];
  for (const one of groups.values()) {
    const state = await watch.look(one.group, one.launcher);
    if (state === 'installing' || state === 'busy') installing.push(one);
  }
  return installing;
}
