import { describe, expect, test } from 'vitest';
import type { Offer } from '../catalogue.ts';
import { coreLimits } from '../limits.ts';
import type { Settings } from '../settings/settings.ts';
import { catalogue, entry, group, item, key, offer, server, settings } from '../../../test/kit/snapshots.ts';
import type { Principal } from './principal.ts';
import type { Scope } from './scope.ts';
import { changedKinds, createViews, view } from './view.ts';

// Views are kept, shared and compared.

const anonymous: Principal = { kind: 'anonymous' };
const all: Scope = { kind: 'all' };
const named = (name: string): Scope => ({ kind: 'named', name });

/** Views of settings that count how often their servers and groups are looked at. */
function counted(world: Settings, offers = catalogue(offer('a', ['t']))) {
  let looks = 0;
  const watched: Settings = {
    ...world,
    get servers() {
      looks++;
      return world.servers;
    },
    get groups() {
      looks++;
      return world.groups;
    },
  };
  const now = { settings: watched, catalogue: offers };
  const views = createViews(() => now);
  /** Whether the view was kept. */
  const isKept = (scope: Scope, principal = anonymous): boolean => {
    const before = looks;
    views.get(principal, scope);
    return looks === before;
  };
  return { views, isKept, now };
}

describe('a view is kept', () => {
  const world = settings({ servers: [server('a')], groups: [group('$smart', [entry('a')])], keys: [key('k')] });

  test('for each principal and scope', () => {
    const { isKept, views } = counted(world);
    const scopes = [all, named('a'), named('none'), { kind: 'smart', group: undefined } as const];
    for (const scope of scopes) expect(isKept(scope)).toBe(false);
    expect(isKept(all, { kind: 'key', id: 'k' })).toBe(false);
    for (const scope of scopes) expect(isKept(scope)).toBe(true);
    expect(isKept(all, { kind: 'key', id: 'k' })).toBe(true);
    expect(scopes.map((scope) => views.get(anonymous, scope).kind)).toEqual(['all', 'server', 'nothing', 'all']);
  });

  test('apart where two kinds of scope are written alike', () => {
    const { views } = counted(world);
    expect(views.get(anonymous, named('$smart')).smart).toBeUndefined();
    expect(views.get(anonymous, { kind: 'smart', group: undefined }).smart).toBeDefined();
    expect(views.get(anonymous, named('$smart')).kind).toBe('group');
  });

  test('until so many others are', () => {
    const { isKept } = counted(world);
    isKept(all);
    for (let n = 1; n < coreLimits.views; n++) isKept(named(`none ${n}`));
    expect(isKept(all)).toBe(true);
    isKept(named('one more'));
    expect(isKept(all)).toBe(false);
    expect([isKept(named('none 1')), isKept(all), isKept(named('one more'))]).toEqual([false, true, true]);
  });

  test('until settings or catalogue change, whichever', () => {
    let now = { settings: world, catalogue: catalogue(offer('a', ['t'])) };
    const views = createViews(() => now);
    const first = views.get(anonymous, all);
    now = { ...now, settings: { ...world } };
    const second = views.get(anonymous, all);
    expect(second).not.toBe(first);
    now = { ...now, catalogue: catalogue(offer('a', ['t', 'u'])) };
    expect(views.get(anonymous, all).lists.tools.texts).toHaveLength(2);
    now = { settings: settings({}), catalogue: now.catalogue };
    expect(views.get(anonymous, all).servers).toEqual([]);
  });
});

