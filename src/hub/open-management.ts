import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createPasswords } from '../auth/passwords.ts';
import { isDiskFull } from '../disk/disk-error.ts';
import { firstAdmin } from '../settings/first-admin.ts';
import { type AppParts, buildApp } from './build-app.ts';

/** What answers everything that is not MCP. */
export interface Management {
  readonly answer: RequestListener;
  /** Of the first admin, when this start made one. */
  readonly adminPassword: string | undefined;
}

/** All that people need and tools do without. It takes a tenth of a second to load, which servers that start need not wait for. */
export async function openManagement(parts: Omit<AppParts, 'passwords'>): Promise<Management> {
  const passwords = createPasswords();
  const app = buildApp({ ...parts, passwords });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false, autoCleanupIncoming: false });
  const answer: RequestListener = (req, res) => void listener(req, res);
  return { answer, adminPassword: await firstAdminOnDisk(parts, passwords) };
}

/** With a full disk there is no first admin yet. One with a password that was given is made later; a random one could not be shown to the operator then. */
async function firstAdminOnDisk(
  { settings, env, room, log }: Pick<AppParts, 'settings' | 'env' | 'room' | 'log'>,
  passwords: ReturnType<typeof createPasswords>,
): Promise<string | undefined> {
  const make = () => firstAdmin(settings, passwords, env.adminPassword);
  try {
    return await make();
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    if (env.adminPassword !== undefined) room.wait('the first admin', error, async () => void (await make()));
    else log.error('No first admin was made, for the disk has no room. Free some and start the hub again');
    return undefined;
  }
}
