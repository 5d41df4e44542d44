/** First parts of the addresses of pages, which the page itself knows how to show (`web/src/app/router.tsx`). */
export const pages: readonly string[] = [
  'login',
  'servers',
  'catalog',
  'tools',
  'groups',
  'smart',
  'activity',
  'logs',
  'approvals',
  'policies',
  'pins',
  'audit',
  'users',
  'keys',
  'settings',
  'account',
];

/** First parts of paths (below `BASE_PATH` or not) that are not the name of a user whose MCP endpoint follows. */
export const takenPaths: ReadonlySet<string> = new Set(['api', 'assets', 'oauth', '.well-known', ...pages]);
