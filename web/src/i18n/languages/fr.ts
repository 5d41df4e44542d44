import type { SomeHubTexts } from '../hub-texts.ts';
import type { SomeTexts } from '../texts.ts';
import * as access from './fr/access.ts';
import * as account from './fr/account.ts';
import * as activity from './fr/activity.ts';
import * as connect from './fr/connect.ts';
import * as groups from './fr/groups.ts';
import { reasons, sentences } from './fr/hub.ts';
import * as login from './fr/login.ts';
import * as overview from './fr/overview.ts';
import * as palette from './fr/palette.ts';
import * as servers from './fr/servers.ts';
import * as settings from './fr/settings.ts';
import * as shell from './fr/shell.ts';
import * as tools from './fr/tools.ts';

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
