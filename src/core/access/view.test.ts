import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Principal } from './principal.ts';
import type { Scope } from './scope.ts';
import { catalogue, entry, group, item, key, offer, server, settings, user } from '../../../test/kit/snapshots.ts';
import { changedKinds, createViews, view } from './view.ts';

const anonymous: Principal = { kind: 'anonymous' };
const all: Scope = { kind: 'all' };
const named = (name: string): Scope => ({ kind: 'named', name });

const listed = (texts: Iterable<string>) => [...texts].map((text) => (JSON.parse(text) as { name: string }).name);

test('every listed name leads back to the tool it stands for, and no two are alike', () => {
  const name = fc.oneof(fc.string({ minLength: 1, maxLength: 80 }), fc.stringMatching(/^[ab]{1,2}(-[ab]{1,2}){0,2}$/));
  const world = fc.uniqueArray(
    fc.tuple(fc.stringMatching(/^[ab]{1,2}(-[ab]{1,2}){0,2}$/), fc.uniqueArray(name, { maxLength: 5 })),
    {
      selector: ([server]) => server,
      maxLength: 4,
    },
  );
  fc.assert(
    fc.property(world, (servers) => {
      const offers = servers.map(([server, tools]) => offer(server, tools));
      const seen = view(
        settings({ servers: servers.map(([name]) => server(name)) }),
        catalogue(...offers),
        anonymous,
        all,
      );
      const names = listed(seen.lists.tools.texts);
      expect(new Set(names).size).toBe(names.length);
      expect(names.map((exposed) => seen.tool(exposed))).toEqual(
        servers.flatMap(([server, tools]) => tools.map((key) => ({ server, key }))),
      );
    }),
  );
});

describe('a server of its own', () => {
  const shown = () =>
    view(settings({ servers: [server('s')] }), catalogue(offer('s', ['x', 's-x'])), anonymous, named('s'));

  test('shows its own names and understands the prefixed ones', () => {
    const seen = shown();
    expect(listed(seen.lists.tools.texts)).toEqual(['x', 's-x']);
    expect(seen.tool('s-s-x')).toEqual({ server: 's', key: 's-x' });
  });

  test('reads a name that could be both as its own', () => {
    expect(shown().tool('s-x')).toEqual({ server: 's', key: 's-x' });
  });
});

test('a key that only reads sees the tools that say so, where the operator says nothing else', () => {
  const said = (readOnlyHint: boolean) => ({
    enabled: true,
    description: undefined,
    override: { annotations: { readOnlyHint } },
  });
  const reads = (name: string) => item(name, 'name', { annotations: { readOnlyHint: true } });
  const servers = [
    server('s', { tools: new Map([['b', said(false)]]) }),
    server('w', { tools: new Map([['d', said(true)]]) }),
  ];
  const offers = catalogue(offer('s', [], { tools: [reads('a'), reads('b')] }), offer('w', ['c', 'd']));
  const world = settings({ servers, keys: [key('reads', { readOnly: true }), key('all')] });
  const namesOf = (id: string) => listed(view(world, offers, { kind: 'key', id }, all).lists.tools.texts);
  expect(namesOf('reads')).toEqual(['s-a', 'w-d']);
  expect(namesOf('all')).toEqual(['s-a', 's-b', 'w-c', 'w-d']);
});

test.each(['server', 'group'])('a tool has the name that its %s gives it, and the others keep theirs', (place) => {
  const override = { name: 'first' };
  const own = new Map([['a', { enabled: true, description: undefined, override }]]);
  const servers = [server('s', place === 'server' ? { tools: own } : {})];
  const entries = [entry('s', place === 'group' ? { overrides: new Map([['a', override]]) } : {})];
  const seen = view(
    settings({ servers, groups: [group('g', entries)] }),
    catalogue(offer('s', ['a', 'b'])),
    anonymous,
    named('g'),
  );
  expect(listed(seen.lists.tools.texts)).toEqual(['s-first', 's-b']);
  expect(seen.tool('s-first')).toMatchObject({ server: 's', key: 'a' });
  expect(seen.tool('s-b')).toEqual({ server: 's', key: 'b' });
});

describe('what is switched off or not selected', () => {
  const servers = [server('s', { tools: new Map([['off', { enabled: false, description: undefined }]]) })];
  const groups = [group('g', [entry('s', { tools: ['a', 'off'] })])];
  const snapshot = settings({ servers, groups });
  const offers = catalogue(offer('s', ['a', 'b', 'off']));

  test.each([
    [all, ['s-a', 's-b']],
    [named('s'), ['a', 'b']],
    [named('g'), ['s-a']],
  ])('is not listed and not found in %j', (scope, expected) => {
    const seen = view(snapshot, offers, anonymous, scope);
    expect(listed(seen.lists.tools.texts)).toEqual(expected);
    for (const hidden of [
      'off',
      's-off',
      ...(scope === all || scope.kind !== 'named' || scope.name === 's' ? [] : ['b', 's-b']),
    ]) {
      expect(seen.tool(hidden)).toBeUndefined();
    }
  });
});

