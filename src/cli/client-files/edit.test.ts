import * as fc from 'fast-check';
import { parse as parseToml, stringify } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { editJson, readJson } from './edit-json.ts';
import { editToml } from './edit-toml.ts';
import { isSameConnection, merged } from './entry.ts';
import { shownChange } from './shown-change.ts';

const place = { servers: 'mcpServers', name: 'toolhub' };
const entry = { type: 'http', url: 'http://127.0.0.1:3000/mcp' };

describe('JSON', () => {
  test('an entry is put in and taken out, and comments, order and indentation of all else stay', () => {
    const before =
      '// mine\n{\n\t"theme": "dark", // why not\n\t"mcpServers": {\n\t\t/* keep */\n\t\t"other": { "command": "x",  },\n\t},\n}\n';
    const after = editJson(before, place, entry);
    expect(readJson(after)).toEqual({ theme: 'dark', mcpServers: { other: { command: 'x' }, toolhub: entry } });
    for (const kept of ['// mine\n', '// why not', '/* keep */\n\t\t"other": { "command": "x",  }'])
      expect(after).toContain(kept);
    expect(editJson(after, place, entry)).toBe(after);
    expect(editJson(after, place, undefined)).toBe(before);
  });

  test.each([
    ['{\n  "mcpServers": {\n    "a": {} // about a\n  }\n}', '"a": {}, // about a\n    "toolhub": {'],
    ['{\n  "mcpServers": {\n    "a": {}, // about a\n  }\n}', '"a": {}, // about a\n    "toolhub": {'],
    ['{\n  "mcpServers": {\n    "a": {}\n    , /* b */ "b": {}\n  }\n}', '"b": {},\n'],
    ['{"mcpServers": {"a": {}}, "z": 1}', '{"mcpServers": {"a": {},\n  "toolhub": {'],
    ['{"mcpServers": {"a": {}, /* end */}}', '"a": {},\n'],
    ['{ "z": 1 }', '"z": 1,\n'],
    ['{\n  "mcpServers": {\n    // none yet\n  }\n}', '// none yet'],
    ['{\n    "mcpServers": {}\n}', '"mcpServers": {\n        "toolhub": {\n            "type"'],
    ['{}', '{\n  "mcpServers": {\n    "toolhub": {\n      "type"'],
  ])('%j keeps all that is there', (before, part) => {
    const after = editJson(before, place, entry);
    expect(after).toContain(part);
    const without = (text: string) => text.replace(/\s+/g, '');
    expect(without(editJson(after, place, undefined)).replace('"mcpServers":{}', '')).toBe(
      without(before)
        .replace('"mcpServers":{}', '')
        .replace('"z":1', before.includes('mcp') ? '"z":1' : '"z":1,'),
    );
  });

  test('an entry that is there changes member by member', () => {
    const before = '{"mcpServers": {"toolhub": {\n  // the old one\n  "command": "npx",\n  "disabled": true\n}}}';
    const after = editJson(before, place, { ...entry, disabled: true });
    expect(after).toContain('// the old one');
    expect(readJson(after)).toEqual({ mcpServers: { toolhub: { ...entry, disabled: true } } });
  });

  test('line breaks of Windows stay', () => {
    expect(editJson('{\r\n  "a": 1\r\n}\r\n', place, entry)).not.toMatch(/[^\r]\n/);
  });

  test.each([
    ['{', 'is no JSON'],
    ['{"a": 1} x', 'is no JSON'],
    ["{'a': 1}", 'is no JSON'],
    ['{\n"a": 1,,}', 'line 2'],
    ['[]', 'something else than members'],
    ['"text"', 'something else than members'],
    ['{"mcpServers": []}', 'something else at "mcpServers"'],
    ['{"mcpServers": null}', 'something else at "mcpServers"'],
    ['{"mcpServers": {}, "mcpServers": {}}', 'twice'],
  ])('%j is not edited', (text, message) => {
    expect(() => editJson(text, place, entry)).toThrow(message);
  });

  test('whatever else a file says, it says the same afterwards', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.integer({ min: 0, max: 4 }), (others, indent) => {
        const document = { ...others, mcpServers: { other: { command: 'x' } } };
        const after = editJson(JSON.stringify(document, null, indent), place, entry);
        const { mcpServers, ...rest } = JSON.parse(after) as Record<string, unknown>;
        expect(mcpServers).toEqual({ other: { command: 'x' }, toolhub: entry });
        const { mcpServers: _, ...given } = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
        expect(rest).toEqual(given);
        expect(JSON.parse(editJson(after, place, undefined))).toEqual(JSON.parse(JSON.stringify(document)));
      }),
    );
  });
});

