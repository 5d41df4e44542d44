import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { queryOf } from '../api/client.ts';
import { connection } from '../api/live.ts';
import { useMe } from '../api/queries.ts';
import { session } from '../api/session.ts';
import { boot } from '../boot.ts';
import { needTexts } from '../i18n/i18n.ts';
import type { Part } from '../i18n/texts.ts';
import { onceReachable } from '../lib/once-reachable.ts';
import { Overview } from '../pages/overview/overview.tsx';
import { Crashed, Forbidden, NotFound } from './dead-ends.tsx';
import { Shell } from './shell.tsx';

/**
 * Every page by its address; the first parts are known to the hub too (`src/http/frame/taken-paths.ts`). Each page is
 * loaded when it is opened.
 */

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: Crashed });

/** What stands after `?`, as texts. */
type Search<K extends string> = { [P in K]?: string | undefined };

function texts<K extends string>(...keys: readonly K[]) {
  return (search: Readonly<Record<string, unknown>>): Search<K> => {
    const given = keys.flatMap((key) => {
      const value = search[key];
      return typeof value === 'string' && value !== '' ? [[key, value]] : [];
    });
    return Object.fromEntries(given) as Search<K>;
  };
}

/** A page that is loaded when it is opened, with the parts of the texts that not every page needs. */
function page<M extends Record<string, unknown>, K extends keyof M & string>(
  load: () => Promise<M>,
  name: K,
  ...parts: readonly Part[]
) {
  return lazyRouteComponent(async () => {
    const [loaded] = await onceReachable(
      () => Promise.all([load(), needTexts(...parts)]),
      () => connection.get() === 'lost',
    );
    return loaded;
  }, name);
}

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: texts('from'),
  component: page(() => import('../pages/login.tsx'), 'Login'),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  beforeLoad({ location }) {
    if (session.csrf() === undefined) throw redirect({ to: '/login', search: { from: location.publicHref } });
  },
  component: Shell,
});

/** Everything below is for admins: what is in it is not even loaded for others. */
const admin = createRoute({
  getParentRoute: () => shell,
  id: 'admin',
  component: function Admin() {
    return useMe().isAdmin ? <Outlet /> : <Forbidden />;
  },
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  // Where most begin: a file of its own would be one more request.
  component: Overview,
});

const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  component: page(() => import('../pages/account.tsx'), 'Account'),
});

const servers = createRoute({
  getParentRoute: () => shell,
  path: '/servers',
  validateSearch: texts('q', 'status', 'sort', 'add', 'made'),
  component: page(() => import('../pages/servers/servers.tsx'), 'Servers', 'overrides'),
});

const server = createRoute({
  getParentRoute: () => shell,
  path: '/servers/$name',
  validateSearch: texts('tab', 'q', 'tool', 'override'),
  component: page(() => import('../pages/servers/server.tsx'), 'ServerPage', 'overrides'),
});

const catalog = createRoute({
  getParentRoute: () => shell,
  path: '/catalog',
  validateSearch: texts('q', 'category', 'add'),
  component: page(() => import('../pages/catalog/catalog.tsx'), 'Catalog', 'catalog', 'overrides'),
});

const tools = createRoute({
  getParentRoute: () => shell,
  path: '/tools',
  validateSearch: texts('server', 'tool', 'q', 'from'),
  component: page(() => import('../pages/tools/playground.tsx'), 'Playground', 'tools'),
});

const costs = createRoute({
  getParentRoute: () => shell,
  path: '/tools/costs',
  validateSearch: texts('group', 'reach', 'q', 'server', 'show', 'sort'),
  component: page(() => import('../pages/costs/costs.tsx'), 'Costs', 'activity', 'costs', 'groups', 'overrides'),
});

const groups = createRoute({
  getParentRoute: () => shell,
  path: '/groups',
  validateSearch: texts('add'),
  component: page(() => import('../pages/groups/groups.tsx'), 'Groups', 'groups', 'overrides'),
});

const group = createRoute({
  getParentRoute: () => shell,
  path: '/groups/$id',
  validateSearch: texts('q', 'client'),
  component: page(() => import('../pages/groups/group.tsx'), 'GroupPage', 'groups', 'overrides'),
});