test("the operator's description takes the place of the server's, everything else stays", () => {
  const snapshot = settings({
    servers: [server('s', { tools: new Map([['a', { enabled: true, description: 'mine' }]]) })],
  });
  const odd = { key: 'a', text: '{"name":"a","n":9007199254740993,"description":"own"}' };
  const seen = view(snapshot, catalogue(offer('s', [], { tools: [odd] })), anonymous, all);
  expect([...seen.lists.tools.texts]).toEqual(['{"name":"s-a","n":9007199254740993,"description":"mine"}']);
});

describe('resources', () => {
  const uri = (key: string) => item(key, 'uri');
  const template = (key: string) => item(key, 'uriTemplate');
  const offers = catalogue(
    offer('a', [], { resources: [uri('x://1'), uri('x://2')], templates: [template('a://{id}')] }),
    offer('b', [], { resources: [uri('x://1')], templates: [template('b://{id}')] }),
  );

  test('of the same URI belong to the first server', () => {
    const seen = view(settings({ servers: [server('a'), server('b')] }), offers, anonymous, all);
    expect(seen.resource('x://1')?.server).toBe('a');
    expect(seen.lists.resources.texts).toHaveLength(2);
  });

  test('that no list names are read where a template fits, else nowhere', () => {
    const seen = view(settings({ servers: [server('a'), server('b')] }), offers, anonymous, all);
    expect(seen.resource('b://7')).toEqual({ server: 'b', key: 'b://7' });
    expect(seen.resource('c://7')).toBeUndefined();
  });

  test('that are switched off are not reached by a template either', () => {
    const off = new Map([['a://secret', { enabled: false, description: undefined }]]);
    const seen = view(settings({ servers: [server('a', { resources: off }), server('b')] }), offers, anonymous, all);
    expect(seen.resource('a://secret')).toBeUndefined();
    expect(seen.resource('a://other')?.server).toBe('a');
  });
});

describe('a template', () => {
  const uri = (key: string) => item(key, 'uri');
  const offers = catalogue(offer('a', [], { resources: [uri('x://1')], templates: [item('a://{id}', 'uriTemplate')] }));
  const off = (key: string) => new Map([[key, { enabled: false, description: undefined }]]);

  test('that is switched off opens nothing, also where its server is the only one with resources', () => {
    const seen = view(settings({ servers: [server('a', { resources: off('a://{id}') })] }), offers, anonymous, all);
    expect([...seen.lists.templates.texts]).toEqual([]);
    expect(seen.resource('a://7')).toBeUndefined();
    expect(seen.template('a://{id}')).toBeUndefined();
    expect(seen.resource('a://{id}')).toBeUndefined();
    expect(seen.resource('x://unlisted')?.server).toBe('a');
  });

  test('belongs to a subset of resources only when it is named there', () => {
    const groups = [
      group('none', [entry('a', { resources: [] })]),
      group('one', [entry('a', { resources: ['x://1'] })]),
      group('named', [entry('a', { resources: ['a://{id}'] })]),
    ];
    const seen = (name: string) => view(settings({ servers: [server('a')], groups }), offers, anonymous, named(name));
    for (const name of ['none', 'one']) {
      expect([...seen(name).lists.templates.texts]).toEqual([]);
      expect(seen(name).resource('a://7')).toBeUndefined();
    }
    expect(seen('one').resource('x://1')).toEqual({ server: 'a', key: 'x://1' });
    expect(seen('named').lists.templates.texts).toHaveLength(1);
    // Others of the server are hidden here: what it says of this one must not tell which.
    expect(seen('named').resource('a://7')).toEqual({ server: 'a', key: 'a://7', guarded: true });
    expect(seen('named').resource('x://1')).toBeUndefined();
  });

  test.each(['a://%73ecret', 'a://secret#there', 'A://secret', 'a://secret'])(
    'does not open a resource that is switched off under another spelling: %s',
    (spelling) => {
      const resources = off('a://secret');
      const seen = view(settings({ servers: [server('a', { resources })] }), offers, anonymous, all);
      expect(seen.resource(spelling)).toBeUndefined();
    },
  );
});

test('a group may give a server another prefix', () => {
  const snapshot = settings({ servers: [server('s')], groups: [group('g', [entry('s', { alias: 'short' })])] });
  const seen = view(snapshot, catalogue(offer('s', ['a'])), anonymous, named('g'));
  expect(listed(seen.lists.tools.texts)).toEqual(['short-a']);
  expect(seen.tool('short-a')).toEqual({ server: 's', key: 'a' });
});

