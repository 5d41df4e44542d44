import type { Texts } from '../texts.ts';
import * as access from './zh/access.ts';
import * as account from './zh/account.ts';
import * as activity from './zh/activity.ts';
import * as groups from './zh/groups.ts';
import * as login from './zh/login.ts';
import * as overview from './zh/overview.ts';
import * as servers from './zh/servers.ts';
import * as settings from './zh/settings.ts';
import * as shell from './zh/shell.ts';
import * as tools from './zh/tools.ts';

export const name = '简体中文';

export const texts: Texts = {
  ...shell,
  ...login,
  ...account,
  ...overview,
  ...servers,
  ...tools,
  ...groups,
  ...activity,
  ...access,
  ...settings,
};
