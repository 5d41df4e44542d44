import { mkdirSync, readFileSync, readdirSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { addServer, program, refusalOf, settingsPlace } from '../../test/kit/settings-place.ts';
import type { SettingsPlace } from '../../test/kit/settings-place.ts';
import { settingsFile } from './file.ts';
import { withPolicyFiles } from './system/policy-folder.ts';
import { openSettings } from './store.ts';

let place: SettingsPlace;
let folder = '';
let path = '';
beforeEach(() => {
  place = settingsPlace();
  ({ folder, path } = place);
});

const quiet = () => {};
const silent = { debug: quiet, info: quiet, warn: quiet, error: quiet };

describe('the start', () => {
  test('without a file the initial document is written, readable by its owner only', async () => {
    const store = await place.open({ mcpServers: { time: program('time') } });
    expect(store).toMatchObject({ firstStart: true, version: 1, lastError: undefined });
    expect(store.current.servers.has('time')).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe(
      '{\n  "mcpServers": {\n    "time": {\n      "command": "time"\n    }\n  }\n}\n',
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await place.open()).firstStart).toBe(false);
  });

  test.each([
    ['{\n  "a": 1,\n}', 'line 3, column 1'],
    ['{"groups":[{"name":5}]}', 'groups[0].name: expected string, found number 5'],
    ['[]', '(the whole document): expected object, found an array'],
    ['', 'the file is empty'],
    ['\ufffe{', 'not'],
  ])('a broken file stops it and says where: %j', async (text, expected) => {
    writeFileSync(path, text, text.startsWith('\ufffe') ? 'utf16le' : 'utf8');
    const error = await refusalOf(place.open());
    expect(error.code).toBe('misconfigured');
    expect(error.message).toContain(path);
    expect(error.message).toContain(expected);
    expect(readFileSync(path).length).toBeGreaterThanOrEqual(0);
  });

  test('a file that is not UTF-8 is refused once, at the line where it is not', async () => {
    writeFileSync(path, Buffer.from('{\n  "mcpServers": {},\n  "name": "caf\xe9"\n}', 'latin1'));
    const error = await refusalOf(place.open());
    const told = 'line 3, column 15: the file is not UTF-8 text';
    expect(error.message).toContain(told);
    expect(error.problems.filter(({ path: where }) => !error.message.includes(where))).toEqual([]);
  });

  test('a folder in the place of the file, and a place that does not exist, are told apart', async () => {
    mkdirSync(path);
    expect((await refusalOf(place.open())).message).toContain('is a folder (EISDIR). Docker makes one');
    const nowhere = settingsFile(join(folder, 'no', 'where.json'));
    expect((await refusalOf(openSettings({ backend: nowhere, log: silent }))).message).toContain(
      `${join(folder, 'no')} does not exist (ENOENT). Create it first.`,
    );
  });
});

test('while the folder of policies is away, what an edit itself has wrong is told as in any other change', async () => {
  const policyFolder = join(folder, 'policies');
  mkdirSync(policyFolder);
  const admin = { username: 'ann', isAdmin: true };
  place.write({ users: [admin], systemConfig: { policyFolder } });
  const store = await openSettings({ backend: settingsFile(path), log: silent, readAs: withPolicyFiles });
  atEnd(() => store.close());
  rmdirSync(policyFolder);
  await store.refresh();
  const change = (systemConfig: Record<string, unknown>) =>
    refusalOf(
      store.change((draft) => {
        draft.systemConfig = systemConfig;
      }),
    );
  const policies = [{ id: 'a', text: 'forbid(' }];
  expect(await change({ policies })).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('line 1, column') as string,
  });
  expect(await change({ policyFolder, policies })).toMatchObject({ code: 'invalid_input' });
  expect(await change({ policyFolder: `${policyFolder}-other` })).toMatchObject({ code: 'invalid_input' });
  expect(await change({ policyFolder, nameSeparator: '_' })).toMatchObject({ code: 'conflict' });
  const lockout = await change({ auth: { passwordLogin: false, breakGlass: 'ann' } });
  expect(lockout).toMatchObject({ code: 'invalid_input', problems: [{ path: 'systemConfig.auth.breakGlass' }] });
});

test('while the folder of policies is away, what another hub saves can be changed as what is in force can', async () => {
  const policyFolder = join(folder, 'policies');
  mkdirSync(policyFolder);
  place.write({ systemConfig: { policyFolder } });
  const store = await openSettings({ backend: settingsFile(path), log: silent, readAs: withPolicyFiles });
  atEnd(() => store.close());
  rmdirSync(policyFolder);
  // Another hub, which has the folder.
  await (await place.open()).change(addServer('a'));
  await store.refresh();
  expect([store.lastError?.code, store.current.servers.has('a')]).toEqual(['invalid_input', false]);
  expect(await refusalOf(store.change(addServer('b')))).toMatchObject({ code: 'conflict' });
  await store.change((draft) => {
    addServer('b')(draft);
    draft.systemConfig = {};
  });
  expect([[...store.current.servers.keys()], store.lastError]).toEqual([['a', 'b'], undefined]);

  // What is wrong in the document itself has to be corrected there.
  place.write({ groups: [{ name: 5 }], systemConfig: { policyFolder } });
  const cleared = store.change((draft) => void (draft.systemConfig = {}));
  expect(await refusalOf(cleared)).toMatchObject({ code: 'conflict' });
});

