import { hash } from '@node-rs/argon2';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, type ApiAnswer, keyToken, login } from '../kit/api.ts';
import { authorize, handClient } from '../kit/authorizing.ts';
import type { Scope } from '../../src/core/access/scope.ts';
import type { Hostile } from '../kit/hostile.ts';
import { testDatabase } from '../kit/hub-database.ts';
import { raw, type RawAnswer, rpc, stream } from '../kit/raw.ts';
import { legacySession, modern, session } from '../kit/sessions.ts';
import { json, scriptedHttp } from '../kit/scripted-http.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import {
  appReach,
  grant,
  groups,
  knows,
  seesGroup,
  seesNone,
  servers,
  shownTools,
  toolsOf,
  twoUsers,
  type Who,
  without,
} from '../kit/two-users.ts';
import { until } from '../kit/until.ts';

// Two users and all others on every surface (CONTRACT §2): what one may not see is absent, cannot be called, and
// answers as what does not exist.

const password = 'one password for all';
let hub: TestHub;
let backends: Record<string, Hostile>;
let admin: string;
/** All who ask; a user's key is its user. */
const principals: [label: string, who: Who, token: () => string | undefined][] = [
  ['ann', 'ann', () => tokens['ann']],
  ['bob', 'bob', () => tokens['bob']],
  ["ann's key", 'ann', () => tokens['annKey']],
  ["bob's key", 'bob', () => tokens['bobKey']],
  ['nobody', 'nobody', () => undefined],
  ['the admin', 'admin', () => admin],
];
const callers: typeof principals = [
  ...principals,
  ["ann's key that only reads", 'reader', () => tokens['reader']],
  ["ann's app", 'app', () => tokens['app']],
];
const known = principals.filter(([, who]) => who !== 'nobody');
const tokens: Record<string, string> = {};

beforeAll(async () => {
  const world = await twoUsers(await hash(password));
  ({ backends } = world);
  const prompts = [{ id: 'own-prompt', name: 'own_ask', template: 'x' }];
  const resources = [{ id: 'own-doc', uri: 'own://doc', content: 'x' }];
  hub = await testHub({ ...world.settings, prompts, resources, env: { LOG_LEVEL: 'debug' } });
  await hub.connected(Object.keys(servers).length);
  admin = await login(hub, 'admin', password);
  for (const name of ['ann', 'bob']) {
    tokens[name] = await login(hub, name, password);
    tokens[`${name}Key`] = await keyToken(hub, tokens[name]);
  }
  tokens['reader'] = await keyToken(hub, tokens['ann'] ?? '', { readOnly: true });
  const client = await handClient(hub.url);
  const reach = [...appReach.groups, ...appReach.servers.filter((server) => grant('ann', server) !== 'none')];
  const consented = await authorize(client.address({ resource: null }), { username: 'ann', password, reach });
  tokens['app'] = (await client.redeem(consented)).body.access_token;
});

/** Names of nothing: one that is asked as a server is, one as a group is. */
const nowhere = 'nowherezq';
const nobodys = 'nobodysgq';
const scopes = ['', ...groups.flatMap(({ id, name }) => [id, name]), ...Object.keys(servers), nowhere, nobodys];
/** Lists are asked for by id and by name; calls, of which there are many, by name but for one. */
const calledScopes = scopes.filter((scope) => !groups.slice(1).some(({ id }) => id === scope));
/** Everything, a group that some see, one that only the admin does, a server, and none. */
const scopesOfEachKind = ['', 'hallgq', 'secretgq', 'vaultzq', nowhere];
const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** What a tool is called on an MCP endpoint: on that of a server as the server calls it. */
const exposed = (scope: string, server: string, tool: string) =>
  scope === server || scope === nowhere ? tool : `${server}-${tool}`;

interface Surface {
  /** Tools as `server/tool`, and everything that was said. */
  list(scope: string): Promise<{ tools: string[]; text: string }>;
  call(scope: string, server: string, tool: string): Promise<{ isDone: boolean; text: string }>;
}

function listed(scope: string, tools: readonly { name: string }[] | undefined): string[] {
  const named = Object.keys(servers).flatMap((server) =>
    toolsOf(server).map((tool) => [exposed(scope, server, tool), `${server}/${tool}`] as const),
  );
  const byName = new Map(named);
  return (tools ?? []).map(({ name }) => byName.get(name) ?? name).sort();
}

const called = ({ status, result, error, text }: Pick<RawAnswer, 'status' | 'result' | 'error' | 'text'>) => ({
  isDone: status === 200 && result !== undefined && result.isError !== true,
  text: `${status} ${error ? JSON.stringify(error) : text}`,
});

