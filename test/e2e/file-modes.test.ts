import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diskLimits } from '../../src/disk/limits.ts';
import { login } from '../kit/api.ts';
import { temporaryFolder } from '../kit/hostile.ts';
import { hubProcess } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('an open data folder and an open settings file are closed at the start, and so is a file that an editor replaced', async () => {
  const folder = temporaryFolder();
  const settings = join(folder, 'mcp_settings.json');
  const data = join(folder, 'data');
  mkdirSync(join(data, 'bundles'), { recursive: true });
  writeFileSync(settings, '{"mcpServers": {}}');
  writeFileSync(join(data, 'catalogue.json'), '{}');
  for (const [path, mode] of [
    [settings, 0o644],
    [data, 0o755],
    [join(data, 'bundles'), 0o777],
    [join(data, 'catalogue.json'), 0o644],
  ] as const)
    chmodSync(path, mode);
  const before = process.umask(0);
  const hub = await hubProcess({ folder }).finally(() => process.umask(before));
  await login(hub);
  expect([modeOf(settings), modeOf(data), modeOf(join(data, 'bundles'))]).toEqual(['600', '700', '700']);
  // Its socket is closed by the folder: systems make sockets with modes of their own.
  const files = readdirSync(data).filter((name) => !name.endsWith('.sock'));
  for (const name of files) expect(statSync(join(data, name)).mode & 0o007, name).toBe(0);
  expect(hub.output()).toContain(`access to settings file ${settings} (0644); it is 0600 now`);
  expect(hub.output()).toContain(`access to data folder ${data} (0755); it is 0700 now`);
  hub.write({ mcpServers: {}, edited: true });
  await until('the new file is closed too', () => modeOf(settings) === '600');
});

test('what a killed hub left half written is gone after a start, of settings and of data', async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  mkdirSync(data);
  const left = [
    join(folder, '.mcp_settings.json.4711.0123456789ab.tmp'),
    join(data, '.catalogue.json.4711.0123456789ab.tmp'),
    join(data, '.oauth.sealed.1.ba9876543210.tmp'),
  ];
  const stays = [join(folder, '.package.json.4711.0123456789ab.tmp')];
  const old = new Date(Date.now() - 2 * diskLimits.temporaryFileMs);
  for (const path of [...left, ...stays]) {
    writeFileSync(path, '{"users": []}');
    utimesSync(path, old, old);
  }
  await hubProcess({ folder, mcpServers: {} });
  expect(left.filter((path) => existsSync(path))).toEqual([]);
  expect(stays.filter((path) => existsSync(path))).toEqual(stays);
});
