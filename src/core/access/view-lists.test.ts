import { describe, expect, test } from 'vitest';
import type { Offer } from '../catalogue.ts';
import type { OwnItems } from '../settings/own-items.ts';
import type { ServerSettings } from '../settings/server.ts';
import type { Settings } from '../settings/settings.ts';
import { catalogue, entry, group, item, offer, server, settings } from '../../../test/kit/snapshots.ts';
import type { Principal } from './principal.ts';
import type { Scope } from './scope.ts';
import { view } from './view.ts';

// What the lists of a view have, and where names lead.

const anonymous: Principal = { kind: 'anonymous' };
const all: Scope = { kind: 'all' };
const named = (name: string): Scope => ({ kind: 'named', name });
const smart = (group?: string): Scope => ({ kind: 'smart', group });
const code = (group?: string): Scope => ({ kind: 'smart', group, code: true });

const seen = (world: Settings, offers: readonly Offer[], scope: Scope = all) =>
  view(world, catalogue(...offers), anonymous, scope);
const names = (texts: Iterable<string>) => [...texts].map((text) => (JSON.parse(text) as { name: string }).name);
const forApps = (name: string) => item(name, 'name', { _meta: { ui: { visibility: ['app'] } } });

describe('a view', () => {
  const world = settings({ servers: [server('a'), server('asleep')], groups: [group('g', [entry('a')])] });
  const a = offer('a', ['t']);

  test('says what its scope is, and names servers that offer nothing', () => {
    const about = (scope: Scope) => {
      const { kind, servers, single } = seen(world, [a], scope);
      return [kind, servers, single];
    };
    expect(about(all)).toEqual(['all', ['a', 'asleep'], undefined]);
    expect(about(named('g'))).toEqual(['group', ['a'], undefined]);
    expect(about(named('a'))).toEqual(['server', ['a'], a.about]);
    expect(about(named('asleep'))).toEqual(['server', ['asleep'], undefined]);
    expect(about(named('none'))).toEqual(['nothing', [], undefined]);
  });

  test('has prompts, resources and templates, and finds them', () => {
    const more = {
      prompts: [item('p')],
      resources: [item('x://1', 'uri', {})],
      templates: [item('x://{id}', 'uriTemplate', {})],
    };
    const one = seen(world, [offer('a', ['t'], more)]);
    const { lists } = one;
    expect(names(lists.prompts.texts)).toEqual(['a-p']);
    expect([[...lists.resources.texts], [...lists.templates.texts]]).toEqual([
      ['{"uri":"x://1"}'],
      ['{"uriTemplate":"x://{id}"}'],
    ]);
    expect([one.prompt('a-p'), one.prompt('x')]).toEqual([{ server: 'a', key: 'p' }, undefined]);
    expect(one.template('x://{id}')).toEqual({ server: 'a', key: 'x://{id}' });
  });

  test('gives a name to the server whose prefix is longer, whether or not it is seen', () => {
    const offers = [offer('a', ['b-t'])];
    const [first] = names(
      seen(settings({ servers: [server('a'), server('a-b', { enabled: false })] }), offers).lists.tools.texts,
    );
    expect(first).toMatch(/^a-b-t_[0-9a-f]{8}$/);
    const groups = [group('g', [entry('a'), entry('c', { alias: 'a-b' })])];
    const grouped = settings({ servers: [server('a'), server('c')], groups });
    expect(names(seen(grouped, offers, named('g')).lists.tools.texts)).toEqual([first]);
    expect(names(seen(grouped, offers).lists.tools.texts)).toEqual(['a-b-t']);
  });

  test('lists tools for apps alone only for clients that show apps', () => {
    const one = seen(world, [offer('a', [], { tools: [item('t'), forApps('u')] })]);
    const { lists, forApps: apps, all: every } = one;
    expect(names(lists.tools.texts)).toEqual(['a-t']);
    expect(names(apps?.texts ?? [])).toEqual(['a-t', 'a-u']);
    expect(names(every.texts)).toEqual(['a-t', 'a-u']);
    expect(one.tool('a-u')).toEqual({ server: 'a', key: 'u' });
    expect(seen(world, [a]).forApps).toBeUndefined();
  });
});

