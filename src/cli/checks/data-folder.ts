import { access, constants, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { HubError } from '../../core/errors.ts';
import { errnoOf } from '../../disk/disk-error.ts';
import { openText, openToOthers } from '../../disk/permissions.ts';
import { notForOneProgram } from '../../disk/system-folder.ts';
import { folderHolder, refuseHalfRestored } from '../../settings/data-dir.ts';
import type { Check } from './check.ts';

/** Can the hub keep its data there? The folder is not made by looking. */
export async function checkDataFolder(dataDir: string): Promise<Check> {
  const name = 'data folder';
  const folder = resolve(dataDir);
  const fix = 'Give the hub the right to write there, or name another folder: --data-dir, or DATA_DIR.';
  const why = notForOneProgram(folder);
  if (why !== undefined) return { name, status: 'fail', detail: `${folder} cannot be used: ${why}` };
  const existing = await nearestExisting(folder);
  if (!existing.isFolder) return { name, status: 'fail', detail: `${existing.path} is not a folder`, fix };
  try {
    if (existing.path !== folder) {
      await access(existing.path, constants.W_OK | constants.X_OK);
      return { name, status: 'ok', detail: `${folder} will be made at the first start` };
    }
    await rm(await mkdtemp(join(folder, '.doctor-')), { recursive: true });
    refuseHalfRestored(folder);
    return { name, status: 'ok', detail: `${folder} can be written to; ${await holderOf(folder)}` };
  } catch (error) {
    if (error instanceof HubError) return { name, status: 'fail', detail: error.message };
    return {
      name,
      status: 'fail',
      detail: `cannot write to ${existing.path} (${errnoOf(error) ?? String(error)})`,
      fix,
    };
  }
}

async function holderOf(folder: string): Promise<string> {
  const holder = await folderHolder(folder);
  if (holder === undefined) return 'no hub uses it now';
  return `the hub with process id ${holder.pid} on ${holder.host}${holder.url === undefined ? '' : ` at ${holder.url}`} uses it now`;
}

/** What restores have kept aside, which takes room and has secrets; undefined when there is none. */
export async function checkAside(dataDir: string): Promise<Check[]> {
  const folder = resolve(dataDir);
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('before-restore-'));
  if (names.length === 0) return [];
  const detail = `${names.join(', ')} in ${folder}: what was there before a restore`;
  return [{ name: 'restore', status: 'warn', detail, fix: 'Remove it once the restored hub is as it should be.' }];
}

/**
 * One warning for the data folder and the settings file each, when every user of the machine has access to them. The
 * hub closes what belongs to its user.
 */
export function checkPermissions(dataDir: string, settingsPath: string): Check[] {
  const places = { 'data folder': resolve(dataDir), 'settings file': resolve(settingsPath) };
  return Object.entries(places).flatMap(([what, path]): Check[] => {
    const open = openToOthers(path);
    if (open === undefined) return [];
    const detail = openText(`${what} ${path}`, path, open);
    return [
      { name: 'permissions', status: 'warn', detail: open.isOurs ? `${detail}, or start the hub, which does` : detail },
    ];
  });
}

const MiB = 1024 * 1024;

/** Room for the database, bundles and logs. */
export async function checkDiskSpace(dataDir: string): Promise<Check> {
  const name = 'disk space';
  const { path } = await nearestExisting(resolve(dataDir));
  const { bavail, bsize } = await statfs(path);
  const free = (bavail * bsize) / MiB;
  const detail = `${free >= 10_240 ? `${Math.floor(free / 1024)} GB` : `${Math.floor(free)} MB`} free at ${path}`;
  const fix = 'Free some, or move the data folder: --data-dir, or DATA_DIR.';
  if (free < 100) return { name, status: 'fail', detail, fix };
  return free < 1024 ? { name, status: 'warn', detail, fix } : { name, status: 'ok', detail };
}

async function nearestExisting(path: string): Promise<{ path: string; isFolder: boolean }> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined) return { path, isFolder: found.isDirectory() };
  const parent = dirname(path);
  return parent === path ? { path, isFolder: false } : nearestExisting(parent);
}
