import type { HubTexts } from '../hub-texts.ts';
import type { FirstTexts, LaterTexts } from '../texts.ts';
import * as account from './de/account.ts';
import * as connect from './de/connect.ts';
import * as login from './de/login.ts';
import { reasons } from './de/hub.ts';
import { problems } from './de/problems.ts';
import { sentences } from '../../../../src/core/words/de.ts';
import * as overview from './de/overview.ts';
import * as palette from './de/palette.ts';
import * as servers from './de/servers.ts';
import * as shell from './de/shell.ts';

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
  tools: () => import('./de/tools.ts'),
  groups: () => import('./de/groups.ts'),
  activity: () => import('./de/activity.ts'),
  access: () => import('./de/access.ts'),
  settings: () => import('./de/settings.ts'),
  catalog: () => import('./de/catalog.ts'),
  costs: () => import('./de/costs.ts'),
  traffic: () => import('./de/traffic.ts'),
  audit: () => import('./de/audit.ts'),
  governance: () => import('./de/governance.ts'),
  policies: () => import('./de/policies.ts'),
  overrides: () => import('./de/overrides.ts'),
  own: () => import('./de/own.ts'),
  guards: () => import('./de/guards.ts'),
  remarks: () => import('./de/remarks.ts'),
};