describe('what the hub itself offers', () => {
  const own: OwnItems = {
    prompts: ['a-p', 'p'].map((name) => ({ name, title: undefined, description: 'own', template: '', arguments: [] })),
    resources: [{ uri: 'x://1', name: 'one', description: undefined, mimeType: 'text/plain', content: '' }],
  };
  const world = { ...settings({ servers: [server('a')] }), own };
  const offers = [offer('a', [], { prompts: [item('p'), item('q')], resources: [item('x://1', 'uri', {})] })];

  test('comes first, and no server takes its place', () => {
    const one = seen(world, offers);
    const { lists } = one;
    expect(lists.prompts.targets.map(({ server }) => server)).toEqual(['$hub', '$hub', 'a', 'a']);
    expect(names(lists.prompts.texts).slice(0, 2)).toEqual(['a-p', 'p']);
    expect(one.prompt('a-p')).toEqual({ server: '$hub', key: 'a-p' });
    expect(one.resource('x://1')).toEqual({ server: '$hub', key: 'x://1' });
    expect(lists.resources.texts).toHaveLength(1);
  });

  test('comes last on the endpoint of a server, which is shown as itself', () => {
    const one = seen(world, offers, named('a'));
    const { lists } = one;
    expect(names(lists.prompts.texts)).toEqual(['p', 'q', 'a-p']);
    expect(one.prompt('p')).toEqual({ server: 'a', key: 'p' });
    expect(one.resource('x://1')).toEqual({ server: 'a', key: 'x://1' });
  });

  test('is nowhere where nothing is seen, nor where there is none', () => {
    const nothing = seen(world, offers, named('none')).lists;
    expect([[...nothing.prompts.texts], [...nothing.resources.texts]]).toEqual([[], []]);
    const plain = seen(settings({ servers: [server('a')] }), [offer('a', [])]).lists;
    expect([[...plain.prompts.texts], [...plain.resources.texts]]).toEqual([[], []]);
  });

  test('has a tool that reads on in results where these have a limit', () => {
    const tools = (more: Partial<Settings['system']>, limited: Partial<ServerSettings> = {}, scope: Scope = all) => {
      const plain = settings({
        servers: [server('a', limited)],
        groups: [group('g', [entry('a')], { maxResultTokens: 9 })],
      });
      return names(
        seen({ ...plain, system: { ...plain.system, ...more } }, [offer('a', ['t'])], scope).lists.tools.texts,
      );
    };
    expect(tools({})).toEqual(['a-t']);
    expect(tools({ maxResultTokens: 9 })).toEqual(['a-t', 'read_result']);
    expect(tools({}, { maxResultTokens: 9 })).toEqual(['a-t', 'read_result']);
    expect(tools({}, {}, named('g'))).toEqual(['a-t', 'read_result']);
    expect(tools({ maxResultTokens: 9 }, {}, named('a'))).toEqual(['t', 'read_result']);
    expect(tools({ maxResultTokens: 9 }, {}, named('none'))).toEqual([]);
    expect(tools({ maxResultTokens: 9 }, {}, smart())).toEqual(['search_tools', 'call_tool', 'read_result']);
    expect(tools({}, {}, smart())).toEqual(['search_tools', 'call_tool']);
    const limited = settings({ servers: [server('a', { maxResultTokens: 9 })] });
    expect(seen(limited, [offer('a', [])]).tool('read_result')).toEqual({ server: '$hub', key: 'read_result' });
  });
});

