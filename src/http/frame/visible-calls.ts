import type { OwnCalls } from '../../logs/activity-filter.ts';
import type { Caller } from './caller.ts';

/**
 * Whose calls the caller may see: admins all, an account its own, a key without an owner none. An account does not see
 * what an earlier one of its name did.
 */
export function visibleCalls({ admin, user }: Pick<Caller, 'admin' | 'user'>): 'all' | 'none' | OwnCalls {
  if (admin) return 'all';
  if (!user) return 'none';
  const created = Date.parse(user.createdAt ?? '');
  return { username: user.username, ...(!Number.isNaN(created) && { since: new Date(created) }) };
}
