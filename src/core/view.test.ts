import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Catalogue, Item, Offer } from './catalogue.ts';
import type { Principal } from './principal.ts';
import type { Scope } from './scope.ts';
import { entry, group, server, settings } from '../../test/kit/snapshots.ts';
import { changedKinds, createViews, view } from './view.ts';

const anonymous: Principal = { kind: 'anonymous' };
const all: Scope = { kind: 'all' };
const named = (name: string): Scope => ({ kind: 'named', name });

const item = (key: string, member = 'name'): Item => ({
  key,
  text: JSON.stringify({ [member]: key, description: 'own' }),
});
const offer = (server: string, tools: string[], more: Partial<Offer> = {}): Offer => ({
  server,
  about: {
    info: '{"name":"x"}',
    instructions: undefined,
    capabilities: ['tools', 'resources'],
    protocolVersion: '2025-11-25',
  },
  tools: tools.map((name) => item(name)),
  prompts: [],
  resources: [],
  templates: [],
  ...more,
});
const catalogue = (...offers: Offer[]): Catalogue => ({
  version: 1,
  offers: new Map(offers.map((one) => [one.server, one])),
});

const listed = (texts: readonly string[]) => texts.map((text) => (JSON.parse(text) as { name: string }).name);

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
  const seen = view(settings({ servers: [server('s')] }), catalogue(offer('s', ['x', 's-x'])), anonymous, named('s'));

  test('shows its own names and understands the prefixed ones', () => {
    expect(listed(seen.lists.tools.texts)).toEqual(['x', 's-x']);
    expect(seen.tool('s-s-x')).toEqual({ server: 's', key: 's-x' });
  });

  test('reads a name that could be both as its own', () => {
    expect(seen.tool('s-x')).toEqual({ server: 's', key: 's-x' });
  });
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
  expect(seen.lists.tools.texts).toEqual(['{"name":"s-a","n":9007199254740993,"description":"mine"}']);
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
