import type { HubTexts } from '../hub-texts.ts';
import type { FirstTexts, LaterTexts } from '../texts.ts';
import * as account from './ja/account.ts';
import * as connect from './ja/connect.ts';
import * as login from './ja/login.ts';
import { reasons } from './ja/hub.ts';
import { problems } from './ja/problems.ts';
import { sentences } from '../../../../src/core/words/ja.ts';
import * as overview from './ja/overview.ts';
import * as palette from './ja/palette.ts';
import * as servers from './ja/servers.ts';
import * as shell from './ja/shell.ts';

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
  tools: () => import('./ja/tools.ts'),
  groups: () => import('./ja/groups.ts'),
  activity: () => import('./ja/activity.ts'),
  access: () => import('./ja/access.ts'),
  settings: () => import('./ja/settings.ts'),
  catalog: () => import('./ja/catalog.ts'),
  costs: () => import('./ja/costs.ts'),
  traffic: () => import('./ja/traffic.ts'),
  audit: () => import('./ja/audit.ts'),
  governance: () => import('./ja/governance.ts'),
  policies: () => import('./ja/policies.ts'),
  overrides: () => import('./ja/overrides.ts'),
  own: () => import('./ja/own.ts'),
  guards: () => import('./ja/guards.ts'),
  remarks: () => import('./ja/remarks.ts'),
};
