import { hash } from '@node-rs/argon2';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, keyToken, login } from '../kit/api.ts';
import type { Hostile } from '../kit/hostile.ts';
import { type AnyResult, rpc } from '../kit/raw.ts';
import { searchReady } from '../kit/search-ready.ts';
import { legacySession, modern, session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import {
  grant,
  groups,
  seesNone,
  servers,
  shownTools,
  toolsOf,
  twoUsers,
  type Who,
  without,
} from '../kit/two-users.ts';

// Two users and all others on smart routing (CONTRACT §2, §6): what one may not see is in no text, result, count,
// score or error.

const password = 'one password for all';
/** The standard one last: the tests behind need it. */
const modes = ['progressive', 'standard'] as const;

interface World {
  readonly hub: TestHub;
  readonly backends: Record<string, Hostile>;
  readonly tokens: Record<string, string>;
}
let whole: World;

/** A hub with everything, or with only the servers named. Every group pins all that it has. */
async function world(only?: (server: string) => boolean): Promise<World> {
  const { settings, backends } = await twoUsers(await hash(password), only);
  const pinned = (settings.groups ?? []).map((group) => ({
    ...group,
    servers: (group['servers'] as { name: string }[]).map((one) => ({ ...one, pinnedTools: toolsOf(one.name) })),
  }));
  const systemConfig = { smartRouting: { serverDescriptionMode: 'full' }, codeMode: { calls: 200 } };
  const hub = await testHub({ ...settings, groups: pinned, systemConfig });
  await hub.connected(Object.keys(backends).length);
  const tokens: Record<string, string> = { admin: await login(hub, 'admin', password) };
  for (const name of ['ann', 'bob']) {
    const token = await login(hub, name, password);
    Object.assign(tokens, { [name]: token, [`${name}'s key`]: await keyToken(hub, token) });
  }
  tokens['reader'] = await keyToken(hub, tokens['ann'] ?? '', { readOnly: true });
  await searchReady(hub, tokens['admin'] ?? '');
  return { hub, backends, tokens };
}

beforeAll(async () => {
  whole = await world();
});

const principals: [label: string, who: Who][] = [
  ['ann', 'ann'],
  ['bob', 'bob'],
  ["ann's key", 'ann'],
  ["bob's key", 'bob'],
  ['nobody', 'nobody'],
  ['admin', 'admin'],
];
const nobodys = 'nobodysgq';
const scopes = ['', ...groups.flatMap(({ id, name }) => [id, name]), 'commonszq', 'vaultzq', nobodys];
const calledScopes = ['', ...groups.map(({ name }) => name), 'commonszq', nobodys];
const bare = 'bare requests';
/** One that is everything, one that some see, one that only the admin does, and none. */
const ofEachKind = new Set(['', 'hallgq', 'secretgq', nobodys]);
/**
 * How tools are reached is decided behind all surfaces, in one place: bare requests do so by each way, in each mode and
 * scope; the others call in each mode, and describe, in a scope of each kind. What they list and find is compared in
 * every scope.
 */
function verbsAt(mode: (typeof modes)[number], surface: string, scope: string): string[] {
  if (surface !== bare && !ofEachKind.has(scope)) return [];
  return mode === 'progressive' ? ['call_tool', 'describe_tool'] : ['call_tool'];
}
/** What may be found is decided behind all surfaces: bare requests search by each word, others once for all tools. */
const queriesAt = (surface: string) => (surface === bare ? ['open', 'picked', 'off'] : ['open picked off']);
/**
 * The credential is checked before the surface is known. So each surface but bare requests makes calls with one of the
 * two credentials of each user, and a single one with the other.
 */
const callsOnce = (surface: string, label: string) => surface !== bare && ['bob', "ann's key"].includes(label);
const allTools = Object.keys(servers).flatMap((server, place) =>
  toolsOf(server).map((tool) => ({ place, server, tool })),
);
/** `$smart/{group}` is about groups: a server's name there is that of no group. */
const found = (who: Who, scope: string) => (scope in servers ? [] : shownTools(who, scope));

interface Answer {
  readonly result: AnyResult | undefined;
  readonly text: string;
}
type Surface = (scope: string, method: string, params: Record<string, unknown>) => Promise<Answer>;

const smart = (scope: string) => (scope === '' ? '$smart' : `$smart/${scope}`);
const surfaces: Record<string, (hub: TestHub, token: string | undefined) => Surface> = {
  'a session': (hub, token) => {
    const at = opener((scope) => session(hub.mcp(smart(scope)), { headers: bearer(token) }));
    return async (scope, method, params) => answered(await (await at(scope)).request(method, params));
  },
  'no session': (hub, token) => async (scope, method, params) =>
    answered(await modern(hub.mcp(smart(scope)), method, params, { headers: bearer(token) })),
  [bare]: (hub, token) => async (scope, method, params) =>
    answered(await rpc(hub.mcp(smart(scope)), method, params, { headers: bearer(token) })),
  'event streams': (hub, token) => {
    const at = opener((scope) => legacySession(hub.sse(smart(scope)), { headers: bearer(token) }));
    return async (scope, method, params) => answered(await (await at(scope)).request(method, params));
  },
};

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** Opens each scope once. */
function opener<T>(open: (scope: string) => Promise<T>): (scope: string) => Promise<T> {
  const opened = new Map<string, Promise<T>>();
  return (scope) => {
    const one = opened.get(scope) ?? open(scope);
    opened.set(scope, one);
    return one;
  };
}

function answered({ result, error }: { result?: AnyResult | undefined; error?: unknown }): Answer {
  return { result, text: JSON.stringify(result ?? error) };
}

const plainNames = (names: readonly string[] | undefined) => (names ?? []).map((name) => name.replace('-', '/')).sort();
const call = (surface: Surface, scope: string, name: string, args: unknown) =>
  surface(scope, 'tools/call', { name, arguments: args });

describe.each(modes)('%s', (mode) => {
  beforeAll(async () => {
    const body = { smartRouting: { progressiveDisclosure: mode === 'progressive' } };
    const { status, text } = await api(whole.hub, 'PUT', '/system-config', { token: whole.tokens['admin'], body });
    expect(status, text).toBe(200);
  });
  const own = mode === 'standard' ? ['search_tools', 'call_tool'] : ['search_tools', 'describe_tool', 'call_tool'];
  const of = (surface: string, label: string) => surfaces[surface]?.(whole.hub, whole.tokens[label]) ?? expect.fail();

  describe.each(Object.keys(surfaces))('%s', (name) => {
    test.each([...principals, ['reader', 'reader'] as [string, Who]])(
      '%s: lists, and finds in every scope, what may be seen and nothing else',
      async (label, who) => {
        const surface = of(name, label);
        await Promise.all(
          scopes.map(async (scope) => {
            const list = await surface(scope, 'tools/list', {});
            const listed = list.result?.tools?.map((tool) => tool.name);
            expect(listed?.slice(0, own.length)).toEqual(own);
            expect(plainNames(listed?.slice(own.length)), `pins of ${scope}`).toEqual(
              scope === '' ? [] : found(who, scope),
            );
            seesNone(without(list.text, [scope]), who, `the list of ${scope}`);
            const results = new Set<string>();
            for (const query of queriesAt(name)) {
              const { result, text } = await call(surface, scope, 'search_tools', { query, limit: 100 });
              const content = result?.structuredContent as {
                tools: { name: string }[];
                metadata: { totalResults: number };
              };
              for (const one of content.tools) results.add(one.name);
              expect(content.metadata.totalResults).toBe(content.tools.length);
              seesNone(without(text, [scope]), who, `a search in ${scope}`);
            }
            expect(plainNames([...results]), `search in ${scope}`).toEqual(found(who, scope));
          }),
        );
      },
    );

    test.each(principals)(
      '%s: what is not found is not run or described, nor told from what does not exist',
      async (label, who) => {
        const surface = of(name, label);
        const counts = () => Object.values(whole.backends).map((one) => one.received('tools/call').length);
        const expected = counts();
        const isAllowedIn = (scope: string, { server, tool }: (typeof allTools)[number]) =>
          found(who, scope).includes(`${server}/${tool}`);
        const once = allTools.find((one) => isAllowedIn('', one));
        const [inScopes, tried] = callsOnce(name, label) && once ? [[''], [once]] : [calledScopes, allTools];
        for (const scope of inScopes) {
          for (const verb of verbsAt(mode, name, scope)) {
            const ghost = await call(surface, scope, verb, { toolName: 'nowherezq-nowherezq_gone' });
            for (const one of tried) {
              const { place, server, tool } = one;
              const where = `${verb} ${scope} ${server}/${tool}`;
              const { result, text } = await call(surface, scope, verb, { toolName: `${server}-${tool}` });
              const isAllowed = isAllowedIn(scope, one);
              expect(result?.isError !== true, where).toBe(isAllowed);
              if (isAllowed && verb === 'call_tool') expected[place] = (expected[place] ?? 0) + 1;
              if (!isAllowed)
                expect(without(text, [`${server}-${tool}`])).toBe(without(ghost.text, ['nowherezq-nowherezq_gone']));
            }
          }
        }
        expect(counts()).toEqual(expected);
      },
    );
  });
});

test.each([['ann'], ['bob'], ['nobody']] as const)(
  '%s: every score, count and order is that of a hub which has nothing else',
  async (who) => {
    const less = await world((server) => grant(who, server) !== 'none');
    const hidden = Object.keys(servers).filter((server) => grant(who, server) === 'none');
    expect(hidden.length).toBeGreaterThan(1);
    const queries = [...Object.keys(servers), 'open', 'How to use the vault?', 'vaultzq_open bobszq_picked annszq off'];
    const [here, there] = [whole, less].map(({ hub, tokens }) => surfaces['no session']?.(hub, tokens[who]));
    for (const scope of ['', ...groups.map(({ name }) => name)]) {
      for (const query of queries) {
        const ask = (surface: Surface | undefined) =>
          call(surface ?? expect.fail(), scope, 'search_tools', { query, limit: 100, context: 'vaultzq and bobszq' });
        expect((await ask(here)).text, `${query} in ${scope}`).toBe((await ask(there)).text);
      }
    }
  },
);

test.each([['ann'], ['bob']] as const)(
  '%s: the records of the searches are their own, and name nothing hidden',
  async (who) => {
    const { hub, tokens } = whole;
    await call(surfaces[bare]?.(hub, tokens[who]) ?? expect.fail(), '', 'search_tools', { query: 'open' });
    const get = (path: string) => api(hub, 'GET', `/activities${path}`, { token: tokens[who] });
    const records = (await get('?kind=search&limit=100')).body.data as Record<string, unknown>[];
    expect(new Set(records.map(({ username }) => username))).toEqual(new Set([who]));
    for (const { query: _typed, scope: _path, ...told } of records) seesNone(JSON.stringify(told), who, 'a record');
    expect((await get('/stats')).body.data).toMatchObject({ search: { searches: expect.any(Number) as number } });
    const [foreign] = (
      await api(hub, 'GET', `/activities?kind=search&username=${who === 'ann' ? 'bob' : 'ann'}`, {
        token: tokens['admin'],
      })
    ).body.data as { id: string; searchId: string }[];
    expect((await get(`/${foreign?.id}`)).status).toBe(404);
    expect((await get(`?searchId=${foreign?.searchId}`)).body.data).toEqual([]);
  },
);

test.each([...principals, ['reader', 'reader'] as [string, Who]])(
  '%s: code calls what its sender may call in its scope, and finds nothing else',
  async (label, who) => {
    const { hub, tokens } = whole;
    const all = Object.keys(servers).flatMap((server) => toolsOf(server).map((tool) => [server, tool]));
    const code = `const called = [];
      for (const [server, tool] of ${JSON.stringify(all)}) {
        try { await tools[server][tool]({}); called.push(server + '/' + tool); }
        catch (error) { if (!error.message.startsWith('There is no tool')) throw error; }
      }
      return called;`;
    // A user's login and key are one principal: one of the two is tried in each kind of scope.
    for (const scope of ['bob', "ann's key"].includes(label) ? [''] : ofEachKind) {
      const path = scope === '' ? '$code' : `$code/${scope}`;
      const asked = { name: 'run_code', arguments: { code } };
      const { result } = await rpc(hub.mcp(path), 'tools/call', asked, { headers: bearer(tokens[label]) });
      expect(result?.structuredContent, path).toMatchObject({ result: expect.any(Array) as unknown });
      const called = result?.structuredContent?.['result'] as string[];
      expect(called.toSorted(), path).toEqual(found(who, scope).toSorted());
    }
  },
);
