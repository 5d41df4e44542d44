import { isDeepStrictEqual } from 'node:util';
import { saying } from '../../core/sentences.ts';
import type { Logger } from '../../core/logger.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { Draft } from '../document/document.ts';
import type { SettingsStore } from '../store.ts';
import { logInFrom, type ProviderPerson, type ProviderRules } from './provider-login.ts';

/**
 * The account of a person whom a provider names, made or changed as its settings say, and told in the log. Throws what
 * `logInFrom` and `settings.change` throw.
 */
export type ProviderAccounts = (
  provider: ProviderRules,
  person: ProviderPerson,
  address: string,
) => Promise<UserSettings>;

export function createProviderAccounts(
  settings: Pick<SettingsStore, 'change' | 'current' | 'document'>,
  log: Logger,
): ProviderAccounts {
  return async (provider, person, address) => {
    const at = new Date().toISOString();
    const { users = [], ...others } = settings.document;
    const copy = structuredClone({ users, groups: others.groups ?? [] }) as Pick<Draft, 'users' | 'groups'>;
    // Most logins change nothing, and then nothing is written.
    let login = logInFrom(copy, provider, person, at);
    if (!isDeepStrictEqual(copy.users, users))
      login = await settings.change((draft) => logInFrom(draft, provider, person, at), {
        actor: { kind: 'provider', name: provider.id },
        address,
        via: 'dashboard',
      });
    const { username, done } = login;
    for (const effect of done)
      log.info(`${effect} by a login at a provider`, { user: username, address, provider: provider.id });
    const user = settings.current.users.find((user) => user.username === username);
    if (!user) throw saying('conflict', 'provider_account_changed');
    return user;
  };
}
