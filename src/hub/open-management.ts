import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createPasswords } from '../auth/passwords.ts';
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
  const { settings, env } = parts;
  const passwords = createPasswords();
  const app = buildApp({ ...parts, passwords });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false, autoCleanupIncoming: false });
  const answer: RequestListener = (req, res) => void listener(req, res);
  return { answer, adminPassword: await firstAdmin(settings, passwords, env.adminPassword) };
}
