import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../kit/hostile.ts';
import { documentOf, restApi } from '../kit/openapi.ts';
import { session } from '../kit/sessions.ts';
import { type HubProcess, hubProcess } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// How often what servers offer is in memory, in bytes: once as text, and once in the bytes of the list. So it is after
// a restart too, when what was saved and what was approved are read from files.

const tellLive = fileURLToPath(new URL('../kit/fixtures/tell-live.cjs', import.meta.url));
const liveFile = join(temporaryFolder(), 'live');
const megabyte = 1024 * 1024;
/** Of each server; long enough to be more than all else that a tool takes. */
const tools = 2_500;
const description = 'Says what it does. '.repeat(200);

const api = await restApi();
const paths = Object.fromEntries(
  Array.from({ length: tools }, (_, i) => [`/things${i}`, { get: { operationId: `get${i}`, description } }]),
);
const text = JSON.stringify(documentOf(api.origin, paths));
api.on('/document.json', (_, res) => res.end(text));
const entry = { type: 'openapi', openapi: { url: `${api.origin}/document.json` } };
const textBytes = 2 * text.length;

test('a text that a server offers is in memory once beside the list, also after a restart', async () => {
  const settings = {
    mcpServers: { one: entry, two: entry },
    systemConfig: { network: { allowedCidrs: ['127.0.0.1/32'] } },
    env: { DB_URL: 'off', NODE_OPTIONS: `--require=${tellLive}`, LIVE_BYTES_FILE: liveFile },
  };
  const first = await hubProcess(settings);
  // What a hub takes that has no tools is less than this by half.
  const most = 2.2 * textBytes + 60 * megabyte;
  expect(await listedBytes(first)).toBeLessThan(most);
  await first.stop('SIGTERM');
  const again = await hubProcess({ ...settings, folder: first.folder });
  expect(await listedBytes(again)).toBeLessThan(most);
}, 240_000);

/** Bytes alive once both servers are connected, all is listed and the search has read it. */
async function listedBytes(hub: HubProcess): Promise<number> {
  await hub.connected(2);
  const client = await session(hub.mcp());
  const smart = await session(hub.mcp('$smart'));
  await until('the search has read all', async () => {
    const answer = await smart.call('search_tools', { query: 'get1', limit: 1 });
    return !answer.text.includes('still being read');
  });
  await until('all are listed', async () => (await client.request('tools/list')).text.length > 0.9 * textBytes);
  rmSync(liveFile, { force: true });
  process.kill(hub.pid, 'SIGUSR2');
  return until('the hub has looked', () => existsSync(liveFile) && Number(readFileSync(liveFile, 'utf8')));
}
