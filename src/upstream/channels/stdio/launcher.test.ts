import { expect, test } from 'vitest';
import { launcherOf } from './launcher.ts';

test.each([
  ['npx -y pkg', 'npx', '-y pkg'],
  ['/usr/local/bin/npx -y pkg', 'npx', '-y pkg'],
  ['C:\\node\\npx.cmd -y pkg', 'npx', '-y pkg'],
  ['npm exec -y -- pkg', 'npx', '-y -- pkg'],
  ['npm x pkg', 'npx', 'pkg'],
  ['cmd /c npx -y pkg', 'npx', '-y pkg'],
  ['uvx mcp-server-fetch', 'uvx', 'mcp-server-fetch'],
  ['uv tool run mcp-server-fetch', 'uvx', 'mcp-server-fetch'],
  ['bunx pkg', 'bunx', 'pkg'],
  ['pnpm dlx pkg', 'pnpm dlx', 'pkg'],
  ['yarn dlx pkg', 'yarn dlx', 'pkg'],
  ['pipx run pkg', 'pipx run', 'pkg'],
  ['docker run -i --rm image', 'docker run', '-i --rm image'],
  ['podman run image', 'podman run', 'image'],
])('%s is the launcher %s', (line, name, args) => {
  const [command = '', ...rest] = line.split(' ');
  expect(launcherOf(command, rest)).toEqual({ name, args: args.split(' ') });
});

test('a launcher behind a shell is one', () => {
  expect(launcherOf('sh', ['-c', 'TOKEN=x exec npx -y pkg'])).toEqual({ name: 'npx', args: ['-y', 'pkg'] });
  expect(launcherOf('bash', ['-c', 'uvx tool'])?.name).toBe('uvx');
});

test.each([
  'node server.mjs',
  'npm start',
  'uv run server.py',
  'docker exec -i box server',
  'cmd',
  'sh -c',
  'npxx pkg',
])('%s is a program as any other', (line) => {
  const [command = '', ...rest] = line.split(' ');
  expect(launcherOf(command, rest)).toBeUndefined();
});
