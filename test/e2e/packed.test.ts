import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { hubProcess } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What `npm pack` takes, and that a hub made of that and its dependencies alone does what it does in the repository.

interface LockFile {
  readonly packages: Record<string, { readonly dev?: true; readonly optional?: true }>;
}

let packed: readonly string[];
/** Packages that npm installs for users, by their paths below the root; one for another platform is not there. */
const installed = Object.entries((JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile).packages)
  .filter(([path, { dev, optional }]) => path !== '' && dev !== true && (optional !== true || existsSync(path)))
  .map(([path]) => path);

beforeAll(() => {
  const { stdout, stderr } = spawnSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    shell: process.platform === 'win32',
  });
  try {
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    packed = files.map(({ path }) => path);
  } catch {
    throw new Error(`npm pack said ${stdout}${stderr}`);
  }
});

test('no sources, tests, source maps, pictures or settings are packed, only what a hub needs and says', () => {
  const folders = new Set(packed.map((path) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : path)));
  expect([...folders].sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'docs',
    'models',
    'package.json',
  ]);
  expect(
    packed.filter((path) => /\.(?:map|tsx?|mts|log)$|\.test\.|\/images\/|(?:^|\/)\.|settings\.json$/.test(path)),
  ).toEqual([]);
});

test('what is packed and its dependencies are a whole hub: database, search, policies, code, passwords, dashboard', async () => {
  const root = temporaryFolder();
  for (const path of [...packed, ...installed]) cpSync(path, join(root, path), { recursive: true });
  const server = await hostileHttp({ name: 's', tools: ['echo'] });
  const hub = await hubProcess({ mcpServers: { s: server.config }, env: { DB_URL: '' } }, join(root, 'dist', 'cli.js'));
  await hub.connected(1);
  const health = async () => (await (await fetch(`${hub.url}/health`)).json()) as Record<string, { state: string }>;
  await until('the database and the search are there', async () => {
    const { database, smartRouting } = await health();
    return database?.state === 'ready' && smartRouting?.state === 'ready';
  });
  const token = await login(hub);
  const policies = [{ id: 'none', text: 'forbid (principal, action, resource);' }];
  expect((await api(hub, 'POST', '/policies/simulate', { token, body: { policies } })).status).toBe(200);
  const code = { name: 'run_code', arguments: { code: 'return 6 * 7' } };
  expect((await rpc(hub.mcp('$code'), 'tools/call', code)).result?.structuredContent).toMatchObject({ result: 42 });
  const page = await fetch(hub.url, { headers: { accept: 'text/html' } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
});
