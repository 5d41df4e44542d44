import type { SomeHubTexts } from '../hub-texts.ts';
import type { SomeTexts } from '../texts.ts';
import * as access from './de/access.ts';
import * as account from './de/account.ts';
import * as activity from './de/activity.ts';
import * as connect from './de/connect.ts';
import * as groups from './de/groups.ts';
import { reasons, sentences } from './de/hub.ts';
import * as login from './de/login.ts';
import * as overview from './de/overview.ts';
import * as palette from './de/palette.ts';
import * as servers from './de/servers.ts';
import * as settings from './de/settings.ts';
import * as shell from './de/shell.ts';
import * as tools from './de/tools.ts';

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
