import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { clientKinds, connect } from '../kit/clients.ts';
import { temporaryFolder } from '../kit/hostile.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

// The reference servers behind the hub, the official clients in front of it: if these do not work together, nothing
// else counts.

const bin = (name: string) => fileURLToPath(new URL(`../../node_modules/.bin/mcp-server-${name}`, import.meta.url));
const folder = temporaryFolder();
const everything = { command: process.execPath, args: [bin('everything')] };
const filesystem = { command: process.execPath, args: [bin('filesystem'), folder] };
const memory = {
  command: process.execPath,
  args: [bin('memory')],
  env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
};
const all = { everything, filesystem, memory };
let hub: TestHub;

beforeAll(async () => {
  hub = await testHub({ mcpServers: all, groups: [{ id: 'g-1', name: 'files', servers: ['filesystem'] }] });
  await hub.connected(3);
});

test.each(clientKinds)('%s lists everything that three official servers offer', async (kind) => {
  const client = await connect(kind, hub.url);
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  expect(names.filter((name) => name.startsWith('everything-'))).toHaveLength(17);
  expect(names.filter((name) => name.startsWith('filesystem-'))).toHaveLength(14);
  expect(names.filter((name) => name.startsWith('memory-'))).toHaveLength(9);
  expect(new Set(names).size).toBe(40);
  expect((await client.listPrompts()).prompts.map((prompt) => prompt.name)).toContain('everything-args-prompt');
  expect((await client.listResources()).resources.map((resource) => resource.uri)).toContain(
    'demo://resource/static/document/features.md',
  );
  expect((await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate)).toContain(
    'demo://resource/dynamic/text/{resourceId}',
  );
});

test.each(clientKinds)('%s calls, reads, prompts and completes through the hub', async (kind) => {
  const client = await connect(kind, hub.url);
  const file = join(folder, `${kind.replace(' ', '-')}.txt`);
  const sum = await client.callTool('everything-get-sum', { a: 2, b: 40 });
  expect(sum.content[0]?.text).toContain('42');
  await client.callTool('filesystem-write_file', { path: file, content: `by ${kind} ü€😀` });
  expect(readFileSync(file, 'utf8')).toBe(`by ${kind} ü€😀`);
  const entity = `entity of ${kind}`;
  await client.callTool('memory-create_entities', {
    entities: [{ name: entity, entityType: 'test', observations: [] }],
  });
  expect(JSON.stringify(await client.callTool('memory-read_graph'))).toContain(entity);
  const structured = await client.callTool('everything-get-structured-content', { location: 'Chicago' });
  expect(structured.structuredContent).toMatchObject({ temperature: expect.any(Number) });
  const listed = await client.readResource('demo://resource/static/document/features.md');
  expect(listed.contents[0]).toMatchObject({
    uri: 'demo://resource/static/document/features.md',
    text: expect.any(String),
  });
  const dynamic = await client.readResource('demo://resource/dynamic/text/7');
  expect(dynamic.contents[0]?.uri).toBe('demo://resource/dynamic/text/7');
  const prompt = await client.getPrompt('everything-args-prompt', { city: 'Bern' });
  expect(JSON.stringify(prompt.messages)).toContain('Bern');
  const completed = client.complete('everything-completable-prompt', 'department', 'E');
  if (client.can('completions')) expect(await completed).toContain('Engineering');
  else await expect(completed).rejects.toThrow();
});

test.each(clientKinds)('%s sees one group, and one server under its own names', async (kind) => {
  const group = await connect(kind, hub.url, 'files');
  const grouped = (await group.listTools()).tools.map((tool) => tool.name);
  expect(grouped).toHaveLength(14);
  expect(grouped.every((name) => name.startsWith('filesystem-') || !name.includes('-'))).toBe(true);
  const single = await connect(kind, hub.url, 'everything');
  const own = (await single.listTools()).tools.map((tool) => tool.name);
  expect(own).toContain('get-sum');
  expect(own).toHaveLength(17);
  expect((await single.callTool('get-sum', { a: 1, b: 1 })).content[0]?.text).toContain('2');
  expect((await single.callTool('everything-echo', { message: 'prefixed' })).content[0]?.text).toContain('prefixed');
});

