// Whether a hub with many real servers, all started by `npx -y`, comes to rest on an empty npm cache, and again on a
// full one. Takes half an hour, a gigabyte of disk and a line to the npm registry.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { httpServerHere, startHub } from '../lib/contenders.mjs';
import { after } from '../lib/numbers.mjs';
import { cores, pin } from '../lib/processes.mjs';

export const about = 'servers from the npm registry by npx, on an empty cache and then on a full one';
/** Only when it is asked for. */
export const byName = true;

/** No start may take longer; what is not connected then counts as not connected. */
const longestMs = 25 * 60_000;
/** A server that failed this often in a row is broken, or lacks a credential that works. */
const failures = 3;

/** Names, what follows `npx -y`, and the variables without which a server does not start; the values open nothing. */
const packages = {
  airtable: ['airtable-mcp-server', { AIRTABLE_API_KEY: 'pat123.abc123' }],
  angular: ['@angular/cli mcp'],
  apify: ['@apify/actors-mcp-server', { APIFY_TOKEN: 'apify_api_x' }],
  azure: ['@azure/mcp server start'],
  brave: ['@brave/brave-search-mcp-server', { BRAVE_API_KEY: 'x' }],
  browserbase: ['@browserbasehq/mcp', { BROWSERBASE_API_KEY: 'x', BROWSERBASE_PROJECT_ID: 'x', GEMINI_API_KEY: 'x' }],
  chart: ['@antv/mcp-server-chart'],
  'chrome-devtools': ['chrome-devtools-mcp'],
  circleci: ['@circleci/mcp-server-circleci', { CIRCLECI_TOKEN: 'x' }],
  context7: ['@upstash/context7-mcp'],
  dbhub: ['@bytebase/dbhub --demo'],
  'desktop-commander': ['@wonderwhy-er/desktop-commander'],
  elastic: ['@elastic/mcp-server-elasticsearch', { ES_URL: 'http://127.0.0.1:9', ES_API_KEY: 'x' }],
  eslint: ['@eslint/mcp'],
  everything: ['@modelcontextprotocol/server-everything'],
  exa: ['exa-mcp-server', { EXA_API_KEY: 'x' }],
  figma: ['figma-developer-mcp --stdio', { FIGMA_API_KEY: 'x' }],
  filesystem: ['@modelcontextprotocol/server-filesystem /tmp'],
  firecrawl: ['firecrawl-mcp', { FIRECRAWL_API_KEY: 'fc-x' }],
  github: ['@modelcontextprotocol/server-github', { GITHUB_PERSONAL_ACCESS_TOKEN: 'x' }],
  gitlab: ['@modelcontextprotocol/server-gitlab', { GITLAB_PERSONAL_ACCESS_TOKEN: 'x' }],
  'google-maps': ['@modelcontextprotocol/server-google-maps', { GOOGLE_MAPS_API_KEY: 'x' }],
  heroku: ['@heroku/mcp-server', { HEROKU_API_KEY: 'x' }],
  hubspot: ['@hubspot/mcp-server', { PRIVATE_APP_ACCESS_TOKEN: 'x' }],
  kubernetes: ['mcp-server-kubernetes'],
  magic: ['@21st-dev/magic', { API_KEY: 'x' }],
  mapbox: ['@mapbox/mcp-server', { MAPBOX_ACCESS_TOKEN: 'pk.eyJ1IjoieCJ9.x' }],
  memory: ['@modelcontextprotocol/server-memory'],
  monday: ['@mondaydotcomorg/monday-api-mcp', { MONDAY_TOKEN: 'x' }],
  mongodb: ['mongodb-mcp-server'],
  netlify: ['@netlify/mcp'],
  notion: ['@notionhq/notion-mcp-server', { NOTION_TOKEN: 'ntn_x' }],
  nx: ['nx-mcp'],
  playwright: ['@playwright/mcp'],
  postgres: ['@modelcontextprotocol/server-postgres postgresql://127.0.0.1:9/x'],
  sentry: ['@sentry/mcp-server', { SENTRY_ACCESS_TOKEN: 'x' }],
  shopify: ['@shopify/dev-mcp'],
  slack: ['@modelcontextprotocol/server-slack', { SLACK_BOT_TOKEN: 'xoxb-x', SLACK_TEAM_ID: 'T1' }],
  stripe: ['@stripe/mcp --tools=all', { STRIPE_SECRET_KEY: 'sk_test_x' }],
  supabase: ['@supabase/mcp-server-supabase', { SUPABASE_ACCESS_TOKEN: 'sbp_x' }],
  tavily: ['tavily-mcp', { TAVILY_API_KEY: 'tvly-x' }],
  thinking: ['@modelcontextprotocol/server-sequential-thinking'],
  xplaywright: ['@executeautomation/playwright-mcp-server'],
};

