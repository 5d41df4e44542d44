import type { HubTexts } from '../hub-texts.ts';
import type { FirstTexts, LaterTexts } from '../texts.ts';
import * as account from './zh/account.ts';
import * as connect from './zh/connect.ts';
import * as login from './zh/login.ts';
import { reasons } from './zh/hub.ts';
import { problems } from './zh/problems.ts';
import { sentences } from '../../../../src/core/words/zh.ts';
import * as overview from './zh/overview.ts';
import * as palette from './zh/palette.ts';
import * as servers from './zh/servers.ts';
import * as shell from './zh/shell.ts';

/** 英文由 Hub 给出的句子。 */
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
  tools: () => import('./zh/tools.ts'),
  groups: () => import('./zh/groups.ts'),
  activity: () => import('./zh/activity.ts'),
  access: () => import('./zh/access.ts'),
  settings: () => import('./zh/settings.ts'),
  catalog: () => import('./zh/catalog.ts'),
  costs: () => import('./zh/costs.ts'),
  traffic: () => import('./zh/traffic.ts'),
  audit: () => import('./zh/audit.ts'),
  governance: () => import('./zh/governance.ts'),
  policies: () => import('./zh/policies.ts'),
  overrides: () => import('./zh/overrides.ts'),
  own: () => import('./zh/own.ts'),
  guards: () => import('./zh/guards.ts'),
  remarks: () => import('./zh/remarks.ts'),
};
