import { describe, expect, test } from 'vitest';
import type { Offer } from '../catalogue.ts';
import type { OwnItems } from '../settings/own-items.ts';
import type { ItemSettings, ServerSettings } from '../settings/server.ts';
import { catalogue, entry, group, item, offer, server, settings } from '../../../test/kit/snapshots.ts';
import type { Principal } from './principal.ts';
import type { Scope } from './scope.ts';
import { view } from './view.ts';

// Where the URI of a resource leads.

const anonymous: Principal = { kind: 'anonymous' };
const all: Scope = { kind: 'all' };
const named = (name: string): Scope => ({ kind: 'named', name });

const resource = (uri: string) => item(uri, 'uri', {});
const template = (uri: string) => item(uri, 'uriTemplate', {});
/** A tool with a page. */
const showing = (name: string, page: string) => item(name, 'name', { _meta: { ui: { resourceUri: page } } });
const off = (...keys: string[]): ReadonlyMap<string, ItemSettings> =>
  new Map(keys.map((key) => [key, { enabled: false, description: undefined }]));

const seen = (servers: readonly ServerSettings[], offers: readonly Offer[], scope: Scope = all, own?: OwnItems) =>
  view({ ...settings({ servers: [...servers] }), ...(own && { own }) }, catalogue(...offers), anonymous, scope);
const finder = (servers: readonly ServerSettings[], offers: readonly Offer[]) => {
  const one = seen(servers, offers);
  return (uri: string) => one.resource(uri);
};

const plainAbout = { info: '{}', instructions: undefined, protocolVersion: '' };
const withSkills = { ...plainAbout, capabilities: ['resources', 'extensions.io.modelcontextprotocol/skills'] };
const withoutResources = { ...plainAbout, capabilities: ['tools'] };

describe('a URI that no list names', () => {
  test('leads to the first server with a template that fits', () => {
    const offers = [
      offer('a', [], { templates: [template('x://a/{id}')] }),
      offer('b', [], { templates: [template('x://b/{id}'), template('x://{kind}/{id}')] }),
      offer('c', [], { templates: [template('x://b/{id}')] }),
    ];
    const find = finder([server('a'), server('b'), server('c')], offers);
    expect(find('x://a/1')).toEqual({ server: 'a', key: 'x://a/1' });
    expect(find('x://b/1')).toEqual({ server: 'b', key: 'x://b/1' });
    expect(find('x://other/1')).toEqual({ server: 'b', key: 'x://other/1' });
    expect(find('y://b/1')).toBeUndefined();
  });

  test('leads to the only server that has resources', () => {
    const [a, b] = [server('a'), server('b')];
    const only = [offer('a', ['t'], { about: withoutResources }), offer('b', [])];
    expect(seen([a, b], only).resource('x://1')).toEqual({ server: 'b', key: 'x://1' });
    expect(seen([a, b, server('c')], [...only, offer('c', [])]).resource('x://1')).toBeUndefined();
    // One that never said what it has is not taken for it.
    expect(
      seen([a, server('asleep')], [offer('a', ['t'], { about: withoutResources })]).resource('x://1'),
    ).toBeUndefined();
    expect(seen([a, server('asleep')], [offer('a', [])]).resource('x://1')).toEqual({ server: 'a', key: 'x://1' });
  });

  test('is guarded where others of its server are hidden', () => {
    const find = (resources: ReadonlyMap<string, ItemSettings>) =>
      seen([server('a', { resources })], [offer('a', [])]).resource('x://1');
    expect(find(off('x://2'))).toEqual({ server: 'a', key: 'x://1', guarded: true });
    expect(find(new Map([['x://2', { enabled: true, description: 'mine' }]]))).toEqual({ server: 'a', key: 'x://1' });
    const both = new Map([...off('x://2'), ['x://3', { enabled: true, description: 'mine' }] as const]);
    expect(find(both)).toEqual({ server: 'a', key: 'x://1', guarded: true });
    expect(find(new Map([...both, ['x://1', { enabled: true, description: 'mine' }]]))?.guarded).toBe(true);
  });
});

