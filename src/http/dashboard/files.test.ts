import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dashboardRoutes } from './files.ts';

let folder: string;
const script = 'console.log(1);\n';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(
    join(folder, 'index.html'),
    '<base href="/" /><script type="application/json" id="hub">\n  {}\n</script><script>early()</script><script type="module" src="./assets/a.js"></script>',
  );
  writeFileSync(join(folder, 'assets/a.js'), script);
  writeFileSync(join(folder, 'assets/a.js.gz'), gzipSync(script));
  writeFileSync(join(folder, '.sources'), 'not for anybody');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open = (options: { basePath?: string; readonly?: boolean; globalRoute?: () => boolean } = {}) =>
  dashboardRoutes({ basePath: '', version: '1.2.3', readonly: false, globalRoute: () => true, folder, ...options });

/** What the hub wrote for the page to read. */
const bootOf = (text: string) => JSON.parse(/id="hub">([^<]*)</.exec(text)?.[1] ?? '') as Record<string, unknown>;

describe('the page', () => {
  test('is served at every address of the dashboard, and at no other', async () => {
    const app = open();
    for (const path of ['/', '/login', '/servers', '/servers/a%2Fb', '/groups/dev', '/settings/smart']) {
      const response = await app.request(path);
      expect([path, response.status, response.headers.get('cache-control')]).toEqual([path, 200, 'no-store']);
    }
    for (const path of [
      '/nope',
      '/serversx',
      '/mcp',
      '/.sources',
      '/assets/a.js.gz',
      '/index.html',
      '/assets/../../package.json',
    ]) {
      expect([path, (await app.request(path)).status]).toEqual([path, 404]);
    }
  });

  test('knows the base path, and is nowhere else then', async () => {
    const app = open({ basePath: '/hub', readonly: true });
    for (const path of ['/hub', '/hub/', '/hub/servers']) {
      const text = await (await app.request(path)).text();
      expect(text).toContain('<base href="/hub/" />');
      expect(bootOf(text)).toMatchObject({ basePath: '/hub', version: '1.2.3', readonly: true });
    }
    expect((await app.request('/')).status).toBe(404);
    expect((await app.request('/hub/assets/a.js')).status).toBe(200);
  });

  test('cannot be made to carry markup by its base path', async () => {
    const text = await (await open({ basePath: '/"><b>' }).request('/%22%3E%3Cb%3E/')).text();
    expect(text).not.toContain('<b>');
  });

  test('loads from this hub alone, and allows no inline script but its own, and no style but those of its nonce, which is new each time', async () => {
    const app = open();
    const [first, second] = await Promise.all([app.request('/'), app.request('/')]);
    const policy = first?.headers.get('content-security-policy') ?? '';
    const nonce = bootOf((await first?.text()) ?? '')['nonce'];
    expect(policy).toContain("default-src 'none'");
    const early = createHash('sha256').update('early()').digest('base64');
    expect(policy).toContain(`script-src 'self' 'sha256-${early}';`);
    expect(policy).toContain(`style-src 'self' 'nonce-${String(nonce)}'`);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(second?.headers.get('content-security-policy')).not.toBe(policy);
  });

  test('has a frame for what strangers wrote, which has an origin of its own and reaches nothing', async () => {
    const response = await open({ basePath: '/hub' }).request('/hub/assets/app-frame');
    const policy = response.headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy).toEqual(
      expect.arrayContaining(['sandbox allow-scripts', "default-src 'none'", "frame-ancestors 'self'"]),
    );
    expect(policy.filter((line) => /https?:|\*|'self'/.test(line))).toEqual(["frame-ancestors 'self'"]);
    const page = (await open().request('/')).headers.get('content-security-policy') ?? '';
    expect(page).toContain("frame-src 'self'");
  });

  test('knows whether the endpoint of all servers is on, as it is then', async () => {
    let globalRoute = true;
    const app = open({ globalRoute: () => globalRoute });
    const seen = async () => bootOf(await (await app.request('/')).text())['globalRoute'];
    expect(await seen()).toBe(true);
    globalRoute = false;
    expect(await seen()).toBe(false);
  });

  test('says how to build it where it is not built', async () => {
    const response = await dashboardRoutes({
      basePath: '',
      version: '',
      readonly: false,
      globalRoute: () => true,
      folder: join(folder, 'no'),
    }).request('/');
    expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('npm run build')]);
  });
});

describe('files', () => {
  test('are kept by browsers for good, and come packed to those that can unpack', async () => {
    const app = open();
    const plain = await app.request('/assets/a.js');
    expect(plain.headers.get('cache-control')).toContain('immutable');
    expect(plain.headers.get('content-type')).toContain('text/javascript');
    expect(await plain.text()).toBe(script);
    const packed = await app.request('/assets/a.js', { headers: { 'accept-encoding': 'br, gzip' } });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe(script);
  });
});
