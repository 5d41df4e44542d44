import type { HubTexts } from '../hub-texts.ts';
import type { FirstTexts, LaterTexts } from '../texts.ts';
import * as account from './es/account.ts';
import * as connect from './es/connect.ts';
import * as login from './es/login.ts';
import { reasons } from './es/hub.ts';
import { problems } from './es/problems.ts';
import { sentences } from '../../../../src/core/words/es.ts';
import * as overview from './es/overview.ts';
import * as palette from './es/palette.ts';
import * as servers from './es/servers.ts';
import * as shell from './es/shell.ts';

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
  tools: () => import('./es/tools.ts'),
  groups: () => import('./es/groups.ts'),
  activity: () => import('./es/activity.ts'),
  access: () => import('./es/access.ts'),
  settings: () => import('./es/settings.ts'),
  catalog: () => import('./es/catalog.ts'),
  costs: () => import('./es/costs.ts'),
  traffic: () => import('./es/traffic.ts'),
  audit: () => import('./es/audit.ts'),
  governance: () => import('./es/governance.ts'),
  policies: () => import('./es/policies.ts'),
  overrides: () => import('./es/overrides.ts'),
  own: () => import('./es/own.ts'),
  guards: () => import('./es/guards.ts'),
  remarks: () => import('./es/remarks.ts'),
};