const bare = 'bare requests';
const eras: Record<string, (token: string | undefined) => Surface> = {
  'a session': (token) => {
    const open = (scope: string) => session(hub.mcp(scope), { headers: bearer(token) });
    const opened = new Map<string, ReturnType<typeof open>>();
    const at = (scope: string) => {
      const one = opened.get(scope) ?? open(scope);
      opened.set(scope, one);
      return one;
    };
    return {
      async list(scope) {
        const own = await at(scope);
        const answers = [own.initialized];
        for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
          answers.push(await own.request(method));
        }
        return {
          tools: listed(scope, answers[1]?.result?.tools),
          text: answers.map(({ text }) => text).join('\n'),
        };
      },
      call: async (scope, server, tool) => called(await (await at(scope)).call(exposed(scope, server, tool))),
    };
  },
  'no session': (token) => ({
    async list(scope) {
      const { result, text } = await modern(hub.mcp(scope), 'tools/list', {}, { headers: bearer(token) });
      const discovered = await modern(hub.mcp(scope), 'server/discover', {}, { headers: bearer(token) });
      return { tools: listed(scope, result?.tools), text: text + discovered.text };
    },
    call: async (scope, server, tool) =>
      called(
        await modern(
          hub.mcp(scope),
          'tools/call',
          { name: exposed(scope, server, tool), arguments: {} },
          { headers: bearer(token) },
        ),
      ),
  }),
  [bare]: (token) => ({
    async list(scope) {
      const { result, text } = await rpc(hub.mcp(scope), 'tools/list', {}, { headers: bearer(token) });
      return { tools: listed(scope, result?.tools), text };
    },
    call: async (scope, server, tool) =>
      called(
        await rpc(
          hub.mcp(scope),
          'tools/call',
          { name: exposed(scope, server, tool), arguments: {} },
          { headers: bearer(token) },
        ),
      ),
  }),
  'event streams': (token) => {
    const open = (scope: string) => legacySession(hub.sse(scope), { headers: bearer(token) });
    const opened = new Map<string, ReturnType<typeof open>>();
    const at = (scope: string) => {
      const one = opened.get(scope) ?? open(scope);
      opened.set(scope, one);
      return one;
    };
    return {
      async list(scope) {
        const { result } = await (await at(scope)).request('tools/list');
        return { tools: listed(scope, result?.tools), text: JSON.stringify(result) };
      },
      async call(scope, server, tool) {
        const { result, error } = await (
          await at(scope)
        ).request('tools/call', {
          name: exposed(scope, server, tool),
          arguments: {},
        });
        return called({ status: 200, result, error, text: '' });
      },
    };
  },
};

