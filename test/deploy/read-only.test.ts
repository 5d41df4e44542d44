import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atEnd } from '../kit/at-end.ts';
import { temporaryFolder } from '../kit/hostile.ts';
import { until } from '../kit/until.ts';
import { root } from './files.ts';

const isolated = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
const hasSandboxes = spawnSync('bwrap', [...isolated, 'true']).status === 0;

test.skipIf(!hasSandboxes)('a hub serves where nothing but its volume can be written to', async () => {
  const volume = temporaryFolder();
  chmodSync(volume, 0o700);
  mkdirSync(join(volume, 'tmp'));
  // Without servers, which would take most of the time.
  writeFileSync(join(volume, 'mcp_settings.json'), '{}');
  const options = ['--die-with-parent', ...isolated, '--bind', volume, volume, '--chdir', volume];
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(volume, 'home'),
    TMPDIR: join(volume, 'tmp'),
    PORT: '0',
    SETTINGS_PATH: join(volume, 'mcp_settings.json'),
    DATA_DIR: join(volume, 'hub'),
    LOG_FORMAT: 'json',
  };
  const program = [process.execPath, `${root}dist/cli.js`, 'serve'];
  const hub = spawn('bwrap', [...options, ...program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(hub, 'exit');
  atEnd(() => void hub.kill('SIGKILL'));
  let output = '';
  for (const stream of [hub.stdout, hub.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const url = await until('the hub is ready', () => /is ready".*?"url":"([^"]+)"/.exec(output)?.[1]);
  await until('its database is open', async () => {
    const health = (await (await fetch(`${url}/health`)).json()) as { database: { state: string } };
    return health.database.state === 'ready';
  });
  expect(existsSync(join(env.DATA_DIR, 'database'))).toBe(true);
  expect(output).not.toMatch(/EROFS|read-only file system/i);
  hub.kill('SIGKILL');
  await exited;
});
