import { randomBytes } from 'node:crypto';
import type { SettingsStore } from '../store.ts';

/**
 * Makes the user `admin` when there is no user at all, with `given` or a random password. Returns the random one: it is
 * shown once and kept nowhere (CONTRACT §1, `ADMIN_PASSWORD`), unless `keep` does so, which is called before the user
 * is made.
 */
export async function firstAdmin(
  settings: SettingsStore,
  passwords: { hash(password: string): Promise<string> },
  given: { readonly password: string; readonly isWeak: boolean } | undefined,
  keep: (password: string) => void = () => {},
): Promise<string | undefined> {
  if (settings.current.users.length > 0) return undefined;
  const password = given?.password ?? randomBytes(18).toString('base64url');
  const hash = await passwords.hash(password);
  if (given === undefined) keep(password);
  const made = await settings.change((draft) => {
    // The operator may have added one by hand meanwhile.
    if ((draft.users ?? []).length > 0) return false;
    draft.users = [
      {
        username: 'admin',
        password: hash,
        role: 'admin',
        isAdmin: true,
        createdAt: new Date().toISOString(),
        // It was shown on a terminal: the dashboard asks for another one.
        ...(given === undefined && { passwordIsInitial: true }),
        ...(given?.isWeak === true && { passwordIsWeak: true }),
      },
    ];
    return true;
  });
  return made && given === undefined ? password : undefined;
}
