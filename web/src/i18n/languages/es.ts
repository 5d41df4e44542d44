import type { SomeHubTexts } from '../hub-texts.ts';
import type { SomeTexts } from '../texts.ts';
import * as access from './es/access.ts';
import * as account from './es/account.ts';
import * as activity from './es/activity.ts';
import * as connect from './es/connect.ts';
import * as groups from './es/groups.ts';
import { reasons, sentences } from './es/hub.ts';
import * as login from './es/login.ts';
import * as overview from './es/overview.ts';
import * as palette from './es/palette.ts';
import * as servers from './es/servers.ts';
import * as settings from './es/settings.ts';
import * as shell from './es/shell.ts';
import * as tools from './es/tools.ts';

export const hub: SomeHubTexts = { reasons, sentences };

export const texts: SomeTexts = {
  ...shell,
  ...login,
  ...account,
  ...overview,
  ...palette,
  ...servers,
  ...tools,
  ...connect,
  ...groups,
  ...activity,
  ...access,
  ...settings,
};
