import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, keyToken, login, userToken } from '../kit/api.ts';
import { storedSettings } from '../kit/hub-database.ts';
import { rpc } from '../kit/raw.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';
import { zip, type ZipEntry } from '../kit/zip.ts';

// POST /api/mcpb/upload (SPEC, System; CONTRACT §4, MCPB upload).

/** Everything below the folder of bundles, unfinished uploads included. */
const foldersOf = (hub: TestHub) => {
  const folder = join(hub.folder, 'data', 'bundles');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
};

const program = `
const lines = require('node:readline').createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = method === 'initialize'
    ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } }
    : method === 'tools/list'
      ? { tools: [{ name: 'key-' + (process.env.KEY || '').length, inputSchema: { type: 'object' } }] }
      : {};
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
`;

function bundle(more: object = {}, files: ZipEntry[] = []): Buffer {
  const manifest = {
    manifest_version: '0.3',
    name: 'notes',
    version: '1.0.0',
    description: 'Takes notes',
    server: {
      type: 'node',
      entry_point: 'server.cjs',
      mcp_config: { command: process.execPath, args: ['${__dirname}/server.cjs'], env: { KEY: '${user_config.key}' } },
    },
    user_config: { key: { type: 'string', title: 'Key', description: 'The key', required: true, sensitive: true } },
    ...more,
  };
  return zip([
    { name: 'manifest.json', data: JSON.stringify(manifest) },
    { name: 'server.cjs', data: program },
    ...files,
  ]);
}

interface Form {
  field?: string;
  filename?: string;
  query?: string;
  token?: string;
  more?: Record<string, string>;
}

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  hub = await testHub({ mcpServers: {} });
  admin = await login(hub);
});

/** Uploads as browsers and curl do. */
async function upload(archive: Uint8Array | undefined, form: Form = {}, on = hub) {
  const { field = 'mcpbFile', filename = 'notes.mcpb', query = '', token = admin, more = {} } = form;
  const body = new FormData();
  for (const [name, value] of Object.entries(more)) body.append(name, value);
  if (archive) body.append(field, new Blob([new Uint8Array(archive)]), filename);
  return post(on, body, query, { authorization: `Bearer ${token}` });
}

