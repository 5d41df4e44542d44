import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { silent, tempFolder } from '../../../../test/kit/databases.ts';
import { HubError } from '../../../core/errors.ts';
import type { SandboxSettings } from '../../../core/settings/server.ts';
import { openReaper } from './reaper.ts';
import type { StdioOptions } from './program.ts';
import { inSandbox, type SandboxPlaces } from './sandbox.ts';

const folder = tempFolder();
const engines = made('engines/bwrap');
const outside = { dataDir: join(folder, 'data'), secretFiles: [join(folder, 'settings.json'), join(folder, '.env')] };

/** A program, with its folder; the folder. */
function made(path: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return dirname(file);
}

interface Wanted {
  readonly sandbox?: Partial<SandboxSettings>;
  readonly places?: SandboxPlaces;
  readonly more?: Partial<StdioOptions>;
}

/** What is mounted of the host, as `source:target`; or the code of the refusal. */
function mounts({ sandbox, places = outside, more }: Wanted): string[] | string {
  try {
    const { spawned } = inSandbox(
      {
        name: 'notes',
        command: 'sh',
        args: [],
        env: {},
        inheritedEnv: { PATH: `${engines}:/usr/bin:/bin` },
        cwd: undefined,
        maxMessageBytes: 1,
        log: silent,
        owner: '',
        reaper: openReaper(),
        ...more,
      },
      { sandbox: { network: 'none', read: [], write: [], ...sandbox }, places, isShared: true },
    );
    const args = spawned?.args ?? [];
    return args.flatMap((arg, at) =>
      /^--(ro-)?bind(-try)?$/.test(arg) ? [`${args[at + 1] ?? ''}:${args[at + 2] ?? ''}`] : [],
    );
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return error.reason?.code ?? error.message;
  }
}

test('folders of the system around the data folder or a file with secrets are refused, and /opt is no such folder', () => {
  const at = (dataDir: string, file: string) => mounts({ places: { dataDir, secretFiles: [file] } });
  expect(at('/usr/local/toolhub/data', '/srv/settings.json')).toBe('sandbox_secret');
  expect(at('/srv/data', '/usr/local/toolhub/.env')).toBe('sandbox_secret');
  expect(at('/opt/toolhub/data', '/opt/toolhub/.env')).toContain('/usr:/usr');
  expect(at('/opt/toolhub/data', '/opt/toolhub/.env')).not.toContain('/opt:/opt');
});

test('of the installation of a program only what runs it is there, and not what is beside that', () => {
  const local = dirname(made('ann/.local/bin/uvx'));
  for (const name of ['lib', 'share/keyrings', 'state']) mkdirSync(join(local, name), { recursive: true });
  const found = mounts({ more: { command: join(local, 'bin', 'uvx') } });
  expect(found).toEqual(
    expect.arrayContaining(['bin', 'lib'].map((name) => `${join(local, name)}:${join(local, name)}`)),
  );
  expect(String(found)).not.toMatch(/\.local:|\.local\/(share|state)/);
  const modules = made('ann/.node/lib/node_modules/thing/cli.js');
  mkdirSync(join(folder, 'ann/.node/share'));
  expect(String(mounts({ more: { command: join(modules, 'cli.js') } }))).not.toMatch(/\.node:|\.node\/share/);
  const places = { dataDir: join(local, 'lib', 'toolhub'), secretFiles: [] };
  expect(mounts({ places, more: { command: join(local, 'bin', 'uvx') } })).toBe('sandbox_secret');
});

test('a Python environment is there with its own libraries', () => {
  const bin = made('ann/project/.venv/bin/tool');
  mkdirSync(join(bin, '../lib'));
  writeFileSync(join(bin, '../pyvenv.cfg'), '');
  symlinkSync('/bin/sh', join(bin, 'python'));
  const found = String(mounts({ more: { command: join(bin, 'python') } }));
  for (const part of ['bin', 'lib', 'pyvenv.cfg']) expect(found).toContain(join(bin, '..', part));
});

test('no path is taken from the host where the program could put a link', () => {
  const own = join(folder, 'own');
  const private_ = join(folder, 'private');
  for (const path of [join(own, 'sub'), private_]) mkdirSync(path, { recursive: true });
  const sub = join(own, 'sub');
  expect(mounts({ sandbox: { write: [own], read: [sub] } })).toBe('sandbox_nested');
  expect(mounts({ sandbox: { write: [own, sub] } })).toBe('sandbox_nested');
  // A link of the operator into it.
  symlinkSync(sub, join(folder, 'way'));
  expect(mounts({ sandbox: { write: [own], read: [join(folder, 'way')] } })).toBe('sandbox_nested');
  expect(mounts({ sandbox: { write: [own] }, more: { cwd: join(folder, 'way') } })).toBe('sandbox_nested');
  // The other way round nothing can be changed.
  expect(mounts({ sandbox: { write: [sub], read: [own] } })).toContain(`${sub}:${sub}`);
  rmSync(sub, { recursive: true });
  symlinkSync(private_, sub);
  for (const wanted of [{ read: [sub] }, { write: [own, sub] }])
    expect(mounts({ sandbox: { write: [own], ...wanted } })).toBe('sandbox_nested');
  expect(String(mounts({ sandbox: { write: [own] }, more: { cwd: sub } }))).not.toMatch(/private|sub/);
});

test('links that a program made of its own command lead to no other installation', () => {
  const writes = join(folder, 'writes');
  const home = join(outside.dataDir, 'sandbox', 'notes');
  const other = made('ann/other/bin/tool');
  mkdirSync(join(other, '../lib'));
  for (const place of [writes, home]) {
    mkdirSync(place, { recursive: true });
    symlinkSync(join(other, 'tool'), join(place, 'tool'));
    const found = mounts({ sandbox: { write: [writes] }, more: { command: join(place, 'tool') } });
    expect(String(found)).not.toContain(other);
  }
});
