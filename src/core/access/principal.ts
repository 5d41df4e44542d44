import type { UserSettings } from '../settings/types.ts';

/**
 * Who makes a request (CONTRACT §2). It names the caller only; role and lists are read from the settings snapshot on
 * each request, so a demoted or deleted user loses access at once.
 */
export type Principal =
  /** `only`: reaches nothing but what the settings explicitly call public (CONTRACT §7). */
  | { readonly kind: 'anonymous'; readonly only?: 'public' }
  /**
   * `since`: when the account was made, as the settings say it. Another account of that name is another user, even if
   * data of the first is still kept.
   */
  | { readonly kind: 'user'; readonly username: string; readonly since?: string | undefined }
  | { readonly kind: 'key'; readonly id: string };

export const anonymous: Principal = { kind: 'anonymous' };

/** Without a credential, over plain HTTP, from beyond this machine. */
export const anonymousOutside: Principal = { kind: 'anonymous', only: 'public' };

/** The principal that a user is. */
export function principalOf({ username, createdAt }: Pick<UserSettings, 'username' | 'createdAt'>): Principal {
  return { kind: 'user', username, since: createdAt };
}

/** One string per principal: what sessions are bound to and views are cached by. */
export function principalId(principal: Principal): string {
  switch (principal.kind) {
    case 'anonymous':
      return principal.only === undefined ? '-' : '-public';
    case 'user':
      return `u:${principal.since ?? ''}\n${principal.username}`;
    case 'key':
      return `k:${principal.id}`;
  }
}

/** The principal that `principalId` named; undefined for any other text. */
export function principalFromId(id: string): Principal | undefined {
  if (id === '-') return anonymous;
  if (id === '-public') return anonymousOutside;
  const [, since = '', username] = /^u:(.*)\n(.*)$/s.exec(id) ?? [];
  if (username !== undefined) return { kind: 'user', username, since: since === '' ? undefined : since };
  return id.startsWith('k:') ? { kind: 'key', id: id.slice(2) } : undefined;
}
