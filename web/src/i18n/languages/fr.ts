import type { HubTexts } from '../hub-texts.ts';
import type { FirstTexts, LaterTexts } from '../texts.ts';
import * as account from './fr/account.ts';
import * as connect from './fr/connect.ts';
import * as login from './fr/login.ts';
import { reasons } from './fr/hub.ts';
import { problems } from './fr/problems.ts';
import { sentences } from '../../../../src/core/words/fr.ts';
import * as overview from './fr/overview.ts';
import * as palette from './fr/palette.ts';
import * as servers from './fr/servers.ts';
import * as shell from './fr/shell.ts';

export const hub: Omit<HubTexts, 'remarks'> = { reasons, sentences, problems };

export const texts: FirstTexts = {
  ...shell,
  ...login,
  ...account,
  ...overview,
  ...palette,
  ...servers,
  ...connect,
};

export const later: LaterTexts = {
  tools: () => import('./fr/tools.ts'),
  groups: () => import('./fr/groups.ts'),
  activity: () => import('./fr/activity.ts'),
  access: () => import('./fr/access.ts'),
  settings: () => import('./fr/settings.ts'),
  catalog: () => import('./fr/catalog.ts'),
  costs: () => import('./fr/costs.ts'),
  traffic: () => import('./fr/traffic.ts'),
  audit: () => import('./fr/audit.ts'),
  governance: () => import('./fr/governance.ts'),
  policies: () => import('./fr/policies.ts'),
  overrides: () => import('./fr/overrides.ts'),
  own: () => import('./fr/own.ts'),
  guards: () => import('./fr/guards.ts'),
  remarks: () => import('./fr/remarks.ts'),
};
