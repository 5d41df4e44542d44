import { mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { addServer, program, refusalOf, settingsPlace } from '../../../test/kit/settings-place.ts';
import type { SettingsPlace } from '../../../test/kit/settings-place.ts';
import { until } from '../../../test/kit/until.ts';

let place: SettingsPlace;
let folder = '';
let path = '';
beforeEach(() => {
  place = settingsPlace();
  ({ folder, path } = place);
});

test('a hand edit is taken over live, whether the editor writes the file or replaces it', async () => {
  const store = await place.open();
  place.write({ mcpServers: { a: program('a') } });
  await until('the edit is seen', () => store.current.servers.has('a'));
  writeFileSync(join(folder, 'new'), '{"mcpServers":{"b":{"command":"b"}}}');
  renameSync(join(folder, 'new'), path);
  await until('the replacement is seen', () => store.current.servers.has('b'));
  expect([...store.current.servers.keys()]).toEqual(['b']);
  expect(store.version).toBe(3);
});

test('a hand edit behind a symbolic link is seen too, and so is a link that points elsewhere', async () => {
  mkdirSync(join(folder, 'one'));
  mkdirSync(join(folder, 'two'));
  writeFileSync(join(folder, 'one', 'f.json'), '{}');
  writeFileSync(join(folder, 'two', 'f.json'), '{"mcpServers":{"two":{"command":"x"}}}');
  symlinkSync(join('one', 'f.json'), path);
  const store = await place.open();
  writeFileSync(join(folder, 'one', 'f.json'), '{"mcpServers":{"one":{"command":"x"}}}');
  await until('the target was changed', () => store.current.servers.has('one'));
  symlinkSync(join('two', 'f.json'), `${path}.new`);
  renameSync(`${path}.new`, path);
  await until('the link was changed', () => store.current.servers.has('two'));
});

test('a hand edit that is broken is reported once, in full; the last good settings stay until it is mended', async () => {
  const store = await place.open({ mcpServers: { a: program('a') } });
  place.write({ mcpServers: { a: { command: 'a', args: [1] }, b: {} }, groups: [{}] });
  await until('it is refused', () => store.lastError);
  expect(place.logged('error')).toHaveLength(1);
  for (const at of ['mcpServers.a.args[0]', 'mcpServers.b', 'groups[0].name'])
    expect(place.logged('error')[0]).toContain(`${at}: `);
  writeFileSync(path, '{\n "mcpServers": {,}\n}');
  await until('the next one too', () => place.logged('error').length === 2);
  expect(place.logged('error')[1]).toContain('line 2, column 17');
  expect(store.current.servers.has('a')).toBe(true);
  expect(store.version).toBe(1);

  const broken = readFileSync(path, 'utf8');
  const error = await refusalOf(store.change(addServer('c')));
  expect(error.code).toBe('conflict');
  expect(error.message).toContain('Correct it first');
  expect(readFileSync(path, 'utf8')).toBe(broken);

  place.write({ mcpServers: { a: program('a'), b: program('b') } });
  await until('it is mended', () => store.current.servers.has('b'));
  expect(store.lastError).toBeUndefined();
  expect(place.logged('info')).toContainEqual(expect.stringContaining('is in order again'));
});

test('a hand edit taken back to the old text ends the complaint without a swap', async () => {
  const store = await place.open();
  const good = readFileSync(path, 'utf8');
  writeFileSync(path, '{');
  await until('it is refused', () => store.lastError);
  writeFileSync(path, good);
  await until('it is taken back', () => store.lastError === undefined);
  expect(store.version).toBe(1);
});

test('a hand edit of spaces only is told to no subscriber', async () => {
  const store = await place.open();
  let told = 0;
  store.subscribe(() => told++);
  writeFileSync(path, '{ }\n\n');
  // Reads what is there before it does anything.
  await store.change(() => undefined);
  expect([told, store.version]).toEqual([0, 1]);
  place.write({ mcpServers: { a: program('a') } });
  await until('the real edit is seen', () => store.current.servers.has('a'));
  expect(told).toBe(1);
});

test('warnings are logged, each once', async () => {
  const store = await place.open();
  place.write({ groups: [{ name: 'g', servers: ['no'] }] });
  await until('it is seen', () => store.version === 2);
  place.write({ groups: [{ name: 'g', servers: ['no'] }, { name: 'h' }] });
  await until('it is seen', () => store.version === 3);
  expect(place.logged('warn')).toEqual([
    `warn In the settings file ${path}, groups[0].servers[0]: there is no server "no"; kept for when there is one`,
  ]);
});

test('a hand edit that removes the file is a warning; the next change writes it again', async () => {
  const store = await place.open({ mcpServers: { a: program('a') } });
  unlinkSync(path);
  await until('it is missed', () => place.logged('warn').length === 1);
  expect(store.current.servers.has('a')).toBe(true);
  await store.change(addServer('b'));
  expect(Object.keys(place.read().mcpServers ?? {})).toEqual(['a', 'b']);
});

test('a listener that throws harms neither the others nor the change', async () => {
  const store = await place.open();
  const seen: number[] = [];
  store.subscribe(() => {
    throw new Error('mine');
  });
  store.subscribe((_, version) => void seen.push(version));
  await store.change(addServer('a'));
  expect(seen).toEqual([2]);
  expect(place.logged('error')[0]).toContain('mine');
});
