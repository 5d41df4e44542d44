import { HubError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { Login } from './login.ts';

/**
 * Logs each login that fails: who, and from where, never the password. The limiter bounds how many there are; of what it refuses itself the first of each
 * address and window is logged, however long somebody goes on.
 */
export function logFailures(login: Login, log: Logger, now = () => performance.now()): Login {
  /** When the refusals of an address were last told, in the order of telling. */
  const told = new Map<string, number>();

  function isNews(address: string): boolean {
    const before = told.get(address);
    if (before !== undefined && now() - before < limits.loginWindowMs) return false;
    told.delete(address);
    const [oldest] = told.keys();
    if (told.size >= limits.loginRecords && oldest !== undefined) told.delete(oldest);
    told.set(address, now());
    return true;
  }

  return async (attempt) => {
    try {
      return await login(attempt);
    } catch (error) {
      const { username, address } = attempt;
      const who = { user: username.slice(0, 100), address };
      const code = error instanceof HubError ? error.code : undefined;
      if (code === 'unauthenticated') log.warn('login failed', who);
      if (code === 'too_many' && isNews(address)) log.warn('logins refused after too many failures', who);
      throw error;
    }
  };
}
