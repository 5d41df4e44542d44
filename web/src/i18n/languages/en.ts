import * as account from './en/account.ts';
import * as connect from './en/connect.ts';
import * as login from './en/login.ts';
import * as overview from './en/overview.ts';
import * as palette from './en/palette.ts';
import * as servers from './en/servers.ts';
import * as shell from './en/shell.ts';

/** English, and with it the shape of every other language: what every page has, and the overview. */
export const texts = {
  ...shell,
  ...login,
  ...account,
  ...overview,
  ...palette,
  ...servers,
  ...connect,
};

/** What other pages have; `app/router.tsx` says which. */
export const later = {
  tools: () => import('./en/tools.ts'),
  groups: () => import('./en/groups.ts'),
  activity: () => import('./en/activity.ts'),
  access: () => import('./en/access.ts'),
  settings: () => import('./en/settings.ts'),
  catalog: () => import('./en/catalog.ts'),
  costs: () => import('./en/costs.ts'),
  traffic: () => import('./en/traffic.ts'),
  audit: () => import('./en/audit.ts'),
  governance: () => import('./en/governance.ts'),
  policies: () => import('./en/policies.ts'),
  overrides: () => import('./en/overrides.ts'),
  own: () => import('./en/own.ts'),
  guards: () => import('./en/guards.ts'),
  /** What the hub says in English already. */
  remarks: () => Promise.resolve({ remarks: {} }),
};