async function post(
  on: TestHub,
  body: FormData | Uint8Array<ArrayBuffer> | string,
  query = '',
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${on.url}/api/mcpb/upload${query}`, { method: 'POST', body, headers });
  return {
    status: answer.status,
    body: (await answer.json()) as { success: boolean; message: string; data?: unknown },
  };
}

/** The upload fails like this, and neither the settings nor the disk are changed by it. */
async function refused(answer: () => ReturnType<typeof upload>, status: number, message: RegExp) {
  const before = [await storedSettings(hub), foldersOf(hub)];
  const { status: found, body } = await answer();
  expect([found, body.success], body.message).toEqual([status, false]);
  expect(body.message).toMatch(message);
  expect([await storedSettings(hub), foldersOf(hub)]).toEqual(before);
}

test('a bundle becomes a server that runs, and its old field and file name do too', async () => {
  const own = await testHub({ mcpServers: {} });
  const token = await login(own);
  const first = await upload(bundle(), { token }, own);
  expect(first.status).toBe(201);
  expect(first.body).toMatchObject({
    success: true,
    data: {
      manifest: { name: 'notes', version: '1.0.0' },
      server: { name: 'notes', config: { type: 'stdio', owner: 'admin', enabled: false } },
      requiredConfig: [{ key: 'key', title: 'Key', sensitive: true }],
    },
  });
  const again = await upload(bundle(), { token, field: 'dxtFile', filename: 'NOTES.DXT' }, own);
  expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('replace=true')]);
  const userConfig = JSON.stringify({ key: 'canary-secret' });
  const replaced = await upload(
    bundle(),
    { token, field: 'dxtFile', filename: 'NOTES.DXT', query: '?replace=true', more: { userConfig } },
    own,
  );
  expect(replaced.status, replaced.body.message).toBe(201);
  expect(replaced.body).toMatchObject({
    data: { server: { config: { enabled: true, env: { KEY: '••••' } } }, requiredConfig: [] },
  });
  expect(JSON.stringify(replaced.body)).not.toContain('canary-secret');
  await own.connected(1);
  expect((await rpc(own.mcp(), 'tools/list', {})).result?.tools?.map(({ name }) => name)).toEqual([
    `notes-key-${'canary-secret'.length}`,
  ]);
  await until('only the new folder is left', () => foldersOf(own).length === 1);
  expect((await api(own, 'DELETE', '/servers/notes', { token })).status).toBe(200);
  expect(foldersOf(own)).toEqual([]);
  expect((await upload(bundle(), { token }, own)).status).toBe(201);
  expect(foldersOf(own)).toHaveLength(1);
  const emptied = { token, body: { mcpServers: {} } };
  expect((await api(own, 'POST', '/mcp-settings/import?mode=replace', emptied)).status).toBe(200);
  expect(foldersOf(own), 'an import that removes it').toEqual([]);
});

test('fields may come before and after the file, replace among them', async () => {
  const own = await testHub({ mcpServers: { notes: { command: 'x', enabled: false } } });
  const token = await login(own);
  const body = new FormData();
  body.append('mcpbFile', new Blob([new Uint8Array(bundle())]), 'a.mcpb');
  body.append('replace', 'true');
  body.append('userConfig', '{"key":"k"}');
  expect((await post(own, body, '', { authorization: `Bearer ${token}` })).status).toBe(201);
});

describe('refused is', () => {
  test('all callers but an admin who logged in', async () => {
    const ann = await userToken(hub, admin, 'ann');
    const strangers: [string, number][] = [
      ['eyJ.eyJ.x', 401],
      [ann, 403],
      [await keyToken(hub, ann), 403],
      [await keyToken(hub, admin, { kind: 'user' }), 403],
      [await keyToken(hub, admin, { kind: 'system' }), 403],
    ];
    for (const [token, status] of strangers) await refused(() => upload(bundle(), { token }), status, /./);
    const body = new FormData();
    body.append('mcpbFile', new Blob([new Uint8Array(bundle())]), 'a.mcpb');
    await refused(() => post(hub, body), 401, /Log in/);
  });

  test('what is no form', async () => {
    const as = (type: string, body: FormData | Uint8Array<ArrayBuffer> | string) =>
      post(hub, body, '', { authorization: `Bearer ${admin}`, 'content-type': type });
    await refused(() => as('application/json', '{}'), 415, /multipart/);
    await refused(() => as('application/zip', new Uint8Array(bundle())), 415, /multipart/);
    await refused(() => as('multipart/form-data', 'x'), 415, /boundary/);
    await refused(() => as('multipart/form-data; boundary=b', 'nothing of the kind'), 400, /Cannot read the upload/);
    await refused(() => as('multipart/form-data; boundary=b', ''), 400, /Cannot read the upload/);
    const endless = `multipart/form-data; boundary=${'b'.repeat(400)}`;
    await refused(() => as(endless, 'x'), 400, /Cannot read the upload: its boundary/);
    const cut = '--b\r\ncontent-disposition: form-data; name="mcpbFile"; filename="a.mcpb"\r\n\r\nPK';
    await refused(() => as('multipart/form-data; boundary=b', cut), 400, /Cannot read the upload/);
  });

  test('a file under another field or name, none at all, or one too many', async () => {
    await refused(() => upload(bundle(), { field: 'file' }), 400, /"mcpbFile" or "dxtFile", not "file"/);
    await refused(() => upload(bundle(), { filename: 'notes.zip' }), 400, /\.mcpb/);
    await refused(() => upload(undefined), 400, /no file/);
    const body = new FormData();
    for (const field of ['mcpbFile', 'dxtFile']) body.append(field, new Blob([new Uint8Array(bundle())]), 'a.mcpb');
    await refused(() => post(hub, body, '', { authorization: `Bearer ${admin}` }), 400, /more than one file/);
  });

  test('a bad bundle, and values that do not fit', async () => {
    await refused(() => upload(Buffer.from('not a zip')), 400, /Cannot use the bundle/);
    await refused(() => upload(zip([{ name: 'x', data: 'y' }])), 400, /manifest\.json/);
    await refused(() => upload(bundle({ manifest_version: '9' })), 400, /manifest/);
    await refused(() => upload(bundle({}, [{ name: '../../evil', data: 'x' }])), 400, /evil/);
    await refused(() => upload(bundle(), { more: { userConfig: 'no json' } }), 400, /userConfig/);
    await refused(() => upload(bundle(), { more: { userConfig: '[1]' } }), 400, /userConfig/);
    await refused(() => upload(bundle(), { more: { userConfig: '{"other":1}' } }), 400, /userConfig\.other/);
    await refused(() => upload(bundle(), { query: '?replace=perhaps' }), 400, /replace/);
    const typo = /"userconfig" is unknown\. Its fields are the file in "mcpbFile" or "dxtFile", userConfig, replace\./;
    await refused(() => upload(bundle(), { more: { userconfig: '{"key":"k"}' } }), 400, typo);
    const twice = new FormData();
    for (const value of ['false', 'true']) twice.append('replace', value);
    twice.append('mcpbFile', new Blob([new Uint8Array(bundle())]), 'a.mcpb');
    await refused(() => post(hub, twice, '', { authorization: `Bearer ${admin}` }), 400, /"replace" is there twice/);
    await refused(
      () => upload(bundle(), { more: { userConfig: `{"key":"${'x'.repeat(300_000)}"}` } }),
      400,
      /longer than/,
    );
    await refused(
      () => upload(bundle(), { more: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, '1'])) }),
      400,
      /fields/,
    );
  });

  // All that a zip can do: src/bundles/unpack.test.ts.
  test.each<[what: string, files: ZipEntry[], status: number, message: RegExp]>([
    ['leads out', [{ name: 'a/../../../evil', data: 'x' }], 400, /a\/\.\.\/\.\.\/\.\.\/evil/],
    ['has a link', [{ name: 'link', data: '/etc/passwd', mode: 0o120777 }], 400, /symbolic link/],
    ['has a file twice', [{ name: 'server.cjs', data: 'evil' }], 400, /occurs twice/],
    ['has a file twice where case says nothing', [{ name: 'SERVER.cjs', data: 'evil' }], 400, /occurs twice/],
    ['has two manifests', [{ name: './manifest.json', data: '{}' }], 400, /occurs twice/],
    ['unpacks to far more', [{ name: 'bomb', data: Buffer.alloc(40 * 1024 * 1024) }], 413, /200 times/],
    [
      'has files without end',
      Array.from({ length: 20_000 }, (_, i) => ({ name: `f${i}`, store: true })),
      413,
      /10,000 entries/,
    ],
  ])('a bundle that %s', async (_, files, status, message) => {
    await refused(() => upload(bundle({}, files)), status, message);
  });

  test('more than 200 MB: at once when it is announced', async () => {
    const before = [await storedSettings(hub), foldersOf(hub)];
    const answer = await within('the answer', announced(300 * 1024 * 1024));
    expect(answer).toEqual([413, expect.stringContaining('200 MB')]);
    expect([await storedSettings(hub), foldersOf(hub)]).toEqual(before);
  });

  test(
    'more than 200 MB: also when nothing is announced, without holding it in memory',
    { timeout: 60_000 },
    async () => {
      const before = [await storedSettings(hub), foldersOf(hub)];
      const rest = process.memoryUsage().arrayBuffers;
      let most = 0;
      const answer = await chunked(201, () => (most = Math.max(most, process.memoryUsage().arrayBuffers)));
      expect(answer).toEqual([413, expect.stringContaining('200 MB')]);
      expect(most - rest).toBeLessThan(100 * 1024 * 1024);
      expect([await storedSettings(hub), foldersOf(hub)]).toEqual(before);
    },
  );

  test('an upload that breaks off leaves nothing behind', async () => {
    const before = foldersOf(hub);
    const outgoing = open({ 'transfer-encoding': 'chunked' });
    outgoing.on('error', () => {});
    outgoing.write(formHead);
    outgoing.write(Buffer.alloc(1024 * 1024));
    await until('it arrives', () => foldersOf(hub).length > before.length);
    outgoing.destroy();
    await until('it is gone', () => foldersOf(hub).length === before.length);
  });

  test('everything on a hub that is read-only', async () => {
    const fixed = await testHub({ mcpServers: {}, env: { READONLY: 'true' } });
    const answer = await upload(bundle(), { token: await login(fixed) }, fixed);
    expect([answer.status, foldersOf(fixed)]).toEqual([403, []]);
  });
});

const formHead = '--b\r\ncontent-disposition: form-data; name="mcpbFile"; filename="a.mcpb"\r\n\r\n';

function open(headers: Record<string, string>) {
  const all = { authorization: `Bearer ${admin}`, 'content-type': 'multipart/form-data; boundary=b', ...headers };
  return request(`${hub.url}/api/mcpb/upload`, { method: 'POST', agent: false, headers: all });
}

type Outcome = [status: number | undefined, text: string];

function outcome(outgoing: ReturnType<typeof open>): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      incoming.on('end', () => {
        resolve([incoming.statusCode, text]);
        outgoing.destroy();
      });
    });
  });
}

/** Announces a length and sends only the beginning. */
function announced(length: number): Promise<Outcome> {
  const outgoing = open({ 'content-length': String(length) });
  outgoing.write(formHead);
  return outcome(outgoing);
}

/** Sends that many megabytes as fast as they are taken, until an answer comes. */
async function chunked(megabytes: number, looked: () => void): Promise<Outcome> {
  const outgoing = open({ 'transfer-encoding': 'chunked' });
  const state = { isAnswered: false };
  const answer = outcome(outgoing).finally(() => (state.isAnswered = true));
  outgoing.write(formHead);
  const piece = Buffer.alloc(1024 * 1024, 'x');
  for (let i = 0; i < megabytes && !state.isAnswered; i++) {
    looked();
    if (!outgoing.write(piece)) await Promise.race([new Promise((done) => outgoing.once('drain', done)), answer]);
  }
  if (!state.isAnswered) outgoing.end('\r\n--b--\r\n');
  return within('the answer', answer);
}
