import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { login } from '../kit/api.ts';
import type { TestHub } from '../kit/test-hub.ts';

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
];

let browser: Promise<Browser> | undefined;
const contexts: BrowserContext[] = [];

/** After each test, and before one takes away what a page shows: it would ask for it once more. */
export async function closePages(): Promise<void> {
  for (const context of contexts.splice(0)) await context.close();
}

/** After each file of tests. */
export async function closeBrowser(): Promise<void> {
  const opened = browser;
  browser = undefined;
  await (await opened)?.close();
}

/** One Chromium for a file of tests; each page has cookies and storage of its own. */
function open(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('Chromium is missing: apt-get install chromium-headless-shell');
  return (browser ??= chromium.launch({ executablePath, args }));
}

export interface Visit {
  /** Who is logged in; `undefined`: no user is. */
  readonly as?: { readonly username: string; readonly password: string } | undefined;
  /** The access token that the page has; without it that of a login just now. */
  readonly token?: string;
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** Lines in the console that are wanted: what a hub that is gone leaves there. */
  readonly expected?: RegExp;
}

const admin = { username: 'admin', password: 'correct horse' };

/**
 * A page of the dashboard in a browser of its own. After the test, there must be no complaint: errors in the console,
 * requests that leave this machine, and everything the page's policy refused.
 */
export async function visit(hub: Pick<TestHub, 'url'>, path: string, options: Visit = {}): Promise<Page> {
  const { width = 1280, height = 800, dark = false, expected } = options;
  const as = 'as' in options ? options.as : admin;
  const context = await (
    await open()
  ).newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  contexts.push(context);
  if (as) {
    const token = options.token ?? (await login(hub, as.username, as.password));
    await context.addInitScript((value) => {
      // Once: what the page does with it afterwards is what is tested.
      if (sessionStorage.getItem('seeded') !== null) return;
      sessionStorage.setItem('seeded', 'yes');
      localStorage.setItem('toolhub.token', value);
    }, token);
  }
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  watch(page, expected);
  await page.goto(`${hub.url}${path}`);
  return page;
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

function watch(page: Page, expected?: RegExp): void {
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    const text = `${message.text()} ${message.location().url}`;
    if (!expected?.test(text)) complaints.push(`console: ${text}`);
  });
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.stack ?? error.message}`));
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') complaints.push(`left the machine: ${request.url()}`);
  });
}

/** What axe finds, a line each; none is what is wanted. */
export async function violations(page: Page): Promise<string[]> {
  // Evaluated by the browser's debugger, which the page's policy does not concern. Once: it is half a megabyte.
  if (!(await page.evaluate(() => 'axe' in window))) {
    const { default: axe } = await import('axe-core');
    await page.evaluate(axe.source);
  }
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: Axe };
    return (await axe.run({ resultTypes: ['violations'] })).violations;
  });
  return found.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  );
}

const looks = [
  { name: 'light', colorScheme: 'light' },
  { name: 'dark', colorScheme: 'dark' },
  { name: 'narrow', colorScheme: 'light', width: 390 },
] as const;

/**
 * `violations` in light and dark, wide and narrow, and a page that is wider than its window. Loaded once: it changes as
 * it does before a user.
 */
export async function violationsInEveryLook(page: Page): Promise<string[]> {
  const size = page.viewportSize() ?? { width: 1280, height: 800 };
  const found: string[] = [];
  for (const { name, colorScheme, ...other } of looks) {
    await change(page, colorScheme, { ...size, ...other });
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) found.push(`${name}: too wide`);
    found.push(...(await violations(page)).map((line) => `${name}: ${line}`));
  }
  await change(page, 'light', size);
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
  return { heard: new Promise((resolve) => browserSide.once('Network.dataReceived', () => resolve())) };
}

interface Axe {
  run(options: { resultTypes: ['violations'] }): Promise<{ violations: Violation[] }>;
}

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
}