test('a view is built once, until settings or catalogue change', () => {
  let now = { settings: settings({ servers: [server('s')] }), catalogue: catalogue(offer('s', ['a'])) };
  const views = createViews(() => now);
  const first = views.get(anonymous, all);
  expect(views.get(anonymous, all)).toBe(first);
  now = { ...now, catalogue: catalogue(offer('s', ['a', 'b'])) };
  const second = views.get(anonymous, all);
  expect(second).not.toBe(first);
  expect(changedKinds(first, second)).toEqual(['tools']);
});

test('who sees the same shares one view, however many they are and whatever they ask for', () => {
  const servers = [server('s', { visibility: 'public' }), server('p', { visibility: 'private' })];
  const users = ['alice', 'bob'].map((name) => user(name)).concat(user('carol', { servers: ['p'] }));
  const now = { settings: settings({ servers, users }), catalogue: catalogue(offer('s', ['a']), offer('p', ['b'])) };
  const views = createViews(() => now);
  const seen = (username: string) => views.get({ kind: 'user', username }, all);
  expect(seen('alice')).toBe(seen('bob'));
  expect(seen('carol')).not.toBe(seen('alice'));
  expect(views.get(anonymous, named('nobody'))).toBe(views.get(anonymous, named('nothing')));
  const before = seen('carol');
  for (let i = 0; i < 5_000; i++) views.get(anonymous, named(`made up ${i}`));
  expect(seen('carol')).toBe(before);
});

describe('a smart endpoint of a group', () => {
  const smart = (group: string | undefined): Scope => ({ kind: 'smart', group });
  const dev = (pinnedTools: string[], more: Parameters<typeof entry>[1] = {}) =>
    settings({
      servers: [server('hub'), server('mail')],
      groups: [group('dev', [entry('hub', { pinnedTools, ...more }), entry('mail')])],
    });
  const offers = catalogue(offer('hub', ['issue', 'merge']), offer('mail', ['send']));
  const shown = (world: ReturnType<typeof settings>, scope = smart('dev')) => view(world, offers, anonymous, scope);

  test('lists what the group pins after its own tools, under the names it is called by', () => {
    const seen = shown(dev(['merge']));
    expect(listed(seen.lists.tools.texts)).toEqual(['search_tools', 'call_tool', 'hub-merge']);
    expect([...seen.lists.tools.texts].at(-1)).toBe(seen.smart?.tools.texts.at(1));
    expect(seen.smart?.isPinned('hub-merge')).toBe(true);
    expect(['hub-issue', 'mail-send', 'merge', 'call_tool'].map((name) => seen.smart?.isPinned(name))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test('shows no pin that the group does not select, the server has switched off, or no server offers', () => {
    const names = (world: ReturnType<typeof settings>) => listed(shown(world).lists.tools.texts).slice(2);
    expect(names(dev(['merge', 'gone', 'hub-merge', 'send'], { tools: ['issue'] }))).toEqual([]);
    const off = dev(['merge', 'issue']);
    const hub = { ...server('hub'), tools: new Map([['merge', { enabled: false, description: undefined }]]) };
    expect(names({ ...off, servers: new Map([...off.servers, ['hub', hub]]) })).toEqual(['hub-issue']);
  });

  test('never gives the name of one of its own tools away', () => {
    const world = dev(['tool'], { alias: 'call' });
    const seen = view(
      { ...world, system: { ...world.system, nameSeparator: '_' } },
      catalogue(offer('hub', ['tool'])),
      anonymous,
      smart('dev'),
    );
    expect(listed(seen.lists.tools.texts)).toEqual(['search_tools', 'call_tool']);
    expect(seen.smart?.isPinned('call_tool')).toBe(false);
  });

  test('of no group pins nothing', () => {
    expect(listed(shown(dev(['merge']), smart(undefined)).lists.tools.texts)).toEqual(['search_tools', 'call_tool']);
  });

  test('tells what the servers are for when that is wanted, in bounds', () => {
    const world = settings({
      servers: Array.from({ length: 500 }, (_, i) => ({
        ...server(`server${i}`),
        description: `About\n ${'x'.repeat(i * 10)}`,
      })),
    });
    const text = (mode: 'names' | 'full') => {
      const system = { ...world.system, serverDescriptionMode: mode };
      const first = view({ ...world, system }, offers, anonymous, smart(undefined)).lists.tools.texts.at(0) ?? '';
      return (JSON.parse(first) as { description: string }).description;
    };
    expect(text('names')).toMatch(/Servers: server0, server1, .* and \d+ more\.$/);
    expect(text('names').length).toBeLessThan(2_500);
    expect(text('full')).toMatch(/\n- server1: About x{10}\n[^]*\n- and \d+ more$/);
    expect(text('full').length).toBeLessThan(6_500);
  });
});
