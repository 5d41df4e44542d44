import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { login } from '../kit/api.ts';
import { type HubProcess, hubProcess } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What the documents tell people to type works as it is written, on a hub that has just been started for the first
// time.

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The shell examples of a document that ask a hub, as one script. What never ends is left out. */
function examplesIn(path: string): string {
  const blocks = [...read(path).matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  const asking = blocks.filter((block) => /^(?:api|curl|TOKEN=)/m.test(block)).join('\n');
  return asking.replaceAll(/^curl -sN .*$/gm, '');
}

/** Runs a script with curl saying each status on stderr; resolves with those and what was printed. */
async function run(script: string, hub: HubProcess) {
  const here = script
    .replaceAll('http://127.0.0.1:3000', hub.url)
    .replaceAll('"password": "…"', '"password": "correct horse"');
  const curl = `curl() { command curl -w '%{stderr}%{http_code} %{method} %{url}\\n' "$@"; }`;
  const child = spawn('bash', ['-uc', `${curl}\n${here}`], { cwd: hub.folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { stdout, answers: stderr.trim().split('\n') };
}

let hub: HubProcess;
/** The settings of a first start. */
let first: string;

beforeAll(async () => {
  hub = await hubProcess({ firstStart: true });
  await hub.connected(3);
  first = readFileSync(hub.settingsPath, 'utf8');
});

/** What the document before had a reader make is gone. */
beforeEach(async () => {
  hub.write(first);
  await until('only the servers of a first start are there', async () => {
    const { total, connected } = (await hub.health()).servers;
    return total === 3 && connected === 3;
  });
});

test('the commands in the text of README.md work', async () => {
  const commands = [...read('README.md').matchAll(/`((?:toolhub|curl) [^`]+)`/g)].map(([, command = '']) => command);
  const listing = commands.find((command) => command.startsWith('curl -s http://127.0.0.1:3000/mcp '));
  const { stdout } = await run(listing ?? 'no such example', hub);
  expect(stdout).toContain('"name":"everything-echo"');

  const search = commands.find((command) => command.startsWith('toolhub search ')) ?? 'no such example';
  const toolhub = `toolhub() { ${JSON.stringify(process.execPath)} ${JSON.stringify(resolve('dist/cli.js'))} "$@"; }`;
  const found = await until('the hub has saved what its servers offer', async () => {
    const child = spawn('bash', ['-c', `${toolhub}\n${search}`], { env: { PATH: process.env['PATH'], ...hub.env } });
    const [printed, said] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return printed === '' ? undefined : { printed, said };
  });
  // No tool of the samples creates issues, which is an answer too: what was left out and why is shown.
  expect(found.printed).toMatch(/\b(?:filesystem|memory|everything)-\w+/);
  expect(found.printed).toMatch(/words \d\.\d\d/);
  expect(found.said).toContain('explains to admins only (toolhub login, or TOOLHUB_TOKEN)');
});

test.each(['README.md', 'docs/api.md'])('every example of %s is answered with success', async (path) => {
  const script = examplesIn(path);
  const { stdout, answers } = await run(script, hub);
  const asked = script.match(/^api (?!\()|\bcurl -s \$HUB/gm) ?? [];
  expect(asked.length).toBeGreaterThan(8);
  expect(answers.filter((answer) => !/^20[01] /.test(answer))).toEqual([]);
  expect(answers).toHaveLength(asked.length);
  expect(stdout).not.toContain('"success":false');
});

test('the routes of MCPHub that docs/api.md says are not there are answered with 404', async () => {
  const [, rows = ''] = read('docs/api.md').split('## What MCPHub has and this hub has not');
  const cells = [...rows.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
  const routes = cells.flatMap((cell) => [...cell.matchAll(/`(?:(GET|POST) )?(\/[^`]+)`/g)]);
  expect(routes.length).toBeGreaterThan(8);
  const token = await login(hub);
  const answers = await Promise.all(
    routes.map(async ([, method = 'GET', route = '']) => {
      const path = route.replace(':name', 'everything').replace('…', 'servers');
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const { status } = await fetch(`${hub.url}${path}`, {
        method,
        headers,
        ...(method === 'POST' && { body: '{}' }),
      });
      return `${status} ${method} ${path}`;
    }),
  );
  expect(answers.filter((answer) => !answer.startsWith('404 '))).toEqual([]);
});
