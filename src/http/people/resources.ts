import type { Hono } from 'hono';
import type { Logger } from '../../core/logger.ts';
import type { ApiEnv } from '../frame/caller.ts';
import { type AuthOptions, authRoutes } from './auth.ts';
import { keysRoutes } from './keys.ts';
import { usersRoutes } from './users.ts';

export interface PeopleOptions extends AuthOptions {
  /** For what users do with their own accounts; `log` for what admins do. */
  readonly accountLog: Logger;
}

/** Who may come in, and with what. */
export function peopleResources(options: PeopleOptions): Hono<ApiEnv>[] {
  const { settings, passwords, tokens, log, accountLog } = options;
  return [
    authRoutes({ ...options, log: accountLog }),
    usersRoutes({ settings, passwords, tokens, log }),
    keysRoutes({ settings, log, accountLog }),
  ];
}
