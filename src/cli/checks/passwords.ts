import { judgePassword } from '../../auth/password-strength.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { Check } from './check.ts';

/**
 * Weak passwords, as far as they can be known: settings keep hashes, so a hub notes it when a password is set and when
 * a user logs in with it. `given` is `ADMIN_PASSWORD`. Nothing is said when none is known.
 */
export function checkPasswords(
  settings: Pick<Settings, 'users' | 'system'> | undefined,
  given: string | undefined,
  exposed: boolean,
): Check[] {
  const users = settings?.users.filter(({ passwordIsWeak }) => passwordIsWeak).map(({ username }) => username) ?? [];
  const isFirst = settings === undefined || settings.users.length === 0;
  if (isFirst && given !== undefined && judgePassword(given, 'admin', settings?.system.passwordPolicy).weakness)
    users.push('admin (ADMIN_PASSWORD)');
  if (users.length === 0) return [];
  return [
    {
      name: 'passwords',
      status: exposed ? 'warn' : 'ok',
      detail: `weak: ${users.join(', ')}${exposed ? ', and others can reach this hub' : ''}`,
      fix: 'Choose stronger ones; systemConfig.auth.passwordPolicy asks for it',
    },
  ];
}
