import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Disposable,
  type Locator,
  type Page,
  type Request,
} from 'playwright-core';
import { cookieLogin } from '../kit/api.ts';
import type { TestHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

/** First the one without a window, which needs two thirds of the time. */
const executablePath = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path));
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Fewer processes: a load costs a sixth less.
  '--in-process-gpu',
  '--enable-features=NetworkServiceInProcess2',
];

let browser: Promise<Browser> | undefined;

/** A context with one page: another visit in it finds the dashboard's files loaded, and compiled. */
interface Place {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Whose dashboard is still loaded there, and shows none of its pages; undefined: the next visit loads it. */
  readonly loaded?: string | undefined;
}
const free: Place[] = [];

interface Taken extends Place {
  /** Undefined where a visit leaves more behind than another may find. */
  readonly key: string | undefined;
  readonly sharp: boolean;
  readonly scripts: readonly Disposable[];
}
const taken: Taken[] = [];

/** After each test, and before one takes away what a page shows: it would ask for it once more. */
export async function closePages(): Promise<void> {
  for (const place of taken.splice(0)) {
    const loaded = await unlessStuck(place, () => leave(place));
    if (loaded) free.push({ context: place.context, page: place.page, ...loaded });
  }
}

/** What another visit finds at this place; undefined where there is to be none. */
async function leave({ context, page, key, sharp, scripts }: Taken): Promise<Pick<Place, 'loaded'> | undefined> {
  if (sharp) {
    await context.close();
    return undefined;
  }
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  const loaded = key !== undefined && (await emptied(page)) ? key : undefined;
  for (const script of scripts) await script.dispose();
  page.removeAllListeners();
  if (loaded === undefined) {
    await unload(page);
    await context.clearCookies();
  }
  return { loaded };
}

/**
 * What `tidy` returns; undefined when that fails or takes long: the place is then closed, and the next visit opens
 * another one. Chromium at times does not answer for a page any more, and what a page asks it has no time limit.
 */
async function unlessStuck<T>({ context, page }: Place, tidy: () => Promise<T>): Promise<T | undefined> {
  try {
    return await within('tidying up a page', tidy(), 30_000);
  } catch {
    page.removeAllListeners();
    // Not waited for: it does not end either while the page is stuck.
    void context.close().catch(() => {});
    return undefined;
  }
}

/** Ends the dashboard: a file of the same hub keeps its process, and where that hub is gone an empty page does. */
async function unload(page: Page): Promise<void> {
  const file = new URL('/icon.svg', page.url()).href;
  // The browser's own page about what cannot be reached comes a moment later, and ends what has begun meanwhile.
  await page.goto(file).catch(() => until('the page is empty', () => page.goto('about:blank').then(() => true)));
}

/**
 * Whether the dashboard is as after its first load: with its session and no setting, on a page that shows nothing
 * of the hub, and without messages.
 */
async function emptied(page: Page): Promise<boolean> {
  try {
    // Logged out, or in another language or theme: what follows would be waited for in vain.
    if (!(await page.evaluate(tidied))) return false;
    await until('the page has all its answers', () => !waitsForAnswers(page), 5_000);
    await follow(page, '/account', 5_000);
    await page.getByLabel('Current password').waitFor({ timeout: 5_000 });
    await settled(page);
    return await page.evaluate(tidied);
  } catch {
    return false;
  }
}

/** In the page: its messages are put away, and what was tried in the playground; whether nothing else is kept. */
function tidied(): boolean {
  for (const message of document.querySelectorAll<HTMLElement>('[aria-label=Notifications] button')) message.click();
  for (const key of Object.keys(localStorage)) if (key.startsWith('toolhub.tried.')) localStorage.removeItem(key);
  return localStorage.length === 0 && document.cookie === `toolhub_csrf=${sessionStorage.getItem('csrf')}`;
}

/** After each file of tests: its hubs end, and no page is to go on asking them. The browser stays for the next file. */
export async function leaveHubs(): Promise<void> {
  for (const place of free.splice(0)) {
    const unloaded = place.loaded === undefined ? place : await withoutDashboard(place);
    if (unloaded) free.push(unloaded);
  }
}

/** The place with no dashboard loaded; undefined if it can not be used any more. */
function withoutDashboard(place: Place): Promise<Place | undefined> {
  const { context, page } = place;
  return unlessStuck(place, async () => {
    await unload(page);
    return { context, page };
  });
}