/** Execution in the OpenAPI style, and the document that describes it. */
const openApi = (method: 'GET' | 'POST', token: string | undefined): Surface => ({
  async list(scope) {
    const { status, body, text } = await api(hub, 'GET', `${scope && `/${scope}`}/openapi.json`, { token });
    if (status === 404) return { tools: [], text: without(text, [scope]) };
    const tools = Object.keys(body['paths'] ?? {}).map((path) => path.replace(/^\/tools\//, ''));
    return { tools: tools.sort(), text: without(text, [scope]) };
  },
  async call(scope, server, tool) {
    const { status, text } = await api(hub, method, `${scope && `/${scope}`}/tools/${server}/${tool}`, { token });
    return { isDone: status === 200, text: `${status} ${text}` };
  },
});
const bareOpenApi = 'GET of the OpenAPI style';
const postOpenApi = 'POST of the OpenAPI style';
const everywhere: Record<string, (token: string | undefined) => Surface> = {
  ...eras,
  [bareOpenApi]: (token) => openApi('GET', token),
  [postOpenApi]: (token) => openApi('POST', token),
};
/**
 * The settings, which are in their file beside an embedded database and in the table beside PostgreSQL, decide who sees
 * what, for all surfaces in one place. So the run on PostgreSQL, or without a database, tries all of them; that on an
 * embedded one, which keeps the records, makes its calls by one, in a scope of each kind.
 */
const tried = testDatabase() === 'embedded' ? [bare] : Object.keys(everywhere);
/**
 * What a scope shows is decided in one place, behind all surfaces: each calls in a scope of each kind, and one of MCP
 * and one of the OpenAPI style in all of them.
 */
const calledIn = (surface: string) =>
  testDatabase() !== 'embedded' && (surface === bare || surface === bareOpenApi) ? calledScopes : scopesOfEachKind;

/**
 * A user's login and key are one principal before the surface is known (`auth/identify`): bare requests make all calls
 * with both, and each other surface with one of the two; with the other it calls one tool that is shown, and one that
 * is not.
 */
const callsOnce = (surface: string, label: string) => surface !== bare && ['bob', "ann's key"].includes(label);

/** How often each tool was called, by `server/tool`. */
const counts = () =>
  Object.fromEntries(
    Object.keys(servers).flatMap((server) => {
      const names = backends[server]?.received('tools/call').map(({ params }) => params['name']) ?? [];
      return toolsOf(server).map((tool) => [`${server}/${tool}`, names.filter((name) => name === tool).length]);
    }),
  );

describe.each(tried)('%s', (surface) => {
  // Both ways of the OpenAPI style have the same documents.
  const listers = surface === postOpenApi ? [] : callers;
  test.each(listers)('%s: every scope lists what may be seen and nothing else', async (_label, who, token) => {
    const { list } = everywhere[surface]?.(token()) ?? expect.fail();
    await Promise.all(
      scopes.map(async (scope) => {
        const { tools, text } = await list(scope);
        expect(tools, `${surface} ${scope}`).toEqual(shownTools(who, scope));
        seesNone(text, who, `${surface} ${scope}`);
      }),
    );
  });

  test.each(callers)(
    '%s: what is not shown is not run, nor told from what does not exist',
    async (label, who, token) => {
      const { call } = everywhere[surface]?.(token()) ?? expect.fail();
      if (callsOnce(surface, label)) {
        const before = counts();
        expect((await call('', 'commonszq', 'commonszq_open')).isDone).toBe(true);
        expect((await call('', 'vaultzq', 'vaultzq_open')).isDone).toBe(false);
        const name = 'commonszq/commonszq_open';
        expect(counts()).toEqual({ ...before, [name]: (before[name] ?? 0) + 1 });
        return;
      }
      const nones = new Map<string, ReturnType<typeof call>>();
      // Asked once for each place: there are many names of nothing.
      const noneAt = (scope: string, server: string) => {
        const one = nones.get(`${scope} ${server}`) ?? call(scope, server, `${server}_gone`);
        nones.set(`${scope} ${server}`, one);
        return one;
      };
      const expected = counts();
      for (const scope of calledIn(surface)) {
        const allowed = shownTools(who, scope);
        for (const server of Object.keys(servers)) {
          // An endpoint of one server takes the bare names of that server: others are not even expressible there.
          if (scope in servers && scope !== server) continue;
          for (const tool of toolsOf(server)) {
            const where = `${surface} ${scope} ${server}/${tool}`;
            const { isDone, text } = await call(scope, server, tool);
            const isAllowed = allowed.includes(`${server}/${tool}`);
            expect(isDone, `${where} ${text}`).toBe(isAllowed);
            if (isAllowed) expected[`${server}/${tool}`] = (expected[`${server}/${tool}`] ?? 0) + 1;
            else {
              const isSeen = allowed.some((one) => one.startsWith(`${server}/`));
              const ghost = isSeen ? server : 'nowherezq';
              // A scope that is shown is asked for what it does not have; one that is not is held against none.
              const other =
                allowed.length > 0 || scope === '' ? scope : scope in servers || scope === nowhere ? nowhere : nobodys;
              const none = await noneAt(other, ghost);
              const names = [server, tool, scope, ghost, `${ghost}_gone`, other].filter((name) => name !== '');
              expect(without(text, names), where).toBe(without(none.text, names));
            }
          }
        }
      }
      expect(counts()).toEqual(expected);
    },
  );
});

describe('prompts and resources', () => {
  test.each(principals)('%s: those of hidden servers are neither given nor asked for', async (_label, who, token) => {
    const own = await session(hub.mcp(), { headers: bearer(token()) });
    const asked = () =>
      Object.values(backends).map((one) => one.received('prompts/get').length + one.received('resources/read').length);
    const before = asked();
    for (const [index, server] of Object.keys(servers).entries()) {
      const isShown = grant(who, server) === 'all';
      const answers = [
        await own.request('prompts/get', { name: `${server}-${server}_ask` }),
        await own.request('resources/read', { uri: `x://${server}/doc` }),
        await own.request('resources/read', { uri: `x://${server}/doc/part` }),
      ];
      const none = [
        await own.request('prompts/get', { name: 'nowherezq-nowherezq_ask' }),
        await own.request('resources/read', { uri: 'x://nowherezq/doc' }),
        await own.request('resources/read', { uri: 'x://nowherezq/doc/part' }),
      ];
      const rest = [
        await api(hub, 'POST', `/mcp/${server}/prompts/${server}_ask`, { token: token(), body: {} }),
        await api(hub, 'POST', '/resources/read', { token: token(), body: { uri: `x://${server}/doc` } }),
      ];
      const noRest = [
        await api(hub, 'POST', '/mcp/nowherezq/prompts/nowherezq_ask', { token: token(), body: {} }),
        await api(hub, 'POST', '/resources/read', { token: token(), body: { uri: 'x://nowherezq/doc' } }),
      ];
      const heard = (asked()[index] ?? 0) - (before[index] ?? 0);
      if (isShown) {
        expect(
          answers.map(({ error }) => error),
          server,
        ).toEqual([undefined, undefined, undefined]);
        expect(heard).toBe(who === 'nobody' ? 3 : 5);
      } else {
        expect(heard, server).toBe(0);
        const granted = grant(who, server) === 'picked';
        const names = granted ? [`${server}_ask`, 'nowherezq_ask', server, 'nowherezq'] : [server, 'nowherezq'];
        const plain = (all: readonly { error: unknown }[]) =>
          without(JSON.stringify(all.map(({ error }) => error)), names);
        expect(plain(answers), server).toBe(plain(none));
        const bare = (all: ApiAnswer[]) => all.map(({ status, text }) => `${status} ${without(text, names)}`);
        expect(bare(rest), server).toEqual(bare(noRest));
      }
    }
  });
});

describe('the tool call', () => {
  test.each(known)('%s: of a hidden server or tool is that of none', async (_label, who, token) => {
    const expected = counts();
    const call = (server: string, toolName: string) =>
      api(hub, 'POST', `/tools/call/${server}`, { token: token(), body: { toolName } });
    for (const server of Object.keys(servers)) {
      const allowed = shownTools(who, server);
      for (const tool of toolsOf(server)) {
        const { status, text } = await call(server, tool);
        if (allowed.includes(`${server}/${tool}`)) {
          expect(status, text).toBe(200);
          expected[`${server}/${tool}`] = (expected[`${server}/${tool}`] ?? 0) + 1;
        } else {
          const ghost = allowed.length > 0 ? server : 'nowherezq';
          const none = await call(ghost, `${ghost}_gone`);
          const names = [server, tool, ghost, `${ghost}_gone`];
          expect([status, without(text, names)], text).toEqual([404, without(none.text, names)]);
        }
      }
    }
    expect(counts()).toEqual(expected);
  });
});

/** Where no answer comes from the database, one caller finds what would fail beside it. */
const managers = testDatabase() === 'embedded' ? known.slice(0, 1) : known;

describe('the management API', () => {
  test.each(managers)('%s: lists hold nothing that is hidden', async (_label, who, token) => {
    const get = (path: string) => api(hub, 'GET', path, { token: token() });
    const names = ({ body }: ApiAnswer) => (body.data as { name: string }[]).map(({ name }) => name).sort();
    const reached = Object.keys(servers).filter((server) => knows(who, server));
    const [ofServers, ofGroups] = [await get('/servers'), await get('/groups')];
    expect(names(ofServers)).toEqual([...reached].sort());
    expect(names(ofGroups)).toEqual(
      groups
        .filter((group) => seesGroup(who, group))
        .map(({ name }) => name)
        .sort(),
    );
    const paths = [
      '/settings',
      '/costs',
      '/costs?smart=true',
      '/openapi/servers',
      '/openapi/stats',
      '/openapi.json',
      '/openapi.yaml',
      `/openapi.json?servers=${Object.keys(servers).join(',')}`,
      '/docs/openapi.json',
      '/auth/user',
      '/auth/keys',
      '/users',
      '/users-stats',
      '/mcp-settings/export',
      '/mcp-settings/export?secrets=include',
    ];
    for (const path of paths) seesNone((await get(path)).text, who, path, 'to managers');
    for (const { text } of [ofServers, ofGroups]) seesNone(text, who, 'a list', 'to managers');
  });

  test.each(managers)('%s: what is hidden cannot be read one by one', async (_label, who, token) => {
    const ask = (method: string, path: string, body?: unknown) => api(hub, method, path, { token: token(), body });
    const same = async (method: string, path: (name: string) => string, name: string, body?: unknown) => {
      const [hidden, none] = [await ask(method, path(name), body), await ask(method, path('nowherezq'), body)];
      const plain = ({ status, text }: ApiAnswer) => `${status} ${without(text, [name, 'nowherezq'])}`;
      expect(plain(hidden), `${method} ${path(name)}`).toBe(plain(none));
      // Names that a caller typed are theirs to see again; no others are told.
      seesNone(without(hidden.text, [name]), who, path(name), 'to managers');
    };
    for (const server of Object.keys(servers)) {
      if (!knows(who, server)) {
        await same('GET', (name) => `/servers/${name}`, server);
        await same('PUT', (name) => `/servers/${name}`, server, { config: { url: 'https://example.org/mcp' } });
        await same('PUT', (name) => `/servers/${name}`, server, { description: 'mine' });
        await same('DELETE', (name) => `/servers/${name}`, server);
        await same('POST', (name) => `/servers/${name}/toggle`, server, { enabled: false });
        await same('POST', (name) => `/servers/${name}/reload`, server);
        await same('POST', (name) => `/servers/${name}/tools/${server}_open/toggle`, server, { enabled: false });
        await same('PUT', (name) => `/servers/${name}/tools/x/description`, server, { description: 'mine' });
        await same('POST', (name) => `/servers/${name}/oauth/authorize`, server);
        await same('POST', (name) => `/servers/${name}/oauth/disconnect`, server);
        await same('GET', (name) => `/mcp-settings/export?serverName=${name}`, server);
        await same('GET', (name) => `/hallgq/tools/${name}/x`, server);
        await same('GET', (name) => `/groups/hallgq/server-configs/${name}`, server);
        await same('PUT', (name) => `/groups/hallgq/server-configs/${name}/tools`, server, { tools: 'all' });
        await same('DELETE', (name) => `/groups/hallgq/servers/${name}`, server);
      } else {
        const { status, text } = await ask('GET', `/servers/${server}`);
        expect(status, text).toBe(200);
        seesNone(text, who, `/servers/${server}`, 'to managers');
      }
    }
    for (const group of groups) {
      for (const name of [group.id, group.name]) {
        if (seesGroup(who, group)) {
          for (const more of ['', '/servers', '/server-configs']) {
            const { status, text } = await ask('GET', `/groups/${name}${more}`);
            expect(status, text).toBe(200);
            seesNone(text, who, `/groups/${name}${more}`, 'to managers');
          }
          continue;
        }
        for (const more of ['', '/servers', '/server-configs', '/server-configs/commonszq']) {
          await same('GET', (which) => `/groups/${which}${more}`, name);
        }
        await same('PUT', (which) => `/groups/${which}`, name, { description: 'mine' });
        await same('DELETE', (which) => `/groups/${which}`, name);
        await same('POST', (which) => `/groups/${which}/servers`, name, { serverName: 'commonszq' });
        await same('PUT', (which) => `/groups/${which}/servers/batch`, name, { servers: ['commonszq'] });
        await same('DELETE', (which) => `/groups/${which}/servers/commonszq`, name);
        await same('PUT', (which) => `/groups/${which}/server-configs/commonszq/tools`, name, { tools: 'all' });
        await same('GET', (which) => `/openapi.json?group=${which}`, name);
      }
    }
  });

  test.each([['ann'], ['bob']] as const)('%s: a hidden server cannot be put into a group of one’s own', async (who) => {
    const token = tokens[who];
    const ask = (method: string, path: string, body: unknown) => api(hub, method, path, { token, body });
    const own = `own-${who}`;
    expect((await ask('POST', '/groups', { name: own })).status).toBe(201);
    const hidden = Object.keys(servers).filter((server) => grant(who, server) === 'none');
    expect(hidden.length).toBeGreaterThan(2);
    const ways = (name: string): [string, string, unknown][] => [
      ['POST', `/groups/${own}/servers`, { serverName: name }],
      ['PUT', `/groups/${own}/servers/batch`, { servers: [name] }],
      ['PUT', `/groups/${own}`, { servers: [{ name, tools: 'all' }] }],
      ['POST', '/groups', { name: `other-${who}`, servers: [name] }],
      ['PUT', `/groups/${own}/server-configs/${name}/tools`, { tools: 'all' }],
      ['POST', '/auth/keys', { name: 'k', accessType: 'servers', allowedServers: [name] }],
    ];
    for (const server of hidden) {
      const none = ways('nowherezq');
      for (const [index, way] of ways(server).entries()) {
        const [one, other] = [await ask(...way), await ask(...(none[index] ?? way))];
        expect(one.status, `${way[0]} ${way[1]}`).toBeGreaterThanOrEqual(400);
        const plain = ({ status, text }: ApiAnswer) => `${status} ${without(text, [server, 'nowherezq'])}`;
        expect(plain(one), `${way[0]} ${way[1]} ${server}`).toBe(plain(other));
        seesNone(without(one.text, [server]), who, way[1]);
      }
    }
    expect((await ask('GET', `/groups/${own}`, undefined)).body.data).toMatchObject({ servers: [] });
  });
});

describe('records', () => {
  test.each(known)('%s: logs tell of servers within reach', async (_label, who, token) => {
    const get = (query: string) => api(hub, 'GET', `/logs${query}`, { token: token() });
    seesNone((await get('?limit=10000')).text, who, '/logs', 'to managers');
    for (const server of Object.keys(servers)) {
      if (knows(who, server)) continue;
      for (const query of [`?service=server:${server}`, `?q=${server}`, `?q=${server.toUpperCase()}&level=debug`]) {
        const { status, body } = await get(query);
        expect([status, body.data], query).toEqual([200, []]);
      }
    }
    const events = await stream(`${hub.url}/api/logs/stream`, { headers: bearer(token()) });
    await until('the first event', () => events.events.length > 0);
    seesNone(JSON.stringify(events.events), who, '/logs/stream', 'to managers');
    events.close();
  });

  test('each user called something, and sees the calls that they made and no others', async () => {
    const all = (await api(hub, 'GET', '/activities?limit=100', { token: admin })).body.data as {
      id: string;
      username?: string;
    }[];
    for (const [label, who, token] of known) {
      if (who === 'admin') continue;
      const get = (path: string) => api(hub, 'GET', `/activities${path}`, { token: token() });
      const mine = await get('?limit=100');
      const entries = mine.body.data as { username: string; server: string; tool: string; status: string }[];
      // Who asks for what they cannot see finds what they asked for in the record of it, and nothing else.
      const reached = (data: unknown) => (data as typeof entries).filter(({ status }) => status !== 'refused');
      expect(entries.length, label).toBeGreaterThan(0);
      expect([...new Set(entries.map(({ username }) => username))]).toEqual([who]);
      seesNone(JSON.stringify(reached(entries)), who, '?limit=100');
      for (const path of ['/stats', '/filters', '/failures?status=error'])
        seesNone(JSON.stringify((await get(path)).body), who, path);
      const foreign = all.find(({ username }) => username !== who);
      const gone = '00000000-0000-4000-8000-000000000000';
      const [hidden, none] = [await get(`/${foreign?.id}`), await get(`/${gone}`)];
      expect(hidden.status).toBe(404);
      expect(without(hidden.text, [String(foreign?.id)])).toBe(without(none.text, [gone]));
      const other = who === 'ann' ? 'bob' : 'ann';
      for (const filter of [
        `username=${other}`,
        'username=admin',
        'server=vaultzq',
        'tool=vaultzq_open',
        'group=secretgq',
      ]) {
        const [some, stats] = [await get(`?${filter}&limit=100`), await get(`/stats?${filter}`)];
        const { totalCalls, successCount } = stats.body.data as { totalCalls: number; successCount: number };
        const { total } = some.body['pagination'] as { total: number };
        expect([reached(some.body.data), totalCalls, successCount], `${label} ${filter}`).toEqual([[], total, 0]);
      }
    }
  });

  test('no caller reads any of it without a credential', async () => {
    for (const path of [
      '/servers',
      '/groups',
      '/logs',
      '/logs/stream',
      '/activities',
      '/activities/failures',
      '/auth/second-factor',
      '/clients',
      '/costs',
      '/settings',
      '/mcp-settings/export',
    ]) {
      const { status, text } = await api(hub, 'GET', path);
      expect(status, path).toBe(401);
      seesNone(text, 'nobody', path);
    }
    seesNone((await raw(`${hub.url}/health`, { method: 'GET' })).text, 'nobody', '/health');
  });
});

describe('what else decides about calls holds on every surface', () => {
  const tool = 'commonszq_open';
  const own = {
    ...everywhere,
    'POST of the management API': managed,
    'a call of smart routing': smart,
    'a call in code mode': code,
  };
  /** Where the kinds of endpoints are tried: a new kind has to say which of these it is. */
  const triedAs: Record<Exclude<Scope['kind'], 'smart'> | '$smart' | '$code', string> = {
    all: bare,
    named: postOpenApi,
    server: 'POST of the management API',
    $smart: 'a call of smart routing',
    $code: 'a call in code mode',
  };

  function managed(token: string | undefined): Pick<Surface, 'call'> {
    return {
      async call(_, server, toolName) {
        const body = { toolName, arguments: {} };
        const { status, text } = await api(hub, 'POST', `/tools/call/${server}`, { token, body });
        return { isDone: status === 200, text: `${status} ${text}` };
      },
    };
  }

  function smart(token: string | undefined): Pick<Surface, 'call'> {
    return {
      async call(_, server, toolName) {
        const params = { name: 'call_tool', arguments: { toolName: `${server}-${toolName}`, arguments: {} } };
        return called(await rpc(hub.mcp('$smart'), 'tools/call', params, { headers: bearer(token) }));
      },
    };
  }

  function code(token: string | undefined): Pick<Surface, 'call'> {
    return {
      async call(_, server, toolName) {
        const params = { name: 'run_code', arguments: { code: `return await tools.${server}.${toolName}({});` } };
        return called(await rpc(hub.mcp('$code'), 'tools/call', params, { headers: bearer(token) }));
      },
    };
  }

  /** Every way to a prompt and a resource, of a server and of the hub itself. */
  type Item = 'prompt' | 'resource';
  const items: Record<string, (who: string, item: Item, isOwn: boolean) => Promise<{ isDone: boolean; text: string }>> =
    {
      'a session': async (who, item, isOwn) =>
        called(await (await session(hub.mcp(), { headers: bearer(tokens[who]) })).request(...asking(item, isOwn))),
      'no session': async (who, item, isOwn) =>
        called(await modern(hub.mcp(), ...asking(item, isOwn), { headers: bearer(tokens[who]) })),
      'event streams': async (who, item, isOwn) => {
        const open = await legacySession(hub.sse(), { headers: bearer(tokens[who]) });
        const { result, error } = await open.request(...asking(item, isOwn));
        return called({ status: 200, result, error, text: '' });
      },
      ...Object.fromEntries(
        ['', 'hallgq', '$smart', '$code', '$smart/hallgq', '$code/hallgq'].map((scope) => [
          `bare requests at "${scope}"`,
          async (who: string, item: Item, isOwn: boolean) =>
            called(await rpc(hub.mcp(scope), ...asking(item, isOwn), { headers: bearer(tokens[who]) })),
        ]),
      ),
      'POST /resources/read, POST /mcp/{serverName}/prompts/{promptName}': async (who, item, isOwn) => {
        const { status, text } =
          item === 'resource'
            ? await api(hub, 'POST', '/resources/read', { token: tokens[who], body: { uri: uriOf(isOwn) } })
            : await api(hub, 'POST', '/mcp/commonszq/prompts/commonszq_ask', { token: tokens[who], body: {} });
        return { isDone: status === 200, text: `${status} ${text}` };
      },
    };
  /** Which of them gave it; the others say `why` they did not. */
  const itemsDone = async (who: string, why = /^/) => {
    const done: string[] = [];
    for (const [name, get] of Object.entries(items))
      for (const item of ['prompt', 'resource'] as const)
        for (const isOwn of [false, true]) {
          // The route names a server, and the hub is none.
          if (isOwn && item === 'prompt' && name.includes('/prompts/')) continue;
          const { isDone, text } = await get(who, item, isOwn);
          if (isDone) done.push(`${name}: ${item} ${isOwn ? 'of the hub' : ''}`);
          else expect(text, `${who} ${name} ${item}`).toMatch(why);
        }
    return done;
  };
  const uriOf = (isOwn: boolean) => (isOwn ? 'own://doc' : 'x://commonszq/doc');
  const asking = (item: Item, isOwn: boolean): [method: string, params: Record<string, unknown>] =>
    item === 'prompt'
      ? ['prompts/get', { name: isOwn ? 'own_ask' : 'commonszq-commonszq_ask' }]
      : ['resources/read', { uri: uriOf(isOwn) }];
  /** What the management API tells of the hub's own. */
  const told = async (who: string) => {
    const answers: Record<string, boolean> = {};
    for (const [path, id] of [
      ['prompts', 'own-prompt'],
      ['resources', 'own-doc'],
    ]) {
      const list = await api(hub, 'GET', `/${path}`, { token: tokens[who] });
      answers[`GET /${path}`] = list.text.includes(`"${id}"`);
      answers[`GET /${path}/{id}`] = (await api(hub, 'GET', `/${path}/${id}`, { token: tokens[who] })).status === 200;
    }
    return answers;
  };

  test('what may be called, got or read over the management API is tried here, or says why it is not', async () => {
    const document = (await api(hub, 'GET', '/docs/openapi.json')).body as unknown as {
      paths: Record<string, Record<string, unknown>>;
    };
    const isAbout = (path: string) => /\/(tools?|prompts?|resources?|calls?|code|search)(\/|$)/.test(path);
    // What is below these two changes settings, and gives nothing of servers.
    const isManaging = (path: string) => path.startsWith('/servers/') || path.startsWith('/groups/');
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      isAbout(path) && !isManaging(path) ? Object.keys(methods).map((one) => `${one.toUpperCase()} ${path}`) : [],
    );
    const tries = [...Object.keys(items), ...Object.keys(await told('ann'))].flatMap((one) => one.split(', '));
    const elsewhere = {
      'in the lists of surfaces': [
        'POST /tools/call/{server}',
        'GET /tools/{serverName}/{toolName}',
        'POST /tools/{serverName}/{toolName}',
        'GET /{name}/tools/{serverName}/{toolName}',
        'POST /{name}/tools/{serverName}/{toolName}',
      ],
      'for admins': [
        'POST /prompts',
        'PUT /prompts/{id}',
        'DELETE /prompts/{id}',
        'POST /resources',
        'PUT /resources/{id}',
        'DELETE /resources/{id}',
        'POST /smart-routing/search',
      ],
    };
    const known = Object.values(elsewhere).flat();
    expect(routes.toSorted()).toEqual([...known, ...tries.filter((one) => /^[A-Z]+ \//.test(one))].toSorted());
    expect(Object.values(triedAs).filter((surface) => !(surface in own))).toEqual([]);
  });

  async function change(path: string, body: object, method = 'PUT'): Promise<void> {
    const answer = await api(hub, method, path, { token: admin, body });
    expect(answer.status, answer.text).toBe(200);
  }

  const heard = () => backends['commonszq']?.received('tools/call').length ?? 0;
  const refusals = async (who: string) => {
    const before = heard();
    const said: [string, boolean, string][] = [];
    for (const [name, surface] of Object.entries(own)) {
      const { isDone, text } = await surface(tokens[who]).call('', 'commonszq', tool);
      said.push([name, isDone, text]);
    }
    return { said, calls: heard() - before };
  };

  test('a policy, for a user, and for the user by a key and an app', async () => {
    const text = (server: string) =>
      `@message("governed") forbid(principal == User::"ann", action, resource in Server::"${server}");`;
    const policies = ['commonszq', '$hub'].map((server) => ({ id: server.replace('$', ''), text: text(server) }));
    await change('/system-config', { policies });
    for (const who of ['ann', 'annKey', 'app']) {
      const { said, calls } = await refusals(who);
      for (const [name, isDone, text] of said) {
        expect(isDone, `${who} ${name} ${text}`).toBe(false);
        expect(text, `${who} ${name}`).toContain('governed');
      }
      expect(calls).toBe(0);
    }
    for (const who of ['ann', 'annKey']) expect(await itemsDone(who, /governed/), who).toEqual([]);
    // Clients that users let in have no prompts and resources over the management API.
    expect(await itemsDone('app', /governed|^401/)).toEqual([]);
    expect(Object.values(await told('ann'))).toEqual([false, false, false, false]);
    expect(Object.values(await told('annKey'))).not.toContain(true);
    expect(Object.values(await told('bob'))).toEqual([true, true, true, true]);
    expect(await itemsDone('bob')).toHaveLength(4 * Object.keys(items).length - 1);
    expect((await refusals('bob')).said.every(([, isDone]) => isDone)).toBe(true);
    await change('/system-config', { policies: null });
  });

  test('a pin: what was rejected answers as what does not exist', async () => {
    const pinned = [
      { kind: 'tool', name: tool },
      { kind: 'prompt', name: 'commonszq_ask' },
      { kind: 'resource', name: 'x://commonszq/doc' },
    ];
    await change('/pins/commonszq/reject', { items: pinned }, 'POST');
    for (const who of ['ann', 'bob']) {
      const { said, calls } = await refusals(who);
      for (const [name, isDone, text] of said) {
        expect(isDone, `${who} ${name} ${text}`).toBe(false);
        expect(text, `${who} ${name}`).toMatch(/unknown|not found|There is no|no tool/i);
      }
      expect(calls).toBe(0);
    }
    for (const [name, surface] of Object.entries(everywhere))
      expect((await surface(tokens['bob']).list('')).tools, name).not.toContain(`commonszq/${tool}`);
    // The hub's own have no pins.
    expect((await itemsDone('bob')).filter((done) => !done.endsWith('of the hub'))).toEqual([]);
    const asked = { headers: bearer(tokens['bob']) };
    const prompt = await rpc(hub.mcp(), 'prompts/get', { name: 'commonszq-commonszq_ask' }, asked);
    const resource = await rpc(hub.mcp(), 'resources/read', { uri: 'x://commonszq/doc' }, asked);
    expect([prompt.error?.code, resource.error?.code]).toEqual([-32602, -32002]);
    await change('/pins/commonszq/approve', { items: pinned }, 'POST');
    expect((await refusals('bob')).said.every(([, isDone]) => isDone)).toBe(true);
  });

  test('a limit: one call of all surfaces together', async () => {
    await change('/users/ann', { limits: { callsPerDay: 1 } });
    const { said, calls } = await refusals('ann');
    expect(said.filter(([, isDone]) => isDone)).toHaveLength(1);
    for (const [name, isDone, text] of said) if (!isDone) expect(text, name).toMatch(/-32005|429|may make 1 calls/);
    expect(calls).toBe(1);
    await change('/users/ann', { limits: null });
    expect((await refusals('ann')).said.every(([, isDone]) => isDone)).toBe(true);
  });

  test('guards, of calls and of results: of tools, prompts, resources and completions', async () => {
    const asked: Record<string, unknown>[] = [];
    const guard = await scriptedHttp(({ message }, response) => {
      asked.push({ ...message });
      const { server, on } = message as { server?: string; on?: string };
      json(response, server === 'commonszq' ? { decision: 'refuse', message: `held ${on}` } : { decision: 'allow' });
    });
    for (const on of ['call', 'result']) {
      await change('/system-config', { guards: [{ url: guard.origin, on: [on], timeoutMs: 30_000 }] });
      for (const who of ['ann', 'app']) {
        asked.splice(0);
        const { said, calls } = await refusals(who);
        for (const [name, isDone, text] of said) {
          expect(isDone, `${who} ${name} ${text}`).toBe(false);
          expect(text, `${who} ${name}`).toMatch(new RegExp(`(-32001|403|"error":).*held ${on}`));
        }
        expect(calls).toBe(on === 'call' ? 0 : said.length);
        expect(asked).toHaveLength(said.length);
        for (const question of asked) expect(question).toMatchObject({ on, server: 'commonszq', name: tool });
      }
      const ref = { type: 'ref/prompt', name: 'commonszq-commonszq_ask' };
      const others: [string, Record<string, unknown>][] = [
        ['prompts/get', { name: 'commonszq-commonszq_ask' }],
        ['resources/read', { uri: 'x://commonszq/doc' }],
        ['completion/complete', { ref, argument: { name: 'a', value: 'b' } }],
      ];
      for (const [method, params] of others)
        for (const ask of [rpc, modern]) {
          const { error } = await ask(hub.mcp(), method, params, { headers: bearer(tokens['ann']) });
          expect(error, method).toMatchObject({ code: -32001, message: `held ${on}`, data: { reason: 'guard' } });
        }
    }
    await change('/system-config', { guards: null });
    expect((await refusals('ann')).said.every(([, isDone]) => isDone)).toBe(true);
  });
});
