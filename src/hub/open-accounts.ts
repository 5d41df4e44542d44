import { judgePassword } from '../auth/password-strength.ts';
import type { Passwords } from '../auth/passwords.ts';
import { loadedOnce } from '../core/deferred.ts';
import { HubError } from '../core/errors.ts';
import { coreLimits } from '../core/limits.ts';
import { keepPassword } from '../settings/user/user-edits.ts';
import { isDiskFull } from '../disk/disk-error.ts';
import { usualFormat } from '../logs/output.ts';
import { firstAdmin } from '../settings/user/first-admin.ts';
import { type FirstPassword, firstPasswordFile } from '../settings/user/first-password.ts';
import type { AppParts } from './build-app.ts';

export interface Accounts {
  /** Loaded when they are asked for first: native code, which a hub that has its users needs only for a login. */
  readonly passwords: LazyPasswords;
  /** Of the first admin, when this start made one, and the file that has it where a log is no place for it. */
  readonly adminPassword: string | undefined;
  readonly adminPasswordFile: string | undefined;
}

type LazyPasswords = () => Promise<Passwords>;

type AccountParts = Pick<AppParts, 'env' | 'settings' | 'room' | 'outside' | 'hubDir' | 'log'>;

/** Passwords, and the first admin where there is no user. Throws HubError `misconfigured`. */
export async function openAccounts(parts: AccountParts): Promise<Accounts> {
  const passwords = loadedOnce(async () => (await import('../auth/passwords.ts')).createPasswords());
  const file = isLogged(parts) ? firstPasswordFile(parts.hubDir, parts.settings, parts.log) : undefined;
  const adminPassword = await firstAdminOnDisk(parts, passwords, file);
  await noteWeakPassword(parts, passwords);
  if (parts.outside.exposed()) warnOfWeakPasswords(parts);
  return { passwords, adminPassword, adminPasswordFile: adminPassword === undefined ? undefined : file?.path };
}

/** Whether the output of the start goes into a log and not to a terminal. */
function isLogged({ env }: Pick<AppParts, 'env'>): boolean {
  return (env.logFormat ?? usualFormat()) === 'json';
}

/**
 * `ADMIN_PASSWORD` as far as it counts for a first admin. Throws HubError `misconfigured` for one that the policy
 * refuses.
 */
function givenPassword({ settings, env }: Pick<AppParts, 'settings' | 'env'>) {
  const { adminPassword: password } = env;
  if (password === undefined || settings.current.users.length > 0) return undefined;
  const { weakness, refusal } = judgePassword(password, 'admin', settings.current.system.passwordPolicy);
  if (refusal === undefined) return { password, isWeak: weakness !== undefined };
  throw new HubError(
    'misconfigured',
    `ADMIN_PASSWORD: found ${password.length} characters (not shown); systemConfig.auth.passwordPolicy does not allow it: it ${refusal}.`,
  );
}

/** Those that are known to be weak: of the others a hash says nothing. */
function warnOfWeakPasswords({ settings, log }: Pick<AppParts, 'settings' | 'log'>): void {
  const weak = settings.current.users.filter(({ passwordIsWeak }) => passwordIsWeak).map(({ username }) => username);
  if (weak.length > 0)
    log.warn('Others can reach this hub, and the passwords of these users are weak. Have them choose others', {
      users: weak.slice(0, coreLimits.listedNames).join(', '),
    });
}

/**
 * A hub that was started before passwords were looked at: `ADMIN_PASSWORD` tells whether it is still the password, and
 * weak.
 */
async function noteWeakPassword({ settings, env }: Pick<AppParts, 'settings' | 'env'>, passwords: LazyPasswords) {
  const admin = settings.current.users.find(({ username }) => username === 'admin');
  const { adminPassword: password } = env;
  if (!admin || password === undefined || admin.passwordIsWeak === true) return;
  const { weakness } = judgePassword(password, 'admin', settings.current.system.passwordPolicy);
  if (weakness === undefined || !(await (await passwords()).verify(password, admin.passwordHash))) return;
  const { passwordHash } = admin;
  await settings
    .change((draft) => keepPassword(draft, 'admin', { passwordHash, isWeak: true }, passwordHash))
    // The next start finds it again.
    .catch(() => undefined);
}

/**
 * With a full disk there is no first admin yet. One with a password that was given is made later; a random one could
 * not be shown to the operator then.
 */
async function firstAdminOnDisk(
  { settings, env, room, log }: Pick<AppParts, 'settings' | 'env' | 'room' | 'log'>,
  passwords: LazyPasswords,
  file: FirstPassword | undefined,
): Promise<string | undefined> {
  const hasher = { hash: async (password: string) => (await passwords()).hash(password) };
  const make = () => firstAdmin(settings, hasher, givenPassword({ settings, env }), file?.keep);
  try {
    return await make();
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    if (env.adminPassword !== undefined) room.wait('the first admin', error, async () => void (await make()));
    else log.error('No first admin was made, for the disk has no room. Free some and start the hub again');
    return undefined;
  }
}
