import { join } from 'node:path';
import type { Disposable, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { copyOfEmbedded } from '../kit/embedded-template.ts';
import { hostileHttp, hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';
import { violationsInEveryLook, visit, waitsForAnswers } from './kit.ts';

// What Lighthouse would look at, on every page: nothing moves while it loads, everything has a label, nothing is said
// in the console (`kit.ts`). How little is loaded is in `frame.test.ts`.

let hub: TestHub;
let token: string;

beforeAll(async () => {
  const folder = temporaryFolder();
  await copyOfEmbedded(join(folder, 'data'));
  hub = await testHub({
    folder,
    // The audit log is in the database alone.
    env: { DB_URL: '' },
    mcpServers: {
      alpha: (
        await hostileHttp({ tools: 12, prompts: [{ name: 'ask' }], resources: [{ uri: 'note://1', name: 'one' }] })
      ).config,
      dead: hostileStdio({ exitAt: 'start', lastWords: 'no key in the environment' }).config,
      off: { command: 'node', enabled: false },
    },
    groups: [{ id: 'g1', name: 'dev', servers: ['alpha', 'dead'], owner: 'admin' }],
  });
  await hub.connected(1);
  token = await login(hub);
  for (let call = 0; call < 3; call++) {
    await api(hub, 'POST', '/tools/call/alpha', { token, body: { toolName: `tool_0000${call}` } });
  }
  await api(hub, 'POST', '/auth/keys', { token, body: { name: 'laptop', accessType: 'all' } });
  await attemptOfDead();
});

const pages = [
  '/',
  '/servers',
  '/servers?add=form',
  '/catalog',
  '/catalog?category=files&add=form',
  '/servers/alpha',
  '/servers/alpha?tab=prompts',
  '/servers/alpha?tab=config',
  '/servers/alpha?tab=log',
  '/servers/alpha?tab=connect',
  '/servers/dead',
  '/servers/off',
  '/groups',
  '/groups/g1',
  '/tools',
  '/tools?server=alpha&tool=tool_00000',
  '/tools/costs',
  '/smart',
  '/smart?q=create%20a%20note',
  '/settings/prompts',
  '/settings/prompts?prompt=new',
  '/activity',
  '/activity?kind=search',
  '/activity?kind=patterns',
  '/activity/traffic',
  '/logs',
  '/approvals',
  '/policies',
  '/policies?open=new',
  '/pins',
  '/settings/guards',
  '/settings/guards?open=%2B',
  '/audit',
  '/users',
  '/keys',
  '/account/connect',
  '/account/connect?client=cursor&reach=all&credential=none&since=0',
  '/account/apps',
  '/account/credentials',
  '/settings',
  '/settings?tab=transfer',
  '/account',
];

interface Watched {
  /** Sum of the layout shifts, with what moved. */
  shift: number;
  readonly moved: string[];
  lastChange: number;
}

/** Notes what moves from the first moment on, as the browser itself does for its users' statistics. */
function watchShifts(page: Page): Promise<Disposable> {
  return page.addInitScript(() => {
    const seen: Watched = { shift: 0, moved: [], lastChange: performance.now() };
    Object.assign(window, { seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, sources } = entry as PerformanceEntry & { value: number; sources: { node: Node | null }[] };
        seen.shift += value;
        seen.moved.push(...sources.map(({ node }) => (node instanceof Element ? node.outerHTML.slice(0, 120) : '')));
      }
    }).observe({ type: 'layout-shift', buffered: true });
    new MutationObserver(() => {
      seen.lastChange = performance.now();
    }).observe(document, { childList: true, subtree: true });
  });
}

/** Until the page has its heading, waits for no answer and has been the same for a while; what has moved by then. */
async function settled(page: Page): Promise<Watched> {
  // A dialog hides it from roles.
  await page.locator('h1').waitFor();
  let seen: Watched;
  do {
    await until('the page has all its answers', () => !waitsForAnswers(page));
    // By timers of the page: each look from here would be work for it as well.
    seen = await page.evaluate(async () => {
      const { seen } = window as unknown as { seen: Watched };
      const isLoading = () => document.querySelector('[role=status][aria-label^="Loading"]') !== null;
      const restMs = () => seen.lastChange + 100 - performance.now();
      while (isLoading() || restMs() > 0) await new Promise((later) => setTimeout(later, Math.max(restMs(), 20)));
      return seen;
    });
  } while (waitsForAnswers(page));
  return seen;
}

const look = (path: string, width: number): Promise<Page> =>
  visit(hub, path, { width, sharp: true, before: watchShifts, ...(path === '/login' && { as: undefined }) });

/** Controls that a reader of screens would have no word for. */
async function withoutLabel(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wordsFor = (element: Element) => [
      element.getAttribute('aria-label'),
      (element as HTMLInputElement).labels?.[0]?.textContent,
      element.querySelector('img')?.alt,
      element.textContent,
    ];
    const controls = [...document.querySelectorAll('a, button, input, select, textarea, [role=switch], [role=img]')];
    const named = (control: Element) => wordsFor(control).some((words) => (words ?? '').trim() !== '');
    return controls.filter((control) => !named(control)).map((control) => control.outerHTML);
  });
}