export async function run({ note, only }) {
  // A machine as its user has it: nothing is kept on one core.
  pin(process.pid, cores?.all);
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const home = join(folder, 'home');
  mkdirSync(home);
  const names = Object.keys(packages).filter((name) => !only || only.includes(name));
  const real = Object.fromEntries(names.map((name) => [name, entryOf(name)]));
  const remote = await httpServerHere();
  // What needs no installation, among the rest.
  const program = {
    command: process.execPath,
    args: [fileURLToPath(new URL('../servers/stdio.mjs', import.meta.url))],
  };
  const plain = { plain1: program, plain2: program, plain3: program, remote: { url: remote.url } };
  const servers = { ...real, ...plain };
  try {
    let expected = names;
    for (const start of ['empty cache', 'full cache']) {
      const seen = await oneStart({ servers, folder, home, awaited: [...expected, ...Object.keys(plain)] });
      const missing = expected.filter((name) => seen.connectedS[name] === undefined);
      const works = await Promise.all(missing.map((name) => worksByHand(real[name], home)));
      const byHand = missing.filter((_, i) => works[i]);
      if (start === 'empty cache') expected = names.filter((name) => !missing.includes(name) || byHand.includes(name));
      const times = (list) => list.map((name) => seen.connectedS[name] ?? Infinity);
      const failed = seen.disconnected.filter((name) => expected.includes(name));
      console.log(`\n${start}: connected after s`, seen.connectedS);
      console.log(
        'not connected, works by hand:',
        byHand,
        'neither:',
        missing.filter((name) => !byHand.includes(name)),
      );
      console.log('of those that work, needed another attempt:', failed);
      note(
        { start },
        {
          servers: names.length,
          work: expected.length,
          connected: expected.filter((name) => seen.connectedS[name] !== undefined).length,
          missedThatWork: byHand.length,
          lastAfterS: Math.max(...times(expected.filter((name) => !byHand.includes(name)))),
          plainAfterS: Math.max(...times(Object.keys(plain))),
          neededSecondAttempt: new Set(failed).size,
          disconnects: seen.disconnected.length,
          brokenCaches: brokenFolders(home).length,
        },
      );
    }
  } finally {
    remote.close();
    // Installers go on when their hub has ended.
    endProcessesOf(home);
    await after(2_000);
    rmSync(folder, { recursive: true, force: true });
  }
}

function entryOf(name) {
  const [line, env = {}] = packages[name];
  return { command: 'npx', args: ['-y', ...line.split(' ')], env };
}

/** Starts a hub and follows it until each awaited server is connected or has failed several times. */
async function oneStart({ servers, folder, home, awaited }) {
  const hub = await startHub('hub', { servers, folder, env: { HOME: home }, on: cores?.all });
  // It says where it listens before it starts its servers.
  const readyAt = Date.now();
  const startedAt = readyAt - (performance.now() - hub.startedAt);
  try {
    const ask = await asAdmin(hub.url);
    const connectedS = {};
    const waiting = new Set(awaited);
    while (waiting.size > 0 && performance.now() - hub.startedAt < longestMs) {
      for (const { name, status, attempts, lastConnectedAt } of (await ask('/servers?items=count')).data) {
        if (!waiting.has(name)) continue;
        if (status === 'connected') connectedS[name] = Math.round((Date.parse(lastConnectedAt) - readyAt) / 100) / 10;
        if (status === 'connected' || (status === 'disconnected' && attempts >= failures)) waiting.delete(name);
      }
      await after(500);
    }
    const { data } = await ask('/logs?q=disconnected&limit=1000');
    const entries = Array.isArray(data) ? data : data.logs;
    // The database has what the start before it logged, too.
    const disconnected = entries
      .filter(({ message, timestamp }) => message.startsWith('disconnected') && Date.parse(timestamp) >= startedAt)
      .map(({ service }) => service.replace('server:', ''));
    return { connectedS, disconnected };
  } finally {
    await hub.close();
  }
}

async function asAdmin(url) {
  const login = { username: 'admin', password: 'bench password' };
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/api/auth/login`, { method: 'POST', headers, body: JSON.stringify(login) });
  const { token } = await answer.json();
  return async (path) => (await fetch(`${url}/api${path}`, { headers: { authorization: `Bearer ${token}` } })).json();
}

/** Whether a server that is started without a hub, from the same cache, says what it is and lists its tools. */
async function worksByHand({ command, args, env }, home) {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOME: home, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  child.stdin.on('error', () => {});
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'bench', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  say({ id: 1, method: 'initialize', params });
  const listed = (async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      if (/"serverInfo"/.test(line)) {
        say({ method: 'notifications/initialized' });
        say({ id: 2, method: 'tools/list', params: {} });
      } else if (/"tools":/.test(line)) return true;
    }
    return false;
  })();
  const works = await Promise.race([listed, after(120_000).then(() => false)]);
  try {
    process.kill(-Number(child.pid), 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
  return works;
}

/** Ends what still runs with this home; Linux only. */
function endProcessesOf(home) {
  for (const pid of existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []) {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (variables.includes(`HOME=${home}`)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended meanwhile, or is another user's.
    }
  }
}

/** Folders of the npx cache that lack a package which npm noted there as installed. */
function brokenFolders(home) {
  const cache = join(home, '.npm/_npx');
  return readdirSync(cache).filter((hash) => {
    const list = join(cache, hash, 'node_modules/.package-lock.json');
    if (!existsSync(list)) return true;
    return Object.entries(JSON.parse(readFileSync(list, 'utf8')).packages).some(
      ([path, { optional, link }]) => !optional && !link && !existsSync(join(cache, hash, path, 'package.json')),
    );
  });
}