describe('a smart endpoint', () => {
  const world = settings({
    servers: [server('a', { description: 'about a' }), server('b'), server('c')],
    groups: [group('g', [entry('a', { pinnedTools: ['t', 'call_tool'] })])],
  });
  const instructed = { info: '{}', instructions: 'about b', capabilities: [], protocolVersion: '' };
  const offers = [
    offer('a', [], { tools: [forApps('u'), item('s'), item('t'), item('call_tool')] }),
    offer('b', [], { about: instructed }),
  ];
  const withSystem = (more: Partial<Settings['system']>): Settings => ({
    ...world,
    system: { ...world.system, ...more },
  });

  test('has few tools of its own, and searches, describes and calls the others', () => {
    const one = seen(world, offers, smart());
    const { smart: found, lists, kind } = one;
    expect(kind).toBe('all');
    expect([found?.progressive, found?.code]).toEqual([false, false]);
    expect(lists.tools.targets).toEqual([]);
    expect(names(found?.tools.texts ?? [])).toEqual(['a-s', 'a-t', 'a-call_tool']);
    expect(found?.indexOf('a-t')).toBe(1);
    expect([found?.indexOf('a-u'), found?.indexOf('none')]).toEqual([undefined, undefined]);
    expect(one.tool('a-u')).toEqual({ server: 'a', key: 'u' });
    expect(found?.isPinned('a-t')).toBe(false);
    expect(seen(world, offers).smart).toBeUndefined();
  });

  test('discloses tools step by step where that is wanted, but not for code', () => {
    const steps = (more: Partial<Settings['system']>, scope: Scope) => {
      const { smart: found, lists } = seen(withSystem(more), offers, scope);
      return [found?.progressive, found?.code, ...names(lists.tools.texts)];
    };
    expect(steps({ progressiveDisclosure: true }, smart())).toEqual([
      true,
      false,
      'search_tools',
      'describe_tool',
      'call_tool',
    ]);
    expect(steps({ progressiveDisclosure: false }, smart())).toEqual([false, false, 'search_tools', 'call_tool']);
    expect(steps({ progressiveDisclosure: true }, code())).toEqual([false, true, 'search_tools', 'run_code']);
  });

  test('says of which group it is, and what its servers are for where that is wanted', () => {
    const text = (more: Partial<Settings['system']>, scope: Scope) => {
      const { description } = JSON.parse(seen(withSystem(more), offers, scope).lists.tools.texts.at(0) ?? '') as {
        description: string;
      };
      return description;
    };
    expect(text({}, smart())).toMatch(/all available servers.* Servers: a, b, c\.$/);
    expect(text({}, smart('g'))).toMatch(/group "g".* Servers: a\.$/);
    expect(text({ serverDescriptionMode: 'full' }, smart())).toMatch(/\n- a: about a\n- b: about b\n- c$/);
    expect(text({ serverDescriptionMode: 'names' }, smart())).toMatch(/ Servers: a, b, c\.$/);
  });

  test('pins by the names that it lists, and never by those of its own tools', () => {
    const { smart: found, lists } = seen(world, offers, smart('g'));
    expect(names(lists.tools.texts)).toEqual(['search_tools', 'call_tool', 'a-t', 'a-call_tool']);
    // Where one server is shown, its tools are understood by their own names too.
    expect(['a-t', 't', 'a-call_tool', 'call_tool', 's', 'none'].map((name) => found?.isPinned(name))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('a name of a server that was never listed, for no user has set what is theirs', () => {
  const alone = { credentialTemplate: [{ target: 'env', name: 'TOKEN' }] } as const;
  const servers = [server('a-b', alone), server('a', alone), server('c')];
  const c = offer('c', ['t']);
  const find = (name: string, offers: readonly Offer[] = [c], scope: Scope = all) =>
    seen(settings({ servers, groups: [group('g', [entry('a', { alias: 'short' })])] }), offers, scope).unlisted?.(name);

  test('leads to the server whose prefix it has, the longest', () => {
    expect(find('a-t')).toEqual({ server: 'a', key: 't' });
    expect(find('a-b-t')).toEqual({ server: 'a-b', key: 't' });
    const inOrder = settings({ servers: servers.toReversed() });
    expect(seen(inOrder, [c]).unlisted?.('a-b-t')).toEqual({ server: 'a-b', key: 't' });
    expect(find('a-bt')).toEqual({ server: 'a', key: 'bt' });
    expect(find('a')).toBeUndefined();
    expect(find('t')).toBeUndefined();
    expect(find('short-t', [c], named('g'))).toEqual({ server: 'a', key: 't' });
  });

  test('leads nowhere where that server is listed, or is for all', () => {
    expect(find('c-t')).toBeUndefined();
    expect(find('a-b-t', [c, offer('a-b', [])])).toBeUndefined();
    expect(find('a-t', [c, offer('a-b', [])])).toEqual({ server: 'a', key: 't' });
  });

  test('may be the own name of a tool where one server is seen', () => {
    expect(find('t', [], named('a'))).toEqual({ server: 'a', key: 't' });
    expect(find('a-t', [], named('a'))).toEqual({ server: 'a', key: 't' });
    expect(find('t', [], named('g'))).toEqual({ server: 'a', key: 't' });
  });

  test('leads to a server for all too, after a change of its settings has started it again', () => {
    const now = { version: 1, offers: new Map(), restarted: new Set(['c']) };
    const found = view(settings({ servers }), now, anonymous, all).unlisted;
    expect(found?.('c-t')).toEqual({ server: 'c', key: 't' });
    expect(view(settings({ servers: [server('c')] }), { ...now, restarted: new Set() }, anonymous, all).unlisted).toBe(
      undefined,
    );
  });

  test('is not looked for where every such server is listed', () => {
    const unlisted = (offers: readonly Offer[], scope: Scope = all) =>
      seen(settings({ servers }), offers, scope).unlisted;
    expect(unlisted([offer('a', []), offer('a-b', [])])).toBeUndefined();
    expect(unlisted([offer('a', [])])).toBeDefined();
    expect(unlisted([], named('c'))).toBeUndefined();
    expect(unlisted([], named('none'))).toBeUndefined();
  });
});

test('a view names those of its servers that a change of their settings has started again', () => {
  const servers = [server('a'), server('c'), server('hidden', { visibility: 'private', owner: 'ann' })];
  const restarting = (...restarted: string[]) =>
    view(settings({ servers }), { version: 1, offers: new Map(), restarted: new Set(restarted) }, anonymous, all)
      .restarting;
  expect(restarting('c', 'hidden')).toEqual(new Set(['c']));
  expect(restarting('hidden')).toBeUndefined();
  expect(seen(settings({ servers }), []).restarting).toBeUndefined();
});
