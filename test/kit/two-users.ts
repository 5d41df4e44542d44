import { expect } from 'vitest';
import { type Hostile, hostileHttp, hostileStdio } from './hostile.ts';
import type { HubOptions } from './test-hub.ts';

interface Entry {
  readonly visibility?: string;
  readonly owner?: string;
  readonly publishedBy?: string;
  readonly sharedWithUsers?: string[];
}

/**
 * A small world for tests of who sees what, and the rules of CONTRACT §2 and §7 about it, written a second time as
 * simply as possible. Every server has the tools `<name>_open`, `<name>_picked` (the one that groups pick, which only
 * reads) and `<name>_off` (switched off), a prompt, a resource and a template.
 */
export const servers: Record<string, Entry> = {
  commonszq: { visibility: 'public' },
  plainzq: {},
  vaultzq: { visibility: 'private', owner: 'admin' },
  annszq: { visibility: 'private', owner: 'ann' },
  bobszq: { visibility: 'private', owner: 'bob' },
  loudzq: { visibility: 'public', owner: 'bob' },
  saidzq: { visibility: 'public', owner: 'bob', publishedBy: 'admin' },
  toldzq: { visibility: 'group', owner: 'bob', sharedWithUsers: ['admin', 'ann'] },
  lentzq: { visibility: 'group', sharedWithUsers: ['ann'] },
  listedzq: { visibility: 'private' },
  groupedzq: { visibility: 'private' },
};

interface World {
  readonly id: string;
  readonly name: string;
  readonly visibility: string;
  readonly owner: string;
  readonly sharedWithUsers?: string[];
  /**
   * Servers by name, and whether only `_picked` is in the group; of those that are picked, no prompt and no resource
   * is.
   */
  readonly members: Record<string, 'all' | 'picked'>;
}

const id = (digit: string) => `${digit.repeat(8)}-1111-4111-8111-111111111111`;
export const groups: readonly World[] = [
  {
    id: id('a'),
    name: 'crewgq',
    visibility: 'private',
    owner: 'admin',
    members: { groupedzq: 'picked', commonszq: 'picked' },
  },
  {
    id: id('b'),
    name: 'ganggq',
    visibility: 'private',
    owner: 'bob',
    members: { bobszq: 'all', listedzq: 'picked', commonszq: 'all' },
  },
  {
    id: id('c'),
    name: 'hallgq',
    visibility: 'public',
    owner: 'admin',
    members: {
      commonszq: 'all',
      lentzq: 'picked',
      vaultzq: 'all',
      annszq: 'all',
      bobszq: 'all',
      loudzq: 'all',
      saidzq: 'picked',
      groupedzq: 'all',
      plainzq: 'picked',
    },
  },
  {
    id: id('d'),
    name: 'sharedgq',
    visibility: 'group',
    owner: 'admin',
    sharedWithUsers: ['bob'],
    members: { commonszq: 'all', listedzq: 'all', annszq: 'all' },
  },
  {
    id: id('e'),
    name: 'secretgq',
    visibility: 'private',
    owner: 'admin',
    members: { commonszq: 'all', vaultzq: 'all' },
  },
];

/** `reader`: a key of ann's that only reads. `app`: a client that ann let in, to `appReach` alone. */
export type Who = 'ann' | 'bob' | 'admin' | 'nobody' | 'reader' | 'app';
export const appReach = { groups: ['hallgq'], servers: ['toldzq', 'bobszq'] };
const lists: Record<string, string[]> = { bob: ['listedzq'] };
const memberships: Record<string, string[]> = { ann: ['crewgq'] };

export const toolsOf = (server: string) => [`${server}_open`, `${server}_picked`, `${server}_off`];

/** What of a server a user is shown to call: everything, what the groups pick, or nothing. */
export function grant(who: Who, server: string): 'all' | 'picked' | 'none' {
  if (who === 'reader') return grant('ann', server);
  if (who === 'app') {
    const own = grant('ann', server);
    if (own === 'none' || appReach.servers.includes(server)) return own;
    const member = groups.find(({ name }) => appReach.groups.includes(name))?.members[server];
    return own === 'picked' && member !== undefined ? 'picked' : (member ?? 'none');
  }
  const {
    visibility,
    owner = 'admin',
    publishedBy,
    sharedWithUsers = [],
  } = servers[server] ?? { visibility: 'private' };
  const isOfUser = owner !== 'admin';
  // A user alone cannot make anything public (CONTRACT §7).
  const isPublic = visibility === 'public' && (!isOfUser || publishedBy !== undefined);
  if (isPublic || (who === 'admin' && !isOfUser)) return 'all';
  if (who === 'nobody') return visibility === undefined && !isOfUser ? 'all' : 'none';
  if (owner === who || lists[who]?.includes(server)) return 'all';
  if ((visibility === 'group' || visibility === 'public') && sharedWithUsers.includes(who)) return 'all';
  const through = groups.filter(({ name }) => memberships[who]?.includes(name)).map(({ members }) => members[server]);
  return through.includes('all') ? 'all' : through.includes('picked') ? 'picked' : 'none';
}

/** Whether a user sees a server where servers are managed: admins manage what they are not shown to call, too. */
export function knows(who: Who, server: string): boolean {
  return who === 'admin' || grant(who, server) !== 'none';
}