/** Controls that a finger does not hit: lower than 40 pixels, with what stands around them for touches. */
async function tooLow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const height = (control: Element): number => {
      const after = getComputedStyle(control, '::after');
      const around = after.content !== 'none' && after.position === 'absolute' ? Number.parseFloat(after.height) : 0;
      return Math.max((control.closest('label') ?? control).getBoundingClientRect().height, around || 0);
    };
    const controls = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')].filter(
      (control) =>
        !control.classList.contains('sr-only') &&
        control.getBoundingClientRect().height > 1 &&
        control.checkVisibility({ visibilityProperty: true, opacityProperty: true }),
    );
    return controls.filter((control) => height(control) < 39.5).map((control) => control.outerHTML.slice(0, 160));
  });
}

/**
 * As `faults`, of the page at a path. The hub tries again to start the server that has ended, and what pages show of it
 * changes then: what was seen meanwhile does not count.
 */
async function faultsAt(page: Page, path: string): Promise<string[]> {
  for (;;) {
    const before = await attemptOfDead();
    await page.goto(`${hub.url}${path}`);
    const found = await faults(page);
    if ((await attemptOfDead()) === before) return found;
  }
}

/** Stays the same until the hub begins the next attempt to start the server. */
async function attemptOfDead(): Promise<number> {
  const { attempts } = await until('the server has ended', async () => {
    const { body } = await api(hub, 'GET', '/servers/dead', { token });
    const { data } = body as { data: { status: string; attempts: number } };
    return data.status === 'disconnected' ? data : undefined;
  });
  return attempts;
}

/** What is wrong with the page that loads, a line each. */
async function faults(page: Page): Promise<string[]> {
  const { shift, moved } = await settled(page);
  const isPhone = (page.viewportSize()?.width ?? 0) < 640;
  const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const headings = await page.locator('h1').count();
  const title = await page.title();
  return [
    ...(shift < 0.1 ? [] : [`moved by ${shift}: ${moved.join(' ')}`]),
    ...(await withoutLabel(page)).map((control) => `without a label: ${control}`),
    ...(isPhone ? (await tooLow(page)).map((control) => `too low for a finger: ${control}`) : []),
    ...(headings === 1 ? [] : [`${headings} headings`]),
    ...(tooWide <= 0 ? [] : [`${tooWide} pixels too wide`]),
    ...(title.endsWith('Tool Hub') ? [] : [`its title is ${title}`]),
  ];
}

test.each([1280, 390])(
  'every page moves nothing while it loads, has labels and fits, %i pixels wide',
  async (width) => {
    const login = await look('/login', width);
    const found = (await faults(login)).map((fault) => `/login: ${fault}`);
    const page = await look('/icon.svg', width);
    for (const path of pages) found.push(...(await faultsAt(page, path)).map((fault) => `${path}: ${fault}`));
    expect(found).toEqual([]);
  },
);

describe('what is measured here', () => {
  test('is noticed when it is wrong', async () => {
    const page = await look('/servers', 1280);
    await settled(page);
    await page.evaluate(() => {
      const banner = document.createElement('button');
      banner.style.height = '300px';
      document.querySelector('main')?.prepend(banner);
    });
    await expect.poll(async () => (await settled(page)).shift).toBeGreaterThan(0.1);
    expect(await withoutLabel(page)).toHaveLength(1);
  });

  test('is noticed where only a narrow page, or a dark one, shows it', async () => {
    const page = await visit(hub, '/groups');
    await page.getByRole('heading', { name: 'Groups', level: 1 }).waitFor();
    await page.evaluate(() => {
      const show = (query: string, text: string, style: Partial<CSSStyleDeclaration>) => {
        const element = document.createElement('p');
        element.textContent = text;
        Object.assign(element.style, style);
        const media = matchMedia(query);
        const follow = () => (element.hidden = !media.matches);
        media.addEventListener('change', follow);
        follow();
        document.querySelector('main h1')?.before(element);
      };
      show('(max-width: 500px)', 'pale when narrow', { color: '#eee', background: '#fff' });
      show('(prefers-color-scheme: dark)', 'pale in the dark', { color: '#222', background: '#111' });
      // There to be seen in each look, with other colours in the narrow one.
      const narrow = matchMedia('(max-width: 500px)');
      const box = document.createElement('div');
      box.innerHTML = '<p>paler when narrow</p>';
      const paint = () => Object.assign(box.style, { color: '#fff', background: narrow.matches ? '#ddd' : '#222' });
      narrow.addEventListener('change', paint);
      paint();
      document.querySelector('main h1')?.before(box);
    });
    expect((await violationsInEveryLook(page)).join('\n')).toMatch(
      /^dark: color-contrast: .*pale in the dark.*\nnarrow: color-contrast: .*pale when narrow.*paler when narrow.*$/,
    );
  });
});