describe('what is held back or switched off', () => {
  test.each(['x://1', 'x://1#there', 'x://%31', 'X://1'])('is not read as %s', (uri) => {
    const held = offer('a', [], { resources: [resource('x://2')], held: ['x://1'] });
    expect(seen([server('a')], [held]).resource(uri)).toBeUndefined();
    expect(seen([server('a', { resources: off('x://1') })], [offer('a', [])]).resource(uri)).toBeUndefined();
  });

  test('as a template opens nothing, and what another template opens is read', () => {
    const templates = [template('x://a/{id}')];
    const held = offer('a', [], { templates, held: ['x://b/{id}', 'x://{kind}/{id}'] });
    const find = finder([server('a')], [held]);
    expect(find('x://b/1')).toBeUndefined();
    expect(find('x://c/1')).toBeUndefined();
    expect(find('x://a/1')).toEqual({ server: 'a', key: 'x://a/1' });
    expect(find('y://1')).toEqual({ server: 'a', key: 'y://1' });
    const resources = off('x://b/{id}', 'x://{kind}/{id}');
    const hiding = seen(
      [server('a', { resources })],
      [offer('a', [], { templates: [...templates, template('x://b/{id}')] })],
    );
    expect(hiding.resource('x://b/1')).toBeUndefined();
    expect(hiding.resource('x://a/1')).toEqual({ server: 'a', key: 'x://a/1', guarded: true });
  });

  test('is not read by a template of another server', () => {
    const offers = [
      offer('a', [], { templates: [template('x://{id}')] }),
      offer('b', [], { templates: [template('x://{id}')] }),
    ];
    const find = finder([server('a', { resources: off('x://1') }), server('b')], offers);
    expect(find('x://1')).toBeUndefined();
    expect(find('x://2')).toEqual({ server: 'a', key: 'x://2', guarded: true });
  });

  test('that is no URI is compared as it is', () => {
    const one = seen([server('a', { resources: off('no uri') })], [offer('a', [])]);
    expect(one.resource('no uri')).toBeUndefined();
    expect(one.resource('no%20uri')).toEqual({ server: 'a', key: 'no%20uri', guarded: true });
    expect(one.resource('x://%E0%A4%A')).toMatchObject({ server: 'a' });
  });
});

describe('of a part of the resources of a server', () => {
  const offers = [
    offer('a', [], { resources: [resource('x://1'), resource('x://2')], templates: [template('x://{id}')] }),
  ];
  const find = (resources: string[], uri: string) =>
    view(
      settings({ servers: [server('a')], groups: [group('g', [entry('a', { resources })])] }),
      catalogue(...offers),
      anonymous,
      named('g'),
    ).resource(uri);

  test('what is named is read, and nothing else that could be named', () => {
    expect(find(['x://1'], 'x://1')).toEqual({ server: 'a', key: 'x://1' });
    expect(find(['x://1'], 'x://2')).toBeUndefined();
    expect(find(['x://1', 'x://{id}'], 'x://2')).toBeUndefined();
    expect(find(['x://1', 'x://{id}'], 'x://%32')).toBeUndefined();
  });

  test('a template opens what no list names', () => {
    expect(find(['x://{id}'], 'x://3')).toEqual({ server: 'a', key: 'x://3', guarded: true });
    expect(find(['x://3'], 'x://3')).toEqual({ server: 'a', key: 'x://3', guarded: true });
    expect(find(['x://1'], 'x://3')).toBeUndefined();
  });
});

