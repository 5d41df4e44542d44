import * as access from './en/access.ts';
import * as account from './en/account.ts';
import * as activity from './en/activity.ts';
import * as catalog from './en/catalog.ts';
import * as connect from './en/connect.ts';
import * as costs from './en/costs.ts';
import * as groups from './en/groups.ts';
import * as login from './en/login.ts';
import * as overview from './en/overview.ts';
import * as palette from './en/palette.ts';
import * as servers from './en/servers.ts';
import * as settings from './en/settings.ts';
import * as shell from './en/shell.ts';
import * as tools from './en/tools.ts';
import * as traffic from './en/traffic.ts';

/** English, and with it the shape of every other language. */
export const texts = {
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