/**
 * One Chromium for all test files of a process: another one, with its first page, costs as much as three loads. It ends
 * with the process, also when that is killed: its pipe to the process closes then.
 */
function open(): Promise<Browser> {
  return (browser ??= launch());
}

async function launch(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('Chromium is missing: apt-get install chromium-headless-shell');
  const launched = await chromium.launch({ executablePath, args });
  // One that crashed fails the running test, and no other.
  launched.once('disconnected', () => {
    browser = undefined;
    free.length = 0;
  });
  return launched;
}

async function newPlace(sharp: boolean): Promise<Place> {
  const context = await (
    await open()
  ).newContext({
    reducedMotion: 'reduce',
    locale: 'en-GB',
    permissions: ['clipboard-read', 'clipboard-write'],
    // A quarter of the pixels: what is drawn no test sees, and drawing is an eighth of the work.
    deviceScaleFactor: sharp ? 1 : 0.5,
  });
  return { context, page: await context.newPage() };
}

export interface Visit {
  /** Who is logged in; `undefined`: no user is. */
  readonly as?: { readonly username: string; readonly password: string } | undefined;
  readonly width?: number;
  readonly height?: number;
  /** Lines in the console that are wanted: what a hub that is gone leaves there. */
  readonly expected?: RegExp;
  /** Drawn with a pixel for each of the page's, as where sizes and places are measured. */
  readonly sharp?: boolean;
  /** A script that runs in the page before its own. */
  readonly before?: (page: Page) => Promise<Disposable>;
}

const admin = { username: 'admin', password: 'correct horse' };

let visits = 0;

/**
 * A page of the dashboard, with cookies and storage of its own, empty but for the session. After the test, there must
 * be no complaint: errors in the console, requests that leave this machine, and everything the page's policy refused.
 */
export async function visit(hub: Pick<TestHub, 'url'>, path: string, options: Visit = {}): Promise<Page> {
  const { width = 1280, height = 800, expected, before, sharp = false } = options;
  const as = 'as' in options ? options.as : admin;
  // Whether a page is loaded well is for those that load it; most tests are about what it does then.
  const plain = as && before === undefined && !sharp;
  const key = plain ? `${as.username} ${hub.url}` : undefined;
  const at = free.findIndex(({ loaded }) => loaded !== undefined && loaded === key);
  const [found] = sharp ? [] : free.splice(Math.max(at, 0), 1);
  const stays = at >= 0;
  const left = found?.loaded === undefined || stays ? found : await withoutDashboard(found);
  const { context, page } = left ?? (await newPlace(sharp));
  const scripts: Disposable[] = [];
  taken.push({ context, page, scripts, key, sharp });
  page.setDefaultTimeout(30_000);
  watch(page, expected);
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: 'light' });
  if (stays) {
    await follow(page, path);
    // What it knows already is shown before it has asked again.
    await settled(page);
    await until('the page has all its answers', () => !waitsForAnswers(page));
    return page;
  }
  await context.clearCookies();
  const login = as && (await cookieLogin(hub, as.username, as.password));
  if (login) {
    const shared = { url: hub.url, sameSite: 'Lax' } as const;
    await context.addCookies([
      { ...shared, name: 'toolhub_session', value: login.session, httpOnly: true },
      { ...shared, name: 'toolhub_csrf', value: login.csrf },
    ]);
  }
  scripts.push(
    await page.addInitScript(
      ([visit, value, drawn]) => {
        // A frame with an origin of its own has no storage.
        if (window.top !== window) return;
        if (!drawn) {
          const unseen = new CSSStyleSheet();
          unseen.replaceSync('html { opacity: 0 }');
          document.adoptedStyleSheets = [unseen];
        }
        // Once: what the page does with it afterwards is what is tested.
        if (sessionStorage.getItem('visit') === visit) return;
        sessionStorage.clear();
        localStorage.clear();
        sessionStorage.setItem('visit', visit);
        sessionStorage.setItem('csrf', value);
      },
      [String(++visits), login?.csrf ?? '', sharp] as const,
    ),
  );
  if (before) scripts.push(await before(page));
  await page.goto(`${hub.url}${path}`);
  return page;
}

