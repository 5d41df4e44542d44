import type { AuditSink } from '../core/audit.ts';
import { HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Login } from './login.ts';
import { createEventSampler, suppressedFields } from './event-sampler.ts';

/**
 * Logs each login that fails: who, and from where, never the password. The limiter bounds how many there are; of what
 * it refuses itself the first of each address and window is logged, however long that goes on. Of all addresses
 * together `authLimits.strangersTold` are logged in a window.
 */
export function logFailures(login: Login, log: Logger, now = () => performance.now()): Login {
  const failed = createEventSampler({ now });
  const refused = createEventSampler({ now });
  let failures = 0;

  return async (attempt) => {
    try {
      return await login(attempt);
    } catch (error) {
      const { address } = attempt;
      const { code, secondFactor } = error instanceof HubError ? error : {};
      const username = attempt.username ?? secondFactor?.username ?? '';
      const who = { user: username.slice(0, 100), address };
      const isWrong = code === 'unauthenticated' || secondFactor?.wrong === true;
      // Each failure is one of its own.
      const told = isWrong ? failed(String(failures++)) : undefined;
      const what = secondFactor ? { wrong: 'second factor' } : {};
      if (told) log.warn('login failed', { ...who, ...what, ...suppressedFields(told) });
      const toldRefused = code === 'too_many' ? refused(address) : undefined;
      if (toldRefused) log.warn('logins refused after too many failures', { ...who, ...suppressedFields(toldRefused) });
      throw error;
    }
  };
}

/** Counts each login that fails, or is refused after others did, in the audit log: whose, and from where. */
export function countFailures(login: Login, { counted }: Pick<AuditSink, 'counted'>): Login {
  return async (attempt) => {
    try {
      return await login(attempt);
    } catch (error) {
      const { code, secondFactor } = error instanceof HubError ? error : {};
      const isFailure = code === 'unauthenticated' || code === 'too_many' || secondFactor?.wrong === true;
      const { address, via = 'api', username: target = secondFactor?.username } = attempt;
      const event = { actor: { kind: 'anonymous', name: '' }, address, via, target, action: 'login' } as const;
      if (isFailure) counted({ ...event, result: 'failed' });
      throw error;
    }
  };
}