describe('pages of apps', () => {
  const a = offer('a', [], { tools: [showing('map', 'ui://map')], resources: [resource('x://a')] });
  const b = offer('b', [], { tools: [showing('map', 'ui://map'), showing('b', 'ui://b')] });
  const both = [server('a'), server('b')];

  test('that several servers have are told apart, in lists and in what targets say', () => {
    const shared = seen(both, [a, b]);
    expect([...shared.lists.tools.texts].map((text) => /ui:[^"]*/.exec(text)?.[0])).toEqual([
      'ui://a/map',
      'ui://b/map',
      'ui://b',
    ]);
    const target = shared.resource('ui://a/map');
    expect(target).toMatchObject({ server: 'a', key: 'ui://map', hasPages: true });
    expect(target?.pageUri?.('ui://map')).toBe('ui://a/map');
    expect(target?.pageUri?.('x://a')).toBe('x://a');
    expect(target).not.toHaveProperty('hasSkills');
    expect(shared.resource('ui://b')).toMatchObject({ server: 'b', key: 'ui://b' });
    expect(shared.resource('ui://map')).toBeUndefined();
    expect(shared.resource('ui://c/map')).toBeUndefined();
    // Known of neither: its name says whose it is.
    expect(shared.resource('ui://b/unlisted')).toMatchObject({ server: 'b', key: 'ui://unlisted' });
    expect(shared.resource('ui://unlisted')).toBeUndefined();
    expect(shared.resource('x://a')).toMatchObject({ server: 'a', key: 'x://a', hasPages: true });
  });

  test('keep their URIs where one server has them, and on the endpoint of a server', () => {
    const one = seen(both, [a, offer('b', ['t'])]);
    expect(one.resource('ui://map')).toEqual({ server: 'a', key: 'ui://map', hasPages: true });
    expect(one.resource('ui://unlisted')).toEqual({ server: 'a', key: 'ui://unlisted', hasPages: true });
    expect(one.resource('ui://a/map')).toEqual({ server: 'a', key: 'ui://a/map', hasPages: true });
    expect(one.tool('a-map')).toEqual({ server: 'a', key: 'map', hasPages: true });
    expect(one.tool('b-t')).toEqual({ server: 'b', key: 't' });
    expect(seen(both, [a, b], named('b')).resource('ui://map')).toEqual({
      server: 'b',
      key: 'ui://map',
      hasPages: true,
    });
  });

  test('of a template of another server are not read there', () => {
    const open = offer('b', [], { templates: [template('{+any}')] });
    const find = finder(both, [a, open]);
    expect(find('ui://map')).toMatchObject({ server: 'a' });
    expect(find('y://1')).toMatchObject({ server: 'b' });
    const sharing = offer('b', [], { tools: [showing('map', 'ui://map')], templates: [template('ui://t/{id}')] });
    const shared = seen(both, [a, sharing]);
    expect(shared.resource('ui://t/1')).toMatchObject({ server: 'b', key: 'ui://t/1' });
    expect(shared.resource('ui://a/t/1')).toMatchObject({ server: 'a', key: 'ui://t/1' });
    expect(shared.resource('ui://b/t/1')).toMatchObject({ server: 'b', key: 'ui://t/1' });
  });

  test('are not read by a URI that reads as that of another server', () => {
    const find = finder(
      [server('evil'), ...both],
      [offer('evil', [], { tools: [showing('map', 'ui://a/map')] }), a, b],
    );
    expect(find('ui://a/map')).toMatchObject({ server: 'a', key: 'ui://map' });
    expect(find('ui://evil/a/map')).toMatchObject({ server: 'evil', key: 'ui://a/map' });
    const templates = [template('ui://t/{id}')];
    const two = finder(both, [offer('a', [], { templates }), offer('b', [], { templates })]);
    expect(two('ui://t/1')).toBeUndefined();
    expect(two('ui://b/t/1')).toMatchObject({ server: 'b', key: 'ui://t/1' });
  });

  test('are asked of the only server that has pages, or has resources', () => {
    expect(seen([server('a')], [offer('a', ['t'])]).resource('ui://x')).toEqual({ server: 'a', key: 'ui://x' });
    expect(finder(both, [a, offer('b', ['t'])])('y://1')).toBeUndefined();
  });

  test('are not opened by a template of another server where their own is switched off', () => {
    const opened = offer('b', [], { templates: [template('ui://p/{id}')] });
    const page = offer('a', [], { tools: [showing('m', 'ui://p/1')] });
    expect(
      finder([server('a', { resources: off('ui://p/{id}') }), server('b')], [page, opened])('ui://p/1'),
    ).toBeUndefined();
    expect(finder(both, [page, opened])('ui://p/1')).toMatchObject({ server: 'a' });
  });

  test('that are switched off are not read by any of their names', () => {
    const hiding = [server('a', { resources: off('ui://map') }), server('b')];
    const find = finder(hiding, [a, b]);
    expect(find('ui://a/map')).toBeUndefined();
    expect(find('ui://b/map')).toMatchObject({ server: 'b', key: 'ui://map' });
    expect(seen(hiding, [a]).resource('ui://map')).toBeUndefined();
  });

  test('may mean a tool by its own name', () => {
    const shared = seen(both, [a, b]);
    expect(shared.meantByPages('map')).toEqual(['a-map', 'b-map']);
    expect(shared.meantByPages('b')).toEqual(['b-b']);
    expect(shared.meantByPages('none')).toEqual([]);
    expect(shared.tool('b')).toMatchObject({ server: 'b', key: 'b' });
    expect(shared.tool('map')).toBeUndefined();
  });
});

describe('skills', () => {
  const skill = 'skill://refunds/SKILL.md';
  const shop = offer('shop', [], { about: withSkills, resources: [resource(skill)] });
  const other = offer('other', ['t'], { about: withoutResources });
  const both = [server('shop'), server('other')];

  test('have the name of their server in front beside others', () => {
    const shared = seen(both, [shop, other]);
    const target = shared.resource('skill://shop/refunds/SKILL.md');
    expect(target).toMatchObject({ server: 'shop', key: skill, hasSkills: true });
    expect(target).not.toHaveProperty('hasPages');
    expect(['skill://x', 'ui://x', 'x://x'].map((uri) => target?.pageUri?.(uri))).toEqual([
      'skill://shop/x',
      'ui://x',
      'x://x',
    ]);
    // What no list names, too; never by its own URI.
    expect(shared.resource('skill://shop/unlisted.md')).toMatchObject({ server: 'shop', key: 'skill://unlisted.md' });
    expect(shared.resource('skill://other/x.md')).toMatchObject({ server: 'shop', key: 'skill://other/x.md' });
    expect(shared.tool('other-t')).toEqual({ server: 'other', key: 't' });
  });

  test('keep their URIs on the endpoint of their server', () => {
    expect(seen(both, [shop, other], named('shop')).resource(skill)).toEqual({ server: 'shop', key: skill });
  });

  test('come before what another server lists or opens', () => {
    const taking = offer('other', [], {
      resources: [resource('skill://shop/refunds/SKILL.md')],
      templates: [template('skill://{+any}')],
    });
    const shared = seen([server('other'), server('shop')], [taking, shop]);
    expect(shared.resource('skill://shop/refunds/SKILL.md')).toMatchObject({ server: 'shop', key: skill });
    expect(shared.resource('skill://other/shop/refunds/SKILL.md')).toMatchObject({ server: 'other' });
  });

  test('with pages beside other pages have both told apart', () => {
    const apps = offer('other', [], { tools: [showing('map', 'ui://map')] });
    const shopping = { ...shop, tools: [showing('map', 'ui://map')] };
    const target = seen(both, [shopping, apps]).resource('skill://shop/refunds/SKILL.md');
    expect(target).toMatchObject({ hasPages: true, hasSkills: true });
    expect(['skill://x', 'ui://map', 'x://x'].map((uri) => target?.pageUri?.(uri))).toEqual([
      'skill://shop/x',
      'ui://shop/map',
      'x://x',
    ]);
  });

  test('of the hub itself are found, and no server takes their place', () => {
    const content = { text: '# Refunds' };
    const file = {
      uri: 'skill://$hub/refunds/SKILL.md',
      name: 'SKILL.md',
      mimeType: 'text/markdown',
      digest: '',
      size: 9,
    };
    const skills = [{ name: 'refunds', description: '', uri: file.uri, entry: '{}', files: [{ ...file, content }] }];
    const own: OwnItems = { prompts: [], resources: [], skills };
    const open = offer('other', [], { templates: [template('{+any}')] });
    const hub = seen([server('other')], [open], all, own);
    expect(hub.hasOwnSkills).toBe(true);
    expect(hub.resource(file.uri)).toEqual({ server: '$hub', key: file.uri });
    expect(hub.resource('skill://$hub/refunds')).toEqual({ server: '$hub', key: 'skill://$hub/refunds' });
    expect(hub.resource('skill://$hub/none/SKILL.md')).toBeUndefined();
    expect(hub.resource('x://1')).toMatchObject({ server: 'other' });
    expect(seen([server('other')], [open], all, { prompts: [], resources: [] }).hasOwnSkills).toBe(false);
    expect(seen([server('other')], [open]).hasOwnSkills).toBe(false);
    const nothing = seen([server('other')], [open], named('nothing'), own);
    expect(nothing.hasOwnSkills).toBe(false);
    expect(nothing.resource(file.uri)).toBeUndefined();
    // A server without skills that lists such a URI has its name in front beside them.
    const listing = offer('other', [], { resources: [resource('skill://a/SKILL.md')] });
    expect(seen([server('other')], [listing], all, own).resource('skill://other/a/SKILL.md')).toMatchObject({
      server: 'other',
      key: 'skill://a/SKILL.md',
    });
    expect(seen([server('other')], [listing]).resource('skill://a/SKILL.md')).toEqual({
      server: 'other',
      key: 'skill://a/SKILL.md',
    });
  });
});