describe('TOML', () => {
  const codex = { servers: 'mcp_servers', name: 'toolhub' };
  const own = { url: 'http://127.0.0.1:3000/mcp' };
  const before =
    '# mine\nmodel = "x" # why not\n\n[mcp_servers.other] # keep\ncommand = "y"\n\n# about profiles\n[profiles.a]\nmodel = "z"\n';

  test('an entry is put in and taken out, and every other line stays', () => {
    const after = editToml(before, codex, own);
    expect(after).toBe(`${before}\n[mcp_servers.toolhub]\nurl = "http://127.0.0.1:3000/mcp"\n`);
    expect(editToml(after, codex, own)).toBe(after);
    expect(editToml(after, codex, undefined)).toBe(before);
    expect(editToml('', codex, own)).toBe('[mcp_servers.toolhub]\nurl = "http://127.0.0.1:3000/mcp"\n');
  });

  test('an entry in the middle changes, and what a user set besides stays with its comment', () => {
    const middle = before.replace(
      '# about profiles',
      '[mcp_servers.toolhub]\ncommand = "npx"\nargs = ["a"]\nstartup_timeout_sec = 9 # slow\n\n[mcp_servers.toolhub.env]\nA = "b"\n\n# about profiles',
    );
    const there = (parseToml(middle) as { mcp_servers: Record<string, unknown> }).mcp_servers['toolhub'];
    const after = editToml(middle, codex, merged(there, own));
    expect(after).toBe(
      before.replace(
        '# about profiles',
        '[mcp_servers.toolhub]\nurl = "http://127.0.0.1:3000/mcp"\nstartup_timeout_sec = 9 # slow\n\n\n# about profiles',
      ),
    );
    expect(parseToml(editToml(middle, codex, undefined))).toEqual(parseToml(before));
  });

  test.each(['', '\n', 'model = "x"\n'])('the only entry is taken out, and the list with it: %j', (text) => {
    const after = editToml(text, codex, own);
    expect(parseToml(editToml(after, codex, undefined))).toEqual(parseToml(text));
    expect(editToml(`\n${after}`, codex, undefined).trim()).toBe(text.trim());
  });

  test.each([
    ['a =', 'is no TOML'],
    ['mcp_servers = 1', 'something else at "mcp_servers"'],
    ['mcp_servers = { a = { url = "x" } }', 'cannot change'],
    ['[mcp_servers]\ntoolhub = { url = "x" }', 'cannot change'],
    ['[mcp_servers.toolhub]\nargs = [\n  "x",\n]', 'cannot change'],
  ])('%j is not edited', (text, message) => {
    expect(() => editToml(text, codex, own)).toThrow(message);
  });

  test('a text that looks like a table is no table', () => {
    const text = 'a = """\n[mcp_servers.toolhub]\n"""\n';
    expect(parseToml(editToml(text, codex, own))).toEqual({
      a: '[mcp_servers.toolhub]\n',
      mcp_servers: { toolhub: own },
    });
  });

  test('whatever else a file says, it says the same afterwards', () => {
    const value = fc.oneof(fc.string(), fc.boolean(), fc.integer({ min: -1000, max: 1000 }));
    const table = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), value);
    fc.assert(
      fc.property(table, fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), table), (top, servers) => {
        const document = { top, mcp_servers: { ...servers, some: {} } };
        const text = stringify(document);
        const after = editToml(text, codex, own);
        expect(after.startsWith(text.trimEnd())).toBe(true);
        expect(editToml(after, codex, undefined).trimEnd()).toBe(text.trimEnd());
      }),
    );
  });
});

test('an entry that reaches the same in the same way is the same, whatever its key is', () => {
  const withKey = { ...entry, headers: { Authorization: 'Bearer a' } };
  expect(isSameConnection(withKey, { ...entry, headers: { Authorization: 'Bearer b' } })).toBe(true);
  expect(isSameConnection(withKey, entry)).toBe(false);
  expect(isSameConnection({ ...entry, disabled: true }, entry)).toBe(true);
  expect(isSameConnection({ ...entry, url: 'x' }, entry)).toBe(false);
  expect(isSameConnection(undefined, entry)).toBe(false);
});

test('a change is shown without the texts of others', () => {
  const before = '{"other": {"env": {"KEY": "secret-1", "URL": "https://x/y?key=secret-2"}}}';
  const after =
    '{"other": {"env": {"KEY": "secret-1"}}, "toolhub": {"url": "http://127.0.0.1:3000/mcp", "type": "http"}}';
  const shown = shownChange(before, after, new Set(['http'])).join('\n');
  expect(shown).not.toContain('secret');
  expect(shown).toContain('"toolhub": {"url": "http://127.0.0.1:3000/mcp", "type": "http"}');
  expect(shownChange('a\nb\nc\n', 'a\nb\nx\nc\n', new Set())).toEqual(['@@ line 3 @@', '+ x']);
});
