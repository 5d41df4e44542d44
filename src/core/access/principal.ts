/**
 * Who makes a request (CONTRACT §2). It names the caller only; role and lists are read from the settings snapshot on each request, so a demoted
 * or deleted user loses access at once.
 */
export type Principal =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'user'; readonly username: string }
  | { readonly kind: 'key'; readonly id: string };

export const anonymous: Principal = { kind: 'anonymous' };

/** One string per principal: what sessions are bound to and views are cached by. */
export function principalId(principal: Principal): string {
  switch (principal.kind) {
    case 'anonymous':
      return '-';
    case 'user':
      return `u:${principal.username}`;
    case 'key':
      return `k:${principal.id}`;
  }
}

/** The principal that `principalId` named; undefined for any other text. */
export function principalFromId(id: string): Principal | undefined {
  if (id === '-') return anonymous;
  if (id.startsWith('u:')) return { kind: 'user', username: id.slice(2) };
  return id.startsWith('k:') ? { kind: 'key', id: id.slice(2) } : undefined;
}
