import type { HubTexts } from '../hub-texts.ts';
import type { Texts } from '../texts.ts';
import * as access from './zh/access.ts';
import * as account from './zh/account.ts';
import * as activity from './zh/activity.ts';
import * as catalog from './zh/catalog.ts';
import * as connect from './zh/connect.ts';
import * as costs from './zh/costs.ts';
import * as groups from './zh/groups.ts';
import * as login from './zh/login.ts';
import { reasons, sentences } from './zh/hub.ts';
import * as overview from './zh/overview.ts';
import * as palette from './zh/palette.ts';
import * as servers from './zh/servers.ts';
import * as settings from './zh/settings.ts';
import * as shell from './zh/shell.ts';
import * as tools from './zh/tools.ts';
import * as traffic from './zh/traffic.ts';

/** 英文由 Hub 给出的句子。 */
export const hub: HubTexts = { reasons, sentences };

export const texts: Texts = {
  ...shell,
  ...login,
  ...account,
  ...overview,
  ...palette,
  ...servers,
  ...catalog,
  ...tools,
  ...traffic,
  ...connect,
  ...costs,
  ...groups,
  ...activity,
  ...access,
  ...settings,
};
