// Pictures of the dashboard with a sample hub; needs Chromium and a build. node scripts/screenshots.mjs: those that the
// documents show. node scripts/screenshots.mjs <folder> [page …]: every page, or those named, light and dark, desktop
// and phone.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { adminCookies, demoSettings, makeTraffic, password } from './demo-hub.mjs';

const [target, ...wanted] = process.argv.slice(2);
const pages = {
  login: '/login',
  overview: '/',
  servers: '/servers',
  'server-add': '/servers?add=form',
  catalogue: '/catalog',
  server: '/servers/everything',
  override: '/servers/everything?tool=get-sum&override=get-sum',
  'server-down': '/servers/tickets',
  groups: '/groups',
  group: '/groups/writing',
  playground: '/tools?server=everything&tool=get-sum',
  smart: '/smart?q=create%20a%20note',
  prompts: '/settings/prompts',
  'prompt-add': '/settings/prompts?prompt=new',
  costs: '/tools/costs',
  traffic: '/activity/traffic',
  activity: '/activity',
  logs: '/logs',
  users: '/users',
  keys: '/keys',
  connect: '/account/connect?client=cursor&reach=all&credential=have',
  settings: '/settings',
  'settings-transfer': '/settings?tab=transfer',
  account: '/account',
  apps: '/account/apps',
  credentials: '/account/credentials',
  approvals: '/approvals',
  policies: '/policies',
  pins: '/pins',
  guards: '/settings/guards',
  'guard-add': '/settings/guards?open=%2B',
  audit: '/audit',
};
const shapes = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
};

/** Every page of the router has its picture. */
const routes = [...readFileSync('web/src/app/router.tsx', 'utf8').matchAll(/^ {2}path: '([^']+)'/gm)].map(
  ([, path]) => path,
);
for (const route of routes) {
  const page = new RegExp(`^${route.replaceAll(/\$\w+/g, '[^/]+')}(?:[?]|$)`);
  if (!Object.values(pages).some((path) => page.test(path))) throw new Error(`${route} is not among the pages here`);
}

const documents = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith('.md'),
);
const shown = new Set(
  documents.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/images\/([\w-]+)\.png/g)].map(([, name]) => name),
  ),
);
const isWanted = (picture, page) =>
  target === undefined ? shown.has(picture) : wanted.length === 0 || wanted.includes(page);
const into = target ?? 'docs/images';

const folder = mkdtempSync(join(tmpdir(), 'screenshots-'));
writeFileSync(join(folder, 'mcp_settings.json'), JSON.stringify(demoSettings(folder)));
const hub = spawn(process.execPath, [resolve('dist/cli.js'), 'serve'], {
  cwd: folder,
  env: {
    PATH: process.env.PATH,
    HOME: folder,
    PORT: '0',
    SETTINGS_PATH: join(folder, 'mcp_settings.json'),
    DATA_DIR: join(folder, 'data'),
    LOG_FORMAT: 'json',
    ADMIN_PASSWORD: password,
  },
});
try {
  const url = await addressOf(hub);
  // The audit log is in the database alone.
  while ((await (await fetch(`${url}/health`)).json()).database.state !== 'ready') await setTimeout(100);
  await makeTraffic(url);
  const cookies = await adminCookies(url);
  const browser = await chromium.launch({
    executablePath: ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  mkdirSync(into, { recursive: true });
  for (const [shape, viewport] of Object.entries(shapes)) {
    for (const colorScheme of ['light', 'dark']) {
      const context = await browser.newContext({
        viewport,
        colorScheme,
        reducedMotion: 'reduce',
        locale: 'en-GB',
        deviceScaleFactor: 1,
      });
      const page = await context.newPage();
      await context.addCookies(cookies);
      for (const [name, path] of Object.entries(pages)) {
        const picture = `${name}-${shape}-${colorScheme}`;
        if (!isWanted(picture, name)) continue;
        await page.goto(`${url}${path}`);
        await page.getByRole('heading').first().waitFor();
        if (name === 'playground') await callTool(page);
        await page.locator('[role=status][aria-label^="Loading"]').first().waitFor({ state: 'detached' });
        await page.waitForTimeout(700);
        await page.screenshot({ path: join(into, `${picture}.png`) });
      }
      await context.close();
    }
  }
  await browser.close();
} finally {
  hub.kill('SIGTERM');
  await new Promise((done) => hub.once('exit', done));
  rmSync(folder, { recursive: true, force: true });
}

/** So that there is an answer to be seen. */
async function callTool(page) {
  await page.getByLabel('a', { exact: true }).fill('2');
  await page.getByLabel('b', { exact: true }).fill('40');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('OK', { exact: true }).waitFor();
}

function addressOf(child) {
  return new Promise((found, failed) => {
    let text = '';
    const read = (chunk) => {
      text += chunk;
      // What servers say has addresses too.
      const match = /is ready".*?(http:\/\/127\.0\.0\.1:\d+)/.exec(text);
      if (match) found(match[1]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => failed(new Error(text)));
  });
}