const activity = createRoute({
  getParentRoute: () => shell,
  path: '/activity',
  validateSearch: texts(
    'server',
    'tool',
    'status',
    'username',
    'group',
    'scope',
    'without',
    'keyName',
    'client',
    'since',
    'from',
    'to',
    'by',
    'page',
    'call',
    'kind',
  ),
  component: page(() => import('../pages/activity/activity.tsx'), 'ActivityPage', 'activity', 'traffic'),
});

const traffic = createRoute({
  getParentRoute: () => shell,
  path: '/activity/traffic',
  validateSearch: texts('since', 'client', 'scope', 'server', 'without'),
  component: page(() => import('../pages/traffic/traffic.tsx'), 'Traffic', 'traffic'),
});

const logs = createRoute({
  getParentRoute: () => shell,
  path: '/logs',
  validateSearch: texts('level', 'service', 'q', 'from', 'to'),
  component: page(() => import('../pages/logs/logs.tsx'), 'Logs', 'activity'),
});

const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  validateSearch: texts('open'),
  component: page(() => import('../pages/keys/keys.tsx'), 'Keys', 'access'),
});

const apps = createRoute({
  getParentRoute: () => shell,
  path: '/account/apps',
  component: page(() => import('../pages/apps.tsx'), 'Apps'),
});

const credentials = createRoute({
  getParentRoute: () => shell,
  path: '/account/credentials',
  component: page(() => import('../pages/credentials.tsx'), 'Credentials'),
});

const connect = createRoute({
  getParentRoute: () => shell,
  path: '/account/connect',
  validateSearch: texts('client', 'reach', 'name', 'credential', 'key', 'since'),
  component: page(() => import('../pages/connect/connect.tsx'), 'ConnectPage'),
});

const users = createRoute({
  getParentRoute: () => admin,
  path: '/users',
  validateSearch: texts('open'),
  component: page(() => import('../pages/users/users.tsx'), 'Users', 'access'),
});

const settings = createRoute({
  getParentRoute: () => admin,
  path: '/settings',
  validateSearch: texts('tab'),
  component: page(() => import('../pages/settings/settings.tsx'), 'Settings', 'settings', 'overrides'),
});

const smart = createRoute({
  getParentRoute: () => admin,
  path: '/smart',
  validateSearch: texts('q', 'group'),
  component: page(() => import('../pages/smart/smart.tsx'), 'Smart', 'tools'),
});

const prompts = createRoute({
  getParentRoute: () => admin,
  path: '/settings/prompts',
  validateSearch: texts('prompt', 'resource'),
  component: page(() => import('../pages/own/own.tsx'), 'Own', 'own'),
});

const guards = createRoute({
  getParentRoute: () => admin,
  path: '/settings/guards',
  validateSearch: texts('open'),
  component: page(() => import('../pages/guards/guards.tsx'), 'Guards', 'guards'),
});

const audit = createRoute({
  getParentRoute: () => admin,
  path: '/audit',
  validateSearch: texts('actor', 'action', 'target', 'since', 'until', 'record'),
  component: page(() => import('../pages/audit/audit.tsx'), 'Audit', 'audit'),
});

const pins = createRoute({
  getParentRoute: () => admin,
  path: '/pins',
  component: page(() => import('../pages/governance/pins.tsx'), 'Pins', 'governance', 'remarks'),
});

const policies = createRoute({
  getParentRoute: () => admin,
  path: '/policies',
  validateSearch: texts('open'),
  component: page(() => import('../pages/policies/policies.tsx'), 'Policies', 'policies', 'governance', 'remarks'),
});

const approvals = createRoute({
  getParentRoute: () => shell,
  path: '/approvals',
  component: page(() => import('../pages/governance/approvals.tsx'), 'Approvals', 'governance'),
});

const forAdmins = admin.addChildren([users, settings, smart, prompts, guards, policies, pins, audit]);
const forAll = [
  approvals,
  overview,
  account,
  servers,
  server,
  catalog,
  tools,
  costs,
  groups,
  group,
  activity,
  traffic,
  logs,
  keys,
  connect,
  apps,
  credentials,
];
const routeTree = root.addChildren([login, shell.addChildren([...forAll, forAdmins])]);

export const router = createRouter({
  routeTree,
  basepath: boot.basePath === '' ? '/' : boot.basePath,
  // Texts are texts: a tool called `1` is no number.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => queryOf(search as Record<string, string | undefined>),
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: Crashed,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
