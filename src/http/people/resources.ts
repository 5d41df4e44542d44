import type { Hono } from 'hono';
import type { ApiEnv } from '../frame/caller.ts';
import { type AuthOptions, authRoutes } from './auth.ts';
import { keysRoutes } from './keys.ts';
import { usersRoutes } from './users.ts';

/** Who may come in, and with what. */
export function peopleResources({ settings, login, passwords, tokens, claims, log }: AuthOptions): Hono<ApiEnv>[] {
  return [
    authRoutes({ settings, login, passwords, tokens, claims, log }),
    usersRoutes({ settings, passwords, tokens, log }),
    keysRoutes({ settings, log }),
  ];
}