describe('principals share a view', () => {
  const overrides = (description: string) => new Map([['t', { description }]]);
  const entries = {
    plain: entry('a'),
    same: entry('a'),
    prefix: entry('a', { alias: 'x' }),
    tools: entry('a', { tools: ['t'] }),
    prompts: entry('a', { prompts: [] }),
    resources: entry('a', { resources: [] }),
    pinned: entry('a', { pinnedTools: ['t'] }),
    first: entry('a', { overrides: overrides('first') }),
    second: entry('a', { overrides: overrides('second') }),
    other: entry('b', { alias: 'a' }),
  };
  const world = settings({
    servers: [server('a'), server('b')],
    groups: [
      ...Object.entries(entries).map(([name, one]) => group(name, [one])),
      group('limited', [entry('a')], { maxResultTokens: 9 }),
    ],
    keys: [key('all'), key('reads', { readOnly: true })],
  });

  test('where they see the same, and only there', () => {
    const { views } = counted(world);
    const of = (name: string) => views.get(anonymous, named(name));
    expect(of('same')).toBe(of('plain'));
    const names = [...Object.keys(entries).filter((name) => name !== 'same'), 'limited', 'a', 'b', 'none'];
    expect(new Set([...names.map(of), views.get(anonymous, all)]).size).toBe(names.length + 1);
    expect(views.get({ kind: 'key', id: 'all' }, named('a'))).toBe(of('a'));
    expect(views.get({ kind: 'key', id: 'reads' }, named('a'))).not.toBe(of('a'));
  });

  test('for each kind of smart endpoint', () => {
    const { views } = counted(world);
    const of = (name: string) => views.get(anonymous, named(name));
    const smart = (name: string | undefined, code?: true) =>
      views.get(anonymous, { kind: 'smart', group: name, ...(code && { code }) });
    expect(smart('plain')).not.toBe(of('plain'));
    expect(smart('plain')).not.toBe(smart('plain', true));
    // Its description names the group.
    expect(smart('plain')).not.toBe(smart('same'));
    expect(smart('pinned').lists.tools.texts).toHaveLength(3);
    expect(smart(undefined)).not.toBe(views.get(anonymous, all));
  });

  test('until there are so many items in all', () => {
    const resources = Array.from({ length: coreLimits.viewItems }, (_, i) => ({ key: `x://${i}`, text: '{}' }));
    const about = { info: '{}', instructions: undefined, capabilities: [], protocolVersion: '' };
    const large = settings({
      servers: [server('a'), server('b')],
      groups: [group('g', [entry('b')]), group('h', [entry('b')])],
    });
    const kept = counted(large, catalogue(offer('a', [], { about, resources }), offer('b', ['t']))).views;
    const first = kept.get(anonymous, named('g'));
    expect(kept.get(anonymous, named('h'))).toBe(first);
    kept.get(anonymous, named('a'));
    expect(kept.get(anonymous, named('g'))).toBe(first);
    kept.get(anonymous, named('b'));
    expect(kept.get(anonymous, named('g'))).not.toBe(first);
  });
});

describe('what differs between two views is told by kind', () => {
  const world = settings({ servers: [server('a')] });
  const a = (more: Partial<Offer>) => view(world, catalogue(offer('a', ['t'], more)), anonymous, all);
  const apps = (...names: string[]) =>
    names.map((name) => item(name, 'name', { _meta: { ui: { visibility: ['app'] } } }));

  test.each([
    ['nothing', {}, []],
    ['tools', { tools: [item('u')] }, ['tools']],
    ['tools that are gone', { tools: [] }, ['tools']],
    ['one more tool', { tools: [item('t'), item('u')] }, ['tools']],
    ['the text of a tool', { tools: [item('t', 'name', {})] }, ['tools']],
    ['prompts', { prompts: [item('p')] }, ['prompts']],
    ['resources', { resources: [item('x://1', 'uri')] }, ['resources']],
    ['templates', { templates: [item('x://{id}', 'uriTemplate')] }, ['templates']],
    ['tools for apps', { tools: [item('t'), ...apps('u')] }, ['tools']],
    [
      'all',
      { tools: [], prompts: [item('p')], resources: [item('x://1', 'uri')], templates: [item('y', 'uriTemplate')] },
      ['tools', 'prompts', 'resources', 'templates'],
    ],
  ])('%s', (_, more, kinds) => {
    expect(changedKinds(a({}), a(more))).toEqual(kinds);
    expect(changedKinds(a(more), a({}))).toEqual(kinds);
    expect(changedKinds(a(more), a(more))).toEqual([]);
  });

  test('between tools for apps', () => {
    expect(changedKinds(a({ tools: [item('t'), ...apps('u')] }), a({ tools: [item('t'), ...apps('v')] }))).toEqual([
      'tools',
    ]);
  });

  test('of a view and itself', () => {
    const plain = a({});
    expect(changedKinds(plain, plain)).toEqual([]);
  });
});
