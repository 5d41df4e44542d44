/**
 * True for an address that a provider or a trusted issuer may have: `https`, without a login, query or fragment; `http`
 * on this machine alone, since keys that come without encryption can be replaced on the way.
 */
export function isProviderAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '' || search !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname));
}

function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** What a provider is of which nothing else is said. */
export const usualProvider = {
  scopes: ['openid', 'profile', 'email'],
  usernameClaim: 'preferred_username',
  groupsClaim: 'groups',
  groups: undefined,
  adminGroups: undefined,
  signUp: 'invited',
} as const;

/** The algorithms of a token's signature that an issuer's keys can check: those with a pair of keys. */
export const asymmetric: readonly string[] = [
  ...['RS', 'PS', 'ES'].flatMap((kind) => ['256', '384', '512'].map((size) => kind + size)),
  'EdDSA',
  'Ed25519',
];
