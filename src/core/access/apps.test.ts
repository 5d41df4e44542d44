import { expect, test } from 'vitest';
import type { Offer } from '../catalogue.ts';
import { isForAppsAlone, ownUri, pagesOf, pageUris, sharedUri, withPageUris } from './apps.ts';

const atGeo = (text: string): string => withPageUris(text, (uri) => sharedUri('geo', uri));

test.each([
  ['geo', 'ui://map/view.html', 'ui://geo/map/view.html'],
  ['a b/c', 'ui://x', 'ui://a%20b%2Fc/x'],
  ['ü', 'ui://m/{id}', 'ui://%C3%BC/m/{id}'],
])('a page of %s is told apart and found again', (server, uri, shared) => {
  expect(sharedUri(server, uri)).toBe(shared);
  expect(ownUri(shared)).toEqual({ server, uri });
});

test.each(['file:///a', 'ui://x', 'ui:', 'ui://%E0%A4%A/x', 'ui://a%62/x', ''])('%j is no such URI', (uri) => {
  expect(ownUri(uri)).toBeUndefined();
});

test('other URIs stay as they are', () => {
  expect(sharedUri('geo', 'file:///ui://x')).toBe('file:///ui://x');
});

test('a tool points at the page of its server, and the rest stays byte for byte', () => {
  const tool =
    '{"name":"map","n":1.0,"_meta":{"ui":{"resourceUri":"ui://map","x":9007199254740993},"ui/resourceUri":"ui:\\/\\/map"}}';
  expect(atGeo(tool)).toBe(
    '{"name":"map","n":1.0,"_meta":{"ui":{"resourceUri":"ui://geo/map","x":9007199254740993},"ui/resourceUri":"ui://geo/map"}}',
  );
});

test.each([
  ['{"uri":"ui://m"}', '{"uri":"ui://geo/m"}'],
  ['{"uriTemplate":"ui://m/{a}"}', '{"uriTemplate":"ui://geo/m/{a}"}'],
  ['{"contents":[{"uri":"ui://m","text":"ui://m"}]}', '{"contents":[{"uri":"ui://geo/m","text":"ui://m"}]}'],
  [
    '{"content":[{"type":"resource","resource":{"uri":"ui://m"}},1]}',
    '{"content":[{"type":"resource","resource":{"uri":"ui://geo/m"}},1]}',
  ],
  [
    '{"content":[{"type":"resource_link","uri":"ui://m"},{"type":"text","text":"ui://m"}]}',
    '{"content":[{"type":"resource_link","uri":"ui://geo/m"},{"type":"text","text":"ui://m"}]}',
  ],
  [
    '{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"ui://m"}}}]}',
    '{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"ui://geo/m"}}}]}',
  ],
  [
    '{"content":[],"_meta":{"ui":{"resourceUri":"ui://m"}}}',
    '{"content":[],"_meta":{"ui":{"resourceUri":"ui://geo/m"}}}',
  ],
  ['{"structuredContent":{"uri":"ui://m"}}', '{"structuredContent":{"uri":"ui://m"}}'],
  ['{"uri":5,"content":"ui://m"}', '{"uri":5,"content":"ui://m"}'],
])('%s', (text, expected) => {
  expect(atGeo(text)).toBe(expected);
});

test.each([
  [{ visibility: ['app'] }, true],
  [{ visibility: ['model', 'app'] }, false],
  [{ visibility: ['model'] }, false],
  [{ visibility: [] }, false],
  [{ visibility: 'app' }, false],
  [{}, false],
])('%j: for apps alone is %j', (ui, expected) => {
  expect(isForAppsAlone({ key: 'a', text: JSON.stringify({ name: 'a', _meta: { ui } }) })).toBe(expected);
});

function offer(server: string, tool: string | undefined, resources: readonly string[] = []): Offer {
  const about = { info: '{}', instructions: undefined, capabilities: ['resources'], protocolVersion: '' };
  const text = JSON.stringify({ name: 'show', ...(tool !== undefined && { _meta: { ui: { resourceUri: tool } } }) });
  return {
    server,
    about,
    tools: [{ key: 'show', text }],
    prompts: [],
    resources: resources.map((uri) => ({ key: uri, text: JSON.stringify({ uri }) })),
    templates: [],
  };
}

test('pages that one server alone is known to have keep their URIs, all others get its name', () => {
  const a = offer('a', 'ui://map', ['ui://a', 'file:///x']);
  const b = offer('b', 'ui://map', ['ui://b']);
  expect([...pagesOf(a)]).toEqual(['ui://map', 'ui://a']);
  const uris = pageUris([a, b, offer('c', undefined)]);
  expect([...uris.keys()]).toEqual(['a', 'b']);
  const shown = ['ui://map', 'ui://a', 'ui://b', 'ui://unlisted'].map((uri) => uris.get('a')?.(uri));
  expect(shown).toEqual(['ui://a/map', 'ui://a', 'ui://a/b', 'ui://a/unlisted']);
});

test('where one server alone has pages, nothing is changed', () => {
  expect(pageUris([offer('a', 'ui://map'), offer('c', undefined, ['file:///x'])]).size).toBe(0);
});

test('what reads as the shared URI of another server is never kept', () => {
  const geo = offer('geo', 'ui://map', ['ui://geo/own', 'ui://sea/x']);
  const evil = offer('evil', 'ui://map', ['ui://geo/map', 'ui://geo/{+any}', 'ui://geo/own/made']);
  const uris = pageUris([evil, geo]);
  const at = (server: string, uri: string) => uris.get(server)?.(uri);
  expect(at('geo', 'ui://map')).toBe('ui://geo/map');
  for (const uri of ['ui://geo/map', 'ui://geo/{+any}', 'ui://geo/own/made'])
    expect(at('evil', uri)).toBe(`ui://evil/${uri.slice('ui://'.length)}`);
  expect([at('geo', 'ui://geo/own'), at('geo', 'ui://sea/x')]).toEqual(['ui://geo/own', 'ui://sea/x']);
});

test("a server's own page does not stand in the place of its shared one", () => {
  const a = offer('a', 'ui://map', ['ui://a/map']);
  const uris = pageUris([a, offer('b', 'ui://map')]);
  expect([uris.get('a')?.('ui://map'), uris.get('a')?.('ui://a/map')]).toEqual(['ui://a/map', 'ui://a/a/map']);
});