/**
 * Goes to another page of the dashboard as a link leads there, without loading everything again, until it is shown in
 * place of the one before: both may have a field of the same name. The router tells of that, once for each address.
 */
export async function follow(page: Page, path: string, timeoutMs = 30_000): Promise<void> {
  const shown = await page.evaluate(
    async ([to, ms]) => {
      const { __TSR_ROUTER__: router } = window as unknown as { __TSR_ROUTER__: Router };
      const isShown = new Promise<string>((resolve) => {
        const stop = router.subscribe('onResolved', () => {
          stop();
          resolve(to);
        });
      });
      history.pushState(null, '', to);
      // Where the hub is away it never comes.
      const late = new Promise((resolve) => setTimeout(resolve, ms));
      return Promise.race([isShown, late.then(() => router.state.resolvedLocation?.href ?? 'none')]);
    },
    [path, timeoutMs] as const,
  );
  // The router writes addresses in its own way: `:` as `%3A`.
  if (decodeURIComponent(shown) === decodeURIComponent(path)) return;
  throw new Error(`Expected the page ${path} within ${timeoutMs} ms; there is ${shown}`);
}

interface Router {
  readonly state: { readonly resolvedLocation?: { readonly href: string } };
  subscribe(event: 'onResolved', listener: () => void): () => void;
}

