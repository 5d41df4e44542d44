// Lists of the dashboard with ten thousand rows, scrolled in Chromium.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { percentile } from '../lib/numbers.mjs';
import { cores, pin } from '../lib/processes.mjs';

export const about = 'lists of 10 000 rows in the dashboard: frames per second while they scroll';
/** It needs Chromium. */
export const byName = true;

const many = 10_000;
const lists = {
  'tools of a server': { path: '/servers/sio', row: 'main li[aria-setsize]' },
  'token bill': { path: '/tools/costs?server=sio', row: 'main li[aria-setsize]' },
  log: { path: '/logs', row: 'main ol[aria-label] li' },
};

export async function run({ rounds, seconds, note, only }) {
  const hub = await kinds.hub({ servers: { sio: stdioServer({ tools: many }) } });
  // Chromium is what is measured: it has all cores.
  if (cores) pin(process.pid, cores.all);
  const browser = await chromium.launch({
    executablePath: ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    await ready(hub, many);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.route('**/api/logs/stream', (route) => route.fulfill(logOf(route.request())));
    await page.goto(`${hub.url}/login`);
    await page.locator('input[type=password]').fill('bench password');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${hub.url}/`);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    for (let round = 0; round < rounds; round++) {
      for (const [list, { path, row }] of Object.entries(lists)) {
        if (only && !only.includes(list)) continue;
        await page.goto(`${hub.url}${path}`);
        await page.locator(row).nth(5).waitFor();
        note({ list }, await scroll(page, session, row, seconds * 1000));
      }
    }
  } finally {
    await browser.close();
    await hub.close();
    if (cores) pin(process.pid, cores.load);
  }
}

/** The stream of a log with as many lines, without the time that making them takes. */
function logOf(request) {
  const resumed = request.headers()['last-event-id'] !== undefined;
  const logs = Array.from({ length: resumed ? 0 : many }, (_, i) => ({
    id: i + 1,
    timestamp: new Date(1_800_000_000_000 + i).toISOString(),
    level: ['info', 'info', 'warn', 'error'][i % 4],
    service: 'server:sio',
    message: `line ${i + 1} ${'of many words '.repeat(i % 12)}`,
  }));
  const body = `id: ${many}\ndata: ${JSON.stringify({ type: 'initial', logs, ...(resumed && { resumed }) })}\n\n`;
  return { contentType: 'text/event-stream', body };
}

/** A hundred pixels in each frame, down and up again, as a wheel that is turned fast: 6 000 in a second. */
async function scroll(page, session, row, ms) {
  const before = await timesOf(session);
  const frames = await page.evaluate(
    async ([selector, ms]) => {
      const first = document.querySelector(selector);
      let frame = first.parentElement;
      while (frame && !/auto|scroll/.test(getComputedStyle(frame).overflowY)) frame = frame.parentElement;
      frame ??= document.scrollingElement;
      const gaps = [];
      let step = frame.scrollTop > 0 ? -100 : 100;
      let last = await new Promise(requestAnimationFrame);
      const end = last + ms;
      while (last < end) {
        const at = frame.scrollTop;
        frame.scrollTop += step;
        const now = await new Promise(requestAnimationFrame);
        // At the end of the list it turns round.
        if (frame.scrollTop === at) step = -step;
        gaps.push(now - last);
        last = now;
      }
      return gaps;
    },
    [row, ms],
  );
  const after = await timesOf(session);
  const each = (name) => ((after[name] - before[name]) / frames.length) * 1000;
  return {
    framesPerSecond: frames.length / (frames.reduce((sum, gap) => sum + gap, 0) / 1000),
    frameP99: percentile(frames, 0.99),
    // Of the 16.7 ms that a frame has.
    scriptMs: each('ScriptDuration'),
    layoutMs: each('LayoutDuration') + each('RecalcStyleDuration'),
  };
}

async function timesOf(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}
