import type { SomeHubTexts } from '../hub-texts.ts';
import type { SomeTexts } from '../texts.ts';
import * as access from './ja/access.ts';
import * as account from './ja/account.ts';
import * as activity from './ja/activity.ts';
import * as connect from './ja/connect.ts';
import * as groups from './ja/groups.ts';
import { reasons, sentences } from './ja/hub.ts';
import * as login from './ja/login.ts';
import * as overview from './ja/overview.ts';
import * as palette from './ja/palette.ts';
import * as servers from './ja/servers.ts';
import * as settings from './ja/settings.ts';
import * as shell from './ja/shell.ts';
import * as tools from './ja/tools.ts';

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