export function seesGroup(who: Who, group: World): boolean {
  const { name, visibility, owner, sharedWithUsers, members } = group;
  if (who === 'app')
    return (
      seesGroup('ann', group) &&
      (appReach.groups.includes(name) || appReach.servers.some((server) => server in members))
    );
  if (who === 'admin' || visibility === 'public') return true;
  if (who === 'reader')
    return owner === 'ann' || memberships['ann']?.includes(name) === true || sharedWithUsers?.includes('ann') === true;
  return owner === who || memberships[who]?.includes(name) === true || sharedWithUsers?.includes(who) === true;
}

/** Tools as `server/tool` that a scope shows: '' is everything, otherwise a group by name or id, or a server. */
export function shownTools(who: Who, scope: string): string[] {
  const group = groups.find(({ name, id: groupId }) => name === scope || groupId === scope);
  if (group && !seesGroup(who, group)) return [];
  const members = Object.entries(group?.members ?? {});
  const within = group ? members : Object.keys(servers).map((name) => [name, 'all'] as const);
  return within
    .filter(([server]) => group !== undefined || scope === '' || scope === server)
    .flatMap(([server, selection]) => {
      const granted = grant(who, server);
      if (granted === 'none') return [];
      const picked = granted === 'picked' || selection === 'picked' || who === 'reader';
      return (picked ? [`${server}_picked`] : [`${server}_open`, `${server}_picked`]).map(
        (tool) => `${server}/${tool}`,
      );
    })
    .sort();
}

/** Where something is said: to a user who calls tools, or who manages servers. */
type Place = 'to callers' | 'to managers';

/** Every name that a user must not see. What is switched off is shown to users who may switch it on. */
export function hiddenNames(who: Who, place: Place = 'to callers'): string[] {
  const ofServers = Object.keys(servers).flatMap((server) => {
    const granted = grant(who, server);
    if (who === 'admin' && place === 'to managers') return [];
    if (granted === 'none') return [server];
    if (who === 'reader' && granted === 'all') return [`${server}_open`, `${server}_off`];
    if (who === 'admin' || servers[server]?.owner === who) return [];
    return [`${server}_off`, ...(granted === 'picked' ? [`${server}_open`, `${server}_ask`, `${server}/doc`] : [])];
  });
  return [...ofServers, ...groups.filter((group) => !seesGroup(who, group)).flatMap(({ id, name }) => [id, name])];
}

/** Names out of a text, so that two answers about different names can be held against each other. */
export function without(text: string, names: readonly string[]): string {
  return [...names].sort((a, b) => b.length - a.length).reduce((rest, name) => rest.replaceAll(name, '<name>'), text);
}

/** By user and place: texts are looked through by the thousand. */
const hidden = new Map<string, string[]>();

/** Fails when a text tells of anything that is hidden from a user. */
export function seesNone(text: string, who: Who, where: string, place: Place = 'to callers'): void {
  const names = hidden.get(`${who} ${place}`) ?? hiddenNames(who, place);
  hidden.set(`${who} ${place}`, names);
  // An expectation for each name would take longer than the search for it.
  const told = names.filter((name) => text.includes(name));
  if (told.length > 0) expect.fail(`${where} tells of ${told.join(', ')}: ${text.slice(0, 300)}`);
}

/** Addresses of this machine are not for the servers of users who are no admins: those are programs. */
const isProgram = (server: string) => (servers[server]?.owner ?? 'admin') !== 'admin';

/**
 * The hub's settings for this world, and the servers with what they saw. Users: ann, bob.
 *
 * @param only which of the servers there are; all, if not given
 */
export async function twoUsers(
  password: string,
  only: (server: string) => boolean = () => true,
): Promise<{ settings: HubOptions; backends: Record<string, Hostile> }> {
  const made = Object.keys(servers)
    .filter(only)
    .map(async (name): Promise<[string, Hostile]> => [
      name,
      await (isProgram(name) ? hostileStdio : hostileHttp)({
        name,
        instructions: `How to use ${name}.`,
        tools: toolsOf(name).map((tool) => ({
          name: tool,
          inputSchema: { type: 'object' },
          ...(tool.endsWith('_picked') && { annotations: { readOnlyHint: true } }),
        })),
        prompts: [{ name: `${name}_ask` }],
        resources: [{ uri: `x://${name}/doc`, name: `${name}/doc` }],
        resourceTemplates: [{ uriTemplate: `x://${name}/doc/{part}`, name: `${name}/doc part` }],
      }),
    ]);
  const backends = Object.fromEntries(await Promise.all(made));
  const mcpServers = Object.fromEntries(
    Object.entries(backends).map(([name, { config }]) => [
      name,
      { ...config, ...servers[name], tools: { [`${name}_off`]: { enabled: false } } },
    ]),
  );
  const picked = (name: string) => ({ name, tools: [`${name}_picked`], prompts: [], resources: [] });
  return {
    backends,
    settings: {
      mcpServers,
      groups: groups.map(({ members, ...group }) => ({
        ...group,
        servers: Object.entries(members).map(([name, selection]) => (selection === 'all' ? { name } : picked(name))),
      })),
      users: [
        { username: 'admin', password, isAdmin: true },
        ...['ann', 'bob'].map((username) => ({
          username,
          password,
          isAdmin: false,
          servers: lists[username] ?? [],
          groups: memberships[username] ?? [],
        })),
      ],
    },
  };
}