/** What was copied in a page; the browser takes a moment to keep it. */
export function copied(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Another tab of the same browser. */
export async function tab(page: Page, path: string): Promise<Page> {
  const next = await page.context().newPage();
  next.setDefaultTimeout(30_000);
  watch(next);
  await next.goto(new URL(path, page.url()).href);
  return next;
}

const complaints: string[] = [];

/** What pages did since the last time that they must not do. */
export function takeComplaints(): string[] {
  return complaints.splice(0);
}

const unanswered = new WeakMap<Page, Set<Request>>();

/** Whether answers are still to come, other than the streams that never end. */
export function waitsForAnswers(page: Page): boolean {
  return (unanswered.get(page)?.size ?? 0) > 0;
}

/** The second one is where browsers make passkeys. */
const ownHosts = new Set(['127.0.0.1', 'localhost']);

/** What these answer no page reads, and the browser then does not tell that it has come whole. */
const unread = /\/auth\/(?:login|logout|change-password|reauthenticate)$/;

function watch(page: Page, expected?: RegExp): void {
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    const text = `${message.text()} ${message.location().url}`;
    if (!expected?.test(text)) complaints.push(`console: ${text}`);
  });
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.stack ?? error.message}`));
  const waiting = new Set<Request>();
  unanswered.set(page, waiting);
  page.on('requestfinished', (request) => waiting.delete(request));
  page.on('requestfailed', (request) => waiting.delete(request));
  page.on('response', (response) => {
    if (unread.test(response.url())) waiting.delete(response.request());
  });
  page.on('request', (request) => {
    const { protocol, hostname, pathname } = new URL(request.url());
    if (!/\/(?:events|stream)$/.test(pathname)) waiting.add(request);
    if (protocol.startsWith('http') && !ownHosts.has(hostname)) complaints.push(`left the machine: ${request.url()}`);
  });
}

/**
 * Shows a page, or hides it again. Outside of looks at colours pages are transparent: Chromium then finds places, takes
 * clicks and begins frames as ever, and draws nothing, which is a fifth of its work.
 */
async function drawn(page: Page, isSeen: boolean): Promise<void> {
  const opacity = await page.evaluate((seen) => {
    for (const sheet of document.adoptedStyleSheets) sheet.disabled = seen;
    return getComputedStyle(document.documentElement).opacity;
  }, isSeen);
  // In what can not be seen axe finds no colours.
  if (isSeen && opacity !== '1') throw new Error(`Expected a page that is seen; its opacity is ${opacity}`);
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Which rules about colours are asked for, and of what; the others are not, where these are asked for alone. */
type Colours = 'of all' | 'alone' | 'of what is another';

/**
 * What axe finds, a line each; none is what is wanted. Colours are most of its work: `of what is another` looks at
 * those of texts and fields that were not there to be seen when all were looked at, or had other colours, in front or
 * behind.
 */
export async function violations(page: Page, colours: Colours = 'of all'): Promise<string[]> {
  // Evaluated by the browser's debugger, which the page's policy does not concern. Once: it is half a megabyte.
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.evaluate(readFileSync(axePath, 'utf8'));
  }
  await drawn(page, true);
  const found = await page.evaluate(async (which) => {
    const own = window as unknown as { axe: Axe; known: WeakMap<Element, string> };
    const rules = ['color-contrast', 'link-in-text-block'];
    const run = async (context: unknown, options: object) =>
      (await own.axe.run(context, { resultTypes: ['violations'], ...options })).violations;
    if (which === 'alone') return run(document, { runOnly: rules });
    const isText = (node: Node) => node.nodeType === Node.TEXT_NODE && (node.textContent ?? '').trim() !== '';
    const seen = [...document.body.querySelectorAll('*')].filter(
      (element) =>
        (element.matches('input, select, textarea') || [...element.childNodes].some(isText)) &&
        element.checkVisibility({ visibilityProperty: true }),
    );
    const behind = new Map<Element, string>();
    const behindOf = (element: Element): string => {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const { parentElement: parent } = element;
      const all =
        behind.get(element) ??
        `${backgroundColor} ${backgroundImage} ${opacity}; ${parent === null ? '' : behindOf(parent)}`;
      behind.set(element, all);
      return all;
    };
    const coloursOf = (element: Element) => `${getComputedStyle(element).color} on ${behindOf(element)}`;
    if (which === 'of all') {
      own.known = new WeakMap(seen.map((element) => [element, coloursOf(element)]));
      return run(document, {});
    }
    const others = await run(document, { rules: Object.fromEntries(rules.map((rule) => [rule, { enabled: false }])) });
    // What the page has taken away meanwhile has no colours any more.
    const include = seen.filter((element) => element.isConnected && own.known.get(element) !== coloursOf(element));
    return include.length === 0 ? others : [...others, ...(await run({ include }, { runOnly: rules }))];
  }, colours);
  await drawn(page, false);
  return found.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  );
}

const looks = [
  { name: 'light', colorScheme: 'light', colours: 'of all' },
  // Nothing else is another in the dark.
  { name: 'dark', colorScheme: 'dark', colours: 'alone' },
  { name: 'narrow', colorScheme: 'light', colours: 'of what is another', width: 390 },
] as const;

/**
 * `violations` in light and dark, wide and narrow, and a page that is wider than its window. Loaded once: it changes as
 * it does before a user.
 */
export async function violationsInEveryLook(page: Page): Promise<string[]> {
  const size = page.viewportSize() ?? { width: 1280, height: 800 };
  const found: string[] = [];
  for (const { name, colorScheme, colours, ...other } of looks) {
    await change(page, colorScheme, { ...size, ...other });
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) found.push(`${name}: too wide`);
    const theme = await page.evaluate(() => document.documentElement.dataset['theme']);
    if (theme !== undefined && theme !== colorScheme) found.push(`${name}: shown in the ${theme} theme`);
    found.push(...(await violations(page, colours)).map((line) => `${name}: ${line}`));
  }
  await change(page, 'light', size);
  return found;
}

/**
 * The same of several pages, each followed from the one before: by address, what only that page shows. Loading each
 * of them, and what finds violations into it, takes three times as long.
 */
export async function violationsAt(page: Page, shown: Readonly<Record<string, Locator>>): Promise<string[]> {
  const found: string[] = [];
  for (const [path, only] of Object.entries(shown)) {
    await follow(page, path);
    await only.waitFor();
    found.push(...(await violationsInEveryLook(page)).map((line) => `${path}: ${line}`));
  }
  return found;
}

async function change(page: Page, colorScheme: 'light' | 'dark', size: { width: number; height: number }) {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(size);
  await settled(page);
}

/** What the page does about something that has just come is done before the second frame. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

/** Waits for the next thing that the page, which has all its other answers, is told by its stream of changes. */
export async function nextNews(page: Page): Promise<{ heard: Promise<void> }> {
  const browserSide = await page.context().newCDPSession(page);
  await browserSide.send('Network.enable');
  const heard = new Promise<void>((resolve) => browserSide.once('Network.dataReceived', () => resolve()));
  return { heard: heard.then(() => browserSide.detach()) };
}

interface Axe {
  run(context: unknown, options: object): Promise<{ violations: Violation[] }>;
}

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
}