test('a device in the place of the file, which may never end, is not read', async () => {
  symlinkSync('/dev/null', path);
  const found = await settingsFile(path).load();
  if (found.kind !== 'broken') throw new Error(found.kind);
  expect(found.error.message).toBe(`Cannot read settings file ${path}: it is no file, but a device or a pipe.`);
});

test('a change keeps everything it does not touch: unknown members, order, indentation, line breaks, the last line', async () => {
  const text =
    '{\r\n\t"zebra": [1, {"x": null}],\r\n\t"mcpServers": {\r\n\t\t"b": { "command": "b", "own": {"k": [true]} }\r\n\t},\r\n\t"extra": "ü€"\r\n}';
  writeFileSync(path, text);
  const store = await place.open();
  await store.change(addServer('a'));
  const after = readFileSync(path, 'utf8');
  expect(JSON.parse(after)).toEqual({
    ...(JSON.parse(text) as object),
    mcpServers: { b: { command: 'b', own: { k: [true] } }, a: { command: 'a' } },
  });
  expect(Object.keys(JSON.parse(after) as object)).toEqual(['zebra', 'mcpServers', 'extra']);
  expect(after).toMatch(/^\{\r\n\t"zebra": \[\r\n/);
  expect(after.endsWith('}')).toBe(true);
  expect(after.replaceAll('\r\n', '')).not.toContain('\n');
});

test('a change gives back what the edit returns, swaps once and tells listeners of it', async () => {
  const store = await place.open();
  const seen: [number, number][] = [];
  const end = store.subscribe((settings, version) => void seen.push([settings.servers.size, version]));
  expect(await store.change((draft) => (addServer('a')(draft), 'done'))).toBe('done');
  expect(store.version).toBe(2);
  end();
  await store.change(addServer('b'));
  expect(seen).toEqual([[1, 2]]);
});

test('a change that changes nothing writes nothing', async () => {
  place.write({ groups: [{ name: 'g' }] });
  const before = statSync(path, { bigint: true });
  const store = await place.open();
  expect(await store.change((draft) => draft.groups?.length)).toBe(1);
  expect(statSync(path, { bigint: true })).toEqual({
    ...before,
    atimeNs: expect.anything() as bigint,
    atimeMs: expect.anything() as bigint,
    atime: expect.anything() as Date,
  });
  expect(store.version).toBe(1);
});

test('a change that is not valid, or throws, leaves everything as it was', async () => {
  const store = await place.open({ mcpServers: { a: program('a') } });
  const before = readFileSync(path, 'utf8');
  const error = await refusalOf(store.change((draft) => void (draft.mcpServers = { a: { args: [1] } })));
  expect(error.code).toBe('invalid_input');
  expect(error.problems.map((problem) => problem.path)).toEqual(['mcpServers.a.args[0]', 'mcpServers.a']);
  await expect(
    store.change((draft) => {
      draft.mcpServers = {};
      throw new RangeError('mine');
    }),
  ).rejects.toThrow(RangeError);
  expect(store).toMatchObject({ version: 1 });
  expect(store.current.servers.has('a')).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe(before);
});

test('the document in force cannot be changed, not even through what an edit returned', async () => {
  const store = await place.open({ mcpServers: { a: program('a') } });
  const draft = await store.change((draft) => (addServer('b')(draft), draft));
  draft.mcpServers = {};
  expect(store.document.mcpServers).toHaveProperty('b');
  expect(() => Object.assign(store.document.mcpServers?.['a'] ?? {}, { command: 'evil' })).toThrow(TypeError);
});

test('a change writes the id that a hand-written group already had, so that a rename keeps it', async () => {
  place.write({ groups: [{ name: 'Dev' }] });
  const store = await place.open();
  const id = store.current.groups[0]?.id;
  await store.change((draft) => void Object.assign(draft.groups?.[0] ?? {}, { name: 'Ops' }));
  expect(store.current.groups[0]).toMatchObject({ id, name: 'Ops' });
  expect(place.read().groups).toEqual([{ name: 'Ops', id }]);
});

test('many at once all land, one after the other', async () => {
  const store = await place.open();
  await Promise.all(Array.from({ length: 25 }, (_, i) => store.change(addServer(`s${i}`))));
  expect(Object.keys(place.read().mcpServers ?? {})).toHaveLength(25);
  expect(store.version).toBe(26);
});

test('a change follows a symbolic link to its target and keeps the mode', async () => {
  const target = join(folder, 'target.json');
  writeFileSync(target, '{}', { mode: 0o640 });
  symlinkSync('target.json', path);
  const store = await place.open();
  await store.change(addServer('a'));
  expect(readFileSync(target, 'utf8')).toContain('"a"');
  expect(statSync(target).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder).toSorted()).toEqual(['mcp_settings.json', 'target.json']);
});

test('a change after close is refused', async () => {
  const store = await place.open();
  await store.close();
  expect((await refusalOf(store.change(addServer('a')))).code).toBe('not_ready');
});