test.each(clientKinds)('%s answers what an official server asks', async (kind) => {
  const client = await connect(
    kind,
    hub.url,
    '',
    {},
    {
      elicit: () => ({ action: 'accept', content: { name: `Ann of ${kind}`, check: true } }),
      sample: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: `sampled by ${kind}` } }),
      roots: () => ({ roots: [{ uri: `file:///${kind.replace(' ', '-')}`, name: 'own' }] }),
    },
  );
  const said = async (name: string, args = {}) =>
    JSON.stringify((await client.callTool(`everything-${name}`, args)).content);
  expect(await said('trigger-elicitation-request')).toContain(`Ann of ${kind}`);
  expect(await said('trigger-sampling-request', { prompt: 'x' })).toContain(`sampled by ${kind}`);
});

test('an official server that serves the folders of its client serves each client its own, where it has a connection of its own', async () => {
  const own = await testHub({ mcpServers: { files: { ...filesystem, perSessionClient: true } } });
  await own.connected(1);
  const withFolder = (path: string) =>
    connect(
      'v2 http',
      own.url,
      'files',
      {},
      {
        elicit: () => ({ action: 'cancel' }),
        sample: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: '' } }),
        roots: () => ({ roots: [{ uri: pathToFileURL(path).href }] }),
      },
    );
  const folders = [temporaryFolder(), temporaryFolder()];
  const clients = await Promise.all([...folders.map(withFolder), connect('v1 http', own.url, 'files')]);
  for (const [i, client] of clients.entries()) {
    const served = folders[i] ?? folder;
    await until(`client ${i} is served its folder`, async () => {
      const text = (await client.callTool('list_allowed_directories')).content[0]?.text ?? '';
      return [...folders, folder].every((path) => text.includes(path) === (path === served));
    });
  }
});

test.each(clientKinds)('%s gets progress, and is not kept waiting for a call it cancelled', async (kind) => {
  const client = await connect(kind, hub.url);
  const steps: number[] = [];
  const done = await client.callTool(
    'everything-trigger-long-running-operation',
    { duration: 0.4, steps: 4 },
    { onprogress: ({ progress }) => steps.push(progress) },
  );
  expect(done.isError ?? false).toBe(false);
  expect(steps.length).toBeGreaterThanOrEqual(3);
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
  const abort = new AbortController();
  let heard = false;
  const cancelled = client.callTool(
    'everything-trigger-long-running-operation',
    { duration: 600, steps: 6000 },
    { signal: abort.signal, onprogress: () => (heard = true) },
  );
  cancelled.catch(() => {});
  await until('the operation is under way', () => heard);
  abort.abort();
  await expect(within('the end of a cancelled call', cancelled)).rejects.toThrow();
  expect((await client.callTool('everything-echo', { message: 'still here' })).content[0]?.text).toContain(
    'still here',
  );
});

test('every kind of client hears that tools changed, and lists them again', async () => {
  const clients = await Promise.all(clientKinds.map((kind) => connect(kind, hub.url)));
  await Promise.all(clients.map((client) => client.listTools()));
  hub.write({ mcpServers: { ...all, memory: { ...memory, enabled: false } } });
  for (const client of clients) {
    await until(`${client.kind} hears of it`, () => client.toolChanges() > 0);
    await until(`${client.kind} lists 31 tools`, async () => (await client.listTools()).tools.length === 31);
  }
  hub.write({ mcpServers: all });
  for (const client of clients) {
    await until(`${client.kind} lists 40 tools again`, async () => (await client.listTools()).tools.length === 40);
  }
});
