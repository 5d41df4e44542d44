import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { type Hostile, hostileHttp, hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { oauthFixture } from '../kit/oauth-server.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { zip } from '../kit/zip.ts';
import { until } from '../kit/until.ts';
import { closePages, follow, visit, violations, violationsAt, waitsForAnswers } from './kit.ts';

// The servers: how they are, how they come, change and go.

let hub: TestHub;
let admin: string;
let mortal: Hostile;
/** While this file is there, `mortal` does not start. */
let death: string;
const many = 10_000;
const prompts = [{ name: 'greet', description: 'Says hello' }];
const resources = [{ uri: 'note://one', name: 'One' }];

beforeAll(async () => {
  mortal = hostileStdio({ tools: ['echo'] });
  death = join(temporaryFolder(), 'death');
  const { args, ...own } = mortal.config as { command: string; args: string[] };
  const script = `test -e '${death}' && { echo 'my last words' >&2; exit 3; }; exec "$0" "$@"`;
  hub = await testHub({
    mcpServers: {
      alpha: { ...hostileStdio({ tools: ['echo', 'add'], prompts, resources }).config, description: 'The first one' },
      mortal: { ...own, command: 'sh', args: ['-c', script, own.command, ...args] },
      few: (await hostileHttp({ tools: 3 })).config,
      many: (await hostileHttp({ tools: many })).config,
      gone: {
        type: 'streamable-http',
        url: 'http://127.0.0.1:9/mcp',
        headers: { Authorization: 'Bearer hidden words' },
      },
    },
  });
  await hub.connected(4);
  admin = await login(hub);
  await userToken(hub, admin, 'ann', { servers: ['alpha'] });
});

const ann = { username: 'ann', password: passwordOf('ann') };

describe('the list', () => {
  test('shows states, is narrowed by words and state, and keeps that in its address', async () => {
    const page = await visit(hub, '/servers');
    const list = page.getByRole('list', { name: 'Servers' });
    await list.getByText('The first one').waitFor();
    await list.getByText('connection refused').waitFor();
    await list.getByText('2 of 2 tools').waitFor();
    // What needs a person comes first, also when it is last in the settings.
    expect(await list.getByRole('listitem').first().textContent()).toContain('gone');
    await page.getByLabel('Status').selectOption('Needs you (1)');
    await list.getByText('The first one').waitFor({ state: 'detached' });
    await list.getByText('connection refused').waitFor();
    await page.getByLabel('Status').selectOption('disconnected');
    await list.getByText('The first one').waitFor({ state: 'detached' });
    await page.waitForURL(/status=disconnected/);
    await page.getByRole('searchbox').fill('nothing like it');
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await list.getByText('The first one').waitFor();
  });

  test('has servers that sleep, which a button starts', async () => {
    const config = { ...hostileStdio({ tools: ['echo'] }).config, startOnDemand: true, idleTimeoutMs: 100 };
    await api(hub, 'POST', '/servers', { token: admin, body: { name: 'napper', config } });
    const state = () => hub.hub.servers().find(({ name }) => name === 'napper')?.status;
    await until('it sleeps', () => state() === 'asleep');
    const page = await visit(hub, '/servers?status=asleep');
    await page.getByRole('list', { name: 'Servers' }).getByText('Asleep').waitFor();
    await follow(page, '/servers/napper?tab=config');
    await page.getByText('It starts with its next call.').waitFor();
    await page.getByText('More', { exact: true }).first().click();
    const onDemand = page.getByLabel('Start it only when it is called, and stop it when it is not used');
    expect(await onDemand.isChecked()).toBe(true);
    await page.getByLabel('Time without use before it is stopped, in milliseconds').fill('600000');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await until('it is saved', async () => {
      const { body } = await api(hub, 'GET', '/servers/napper', { token: admin });
      return (body.data as { config: { idleTimeoutMs: number } }).config.idleTimeoutMs === 600_000;
    });
    expect(state(), 'another time restarts nothing').toBe('asleep');
    await page.getByRole('button', { name: 'Start now' }).click();
    await page.getByRole('button', { name: 'Reconnect' }).waitFor();
    await until('it runs', () => state() === 'connected');
    await closePages();
    await api(hub, 'DELETE', '/servers/napper', { token: admin });
  });

  test('is switched at once, and back when the hub refuses', async () => {
    const page = await visit(hub, '/servers', { expected: /403/ });
    const toggle = page.getByRole('switch', { name: 'Enable alpha' });
    await toggle.click();
    await page.getByRole('list', { name: 'Servers' }).getByText('Disabled').waitFor();
    // It is shown before the hub has done it.
    await hub.connected(3);
    await toggle.click();
    await hub.connected(4);
    await until('the page has all its answers', () => !waitsForAnswers(page));
    await page.route('**/servers/alpha/toggle', (route) =>
      route.fulfill({ status: 403, json: { success: false, message: 'Not today.' } }),
    );
    await toggle.click();
    await page.getByText('Not today.').waitFor();
    await expect.poll(() => toggle.getAttribute('aria-checked')).toBe('true');
  });

  test('says what to do where there is none', async () => {
    const empty = await testHub({ mcpServers: {} });
    const page = await visit(empty, '/servers');
    await page.getByText('No server yet').waitFor();
    await page.getByRole('button', { name: 'Add a server' }).last().click();
    await page.getByRole('dialog').waitFor();
  });
});

describe('many servers', () => {
  const icon =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const initializeResult = JSON.stringify({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'x', version: '1', icons: [{ src: 'https://example.com/x.png' }, { src: icon }] },
  });
  let fleet: TestHub;
  let token: string;

  beforeAll(async () => {
    fleet = await testHub({
      mcpServers: {
        quiet: (await hostileHttp({ tools: ['echo'], initializeResult })).config,
        failing: (await hostileHttp({ tools: ['echo', 'fail'] })).config,
        'gone-1': { url: 'http://127.0.0.1:9/1', enabled: false },
        'gone-2': { url: 'http://127.0.0.1:9/2', enabled: false },
        'gone-3': { url: 'http://127.0.0.1:9/3', enabled: false },
      },
    });
    await fleet.connected(2);
    token = await login(fleet);
    const call = (server: string, toolName: string) =>
      api(fleet, 'POST', `/tools/call/${server}`, { token, body: { toolName } });
    for (let n = 0; n < 3; n += 1) await call('failing', 'fail');
    await call('failing', 'echo');
    await call('quiet', 'echo');
  });

  test('show their icons, what they were asked in a day in one request, and those with problems first', async () => {
    const page = await visit(fleet, '/account');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await follow(page, '/servers');
    const list = page.getByRole('list', { name: 'Servers' });
    const failing = list.getByRole('listitem').filter({ hasText: 'failing' });
    await failing.getByText('75% failed').locator('visible=true').waitFor();
    await failing.getByText('4 calls').locator('visible=true').waitFor();
    await expect.poll(() => list.getByRole('listitem').first().textContent()).toContain('failing');
    expect(await list.locator('img').getAttribute('src')).toBe(icon);
    expect(asked.filter((url) => url.includes('/api/activities'))).toHaveLength(1);
    expect(asked.filter((url) => !url.startsWith(fleet.url) && !url.startsWith('data:'))).toEqual([]);
    await page.getByLabel('Order').selectOption('name');
    await page.waitForURL(/sort=name/);
    await page.getByRole('button', { name: 'One line for each server' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'More about each server' }).waitFor();
    expect(await violationsAt(page, { '/servers?sort=name': failing })).toEqual([]);
    await follow(page, '/servers');
    await failing
      .getByRole('link', { name: /75% failed/ })
      .locator('visible=true')
      .click();
    await page.waitForURL(/\/activity\?.*server=failing/);
  });

  test('are switched and deleted together, one after the other, and what came of it is said for each', async () => {
    const page = await visit(fleet, '/servers?q=gone', { expected: /403/ });
    await page.getByRole('button', { name: 'Several servers' }).click();
    const bar = page.getByRole('region', { name: 'Several servers' });
    await bar.getByRole('checkbox', { name: /chosen/ }).check();
    await bar.getByText('3 of 3 chosen').waitFor();
    await page.route('**/api/servers/gone-2/toggle', (route) =>
      route.fulfill({ status: 403, json: { success: false, message: 'Not today.' } }),
    );
    await bar.getByRole('button', { name: 'Enable' }).click();
    await bar.getByText('3 of 3 done').waitFor();
    const results = bar.getByRole('list', { name: 'What came of it, by server' });
    expect(await results.getByRole('listitem').allTextContents()).toEqual([
      'gone-1 done',
      'gone-2 Not today.',
      'gone-3 done',
    ]);
    expect(await violations(page)).toEqual([]);
    const enabled = async () =>
      Object.entries(JSON.parse(await stored(fleet)).mcpServers as Record<string, { enabled?: boolean }>)
        .filter(([, { enabled = true }]) => enabled)
        .map(([name]) => name);
    expect(await enabled()).toEqual(['quiet', 'failing', 'gone-1', 'gone-3']);
    await page.getByRole('checkbox', { name: 'Choose gone-1' }).uncheck();
    await bar.getByRole('button', { name: 'Delete' }).click();
    const question = page.getByRole('alertdialog', { name: 'Delete 2 servers?' });
    await question.getByText(/^gone-[23], gone-[23]\. /).waitFor();
    await question.getByRole('button', { name: 'Delete' }).click();
    await bar.getByText('2 of 2 done').waitFor();
    expect(Object.keys(JSON.parse(await stored(fleet)).mcpServers)).toEqual(['quiet', 'failing', 'gone-1']);
  });
});

describe('what a server lacks', () => {
  let lacking: TestHub;

  beforeAll(async () => {
    const { config } = await hostileHttp({ tools: ['echo'] });
    lacking = await testHub({
      mcpServers: {
        mail: (await hostileHttp({ status: 401 })).config,
        noisy: hostileStdio({ firstWords: 'Hello\n', silentOn: ['initialize'] }).config,
        notes: { ...config, headers: { Authorization: 'Bearer ${TOKEN_OF_NOTES}' } },
      },
      env: { CONNECT_TIMEOUT_MS: '1000' },
    });
    await lacking.connected(1);
  });

  test('is said whole in the list of a phone, and what to do, in the language of the page', async () => {
    const page = await visit(lacking, '/servers', { width: 390 });
    const wrong = /wants a credential, and offers no sign-in \(OAuth\) that the hub can use\./;
    const row = page.getByRole('listitem').filter({ hasText: wrong });
    const lines = await row.getByText(wrong).evaluate((said) => said.getClientRects().length);
    expect(lines).toBeGreaterThan(2);
    await page.evaluate(() => localStorage.setItem('toolhub.language', 'de'));
    await page.reload();
    await page.getByRole('link', { name: 'mail' }).click();
    await page.getByText('verlangt Zugangsdaten und bietet keine Anmeldung (OAuth)').waitFor();
    await page.getByText('Geben Sie ihm unter „Header“ einen Token').waitFor();
  });

  test('is a variable: where it is set is said, and leads there', async () => {
    const page = await visit(lacking, '/servers/notes');
    const hint = page.getByRole('status').filter({ hasText: 'TOKEN_OF_NOTES' });
    await hint.getByText(/Set each in the environment of the hub/).waitFor();
    await hint.getByRole('link', { name: 'Change the configuration' }).click();
    await page.waitForURL(/tab=config/);
  });

  test('is corrected by a button that stays while the hub tries again', async () => {
    const page = await visit(lacking, '/servers/noisy');
    await page.getByText('what is no MCP message: "Hello"').waitFor();
    await page.getByRole('button', { name: 'Reconnect' }).click();
    const trying = page.getByRole('region', { name: 'Connecting' });
    await trying.getByText('what is no MCP message: "Hello"').waitFor();
    await trying.getByRole('link', { name: 'Change the configuration' }).waitFor();
  });
});

describe('a server', () => {
  test('that dies while its page is open says so, with its last words, and comes back by itself', async () => {
    const page = await visit(hub, '/servers/mortal');
    await page.getByText('Connected', { exact: true }).waitFor();
    writeFileSync(death, '');
    await mortal.control({ exit: 1 });
    await page.getByRole('region', { name: 'Disconnected' }).waitFor();
    await page.getByText('The program exited with code 3: my last words', { exact: true }).waitFor();
    // Once: what it printed is folded.
    expect(await page.getByText('my last words').filter({ visible: true }).count()).toBe(1);
    await page.getByText('What it said in its last attempt').click();
    await page.getByRole('region', { name: 'What it said in its last attempt' }).getByText('my last words').waitFor();
    await page.getByText(/Next attempt/).waitFor();
    rmSync(death);
    await page.getByText('Connected', { exact: true }).waitFor();
  });

  test('has descriptions that are typed on while another user changes them', async () => {
    const path = '/servers/alpha/tools/add/description';
    const page = await visit(hub, '/servers/alpha?tool=add');
    const words = page.getByLabel('Description of add');
    await words.fill('Words that are being typed');
    await api(hub, 'PUT', path, { token: admin, body: { description: 'Words of another' } });
    await page.getByText('This configuration has been changed elsewhere meanwhile.').waitFor();
    expect(await words.inputValue()).toBe('Words that are being typed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(JSON.parse(await stored(hub)).mcpServers.alpha.tools.add.description).toBe('Words that are being typed');
    // What is saved is typed no longer: the next change of another is shown.
    await api(hub, 'DELETE', path, { token: admin });
    await page.getByText('own words').waitFor({ state: 'detached' });
    expect(await words.inputValue()).not.toBe('Words that are being typed');
  });

  test('has tools that are switched and described, and 10 000 of them scroll', async () => {
    const page = await visit(hub, '/servers/alpha');
    await page.getByRole('switch', { name: 'Enable echo' }).click();
    await page.getByText('1 of 2 on').waitFor();
    await page.getByRole('button', { name: /^add/ }).click();
    await page.getByLabel('Description of add').fill('Adds two numbers, my words');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('own words').waitFor();
    await page.getByRole('region', { name: 'Input schema: add' }).waitFor();
    await page.getByRole('button', { name: "Back to the server's words" }).click();
    await page.getByText('own words').waitFor({ state: 'detached' });
    await page.getByRole('switch', { name: 'Enable echo' }).click();
    await page.getByText('2 of 2 on').waitFor();

    await follow(page, '/servers/many');
    await page.getByText('10,000 of 10,000 on').waitFor();
    expect(await page.getByRole('listitem').count()).toBeLessThan(80);
    await page.keyboard.press('End');
    await page
      .getByRole('listitem')
      .filter({ has: page.locator('code') })
      .last()
      .waitFor();
    await page.getByRole('searchbox').fill('9999');
    await page.waitForURL(/q=9999/);
  });

  test('has tools that clients see otherwise, as a form shows before anything is saved', async () => {
    const page = await visit(hub, '/servers/few?tool=tool_00001', { expected: /400/ });
    await page.getByRole('button', { name: 'Change what clients see' }).click();
    const form = page.getByRole('dialog');
    const name = form.getByLabel('Name for clients');
    await name.fill('tool_00002');
    await form.getByText('is the name of another tool of the server').waitFor();
    await name.fill('find');
    const difference = form.getByRole('region', { name: 'The listed tool, before and after' });
    await difference.getByText('+ "name": "find",').waitFor();
    await form.getByText('id', { exact: true }).click();
    await form.getByLabel('Hide it from clients: id').check();
    await form.getByText('the tool requires this argument').waitFor();
    await form.getByLabel('Who gives it: id').selectOption('Always this value');
    await form.getByLabel('Value: id').fill('7');
    await difference.getByText('- "id": {').waitFor();
    await form.getByText('limit', { exact: true }).click();
    await form.getByLabel('Who gives it: limit').selectOption('The client; otherwise this value');
    await form.getByLabel('Value: limit').fill('many');
    expect(await violations(page)).toEqual([]);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('This is no JSON value.').waitFor();
    await form.getByLabel('Value: limit').fill('20');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(JSON.parse(await stored(hub)).mcpServers.few.tools.tool_00001).toMatchObject({
      name: 'find',
      arguments: { id: { value: '7', hidden: true }, limit: { default: 20 } },
    });
    await page.getByText('overridden').waitFor();
    await page.getByRole('button', { name: 'Change what clients see' }).click();
    await form.getByRole('button', { name: "Back to the server's tool" }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('overridden').waitFor({ state: 'detached' });
  });

  test('has tools whose large results are given in parts, which is offered where results were large', async () => {
    const body = { toolName: 'echo', arguments: { tag: 'word '.repeat(8_000) } };
    await api(hub, 'POST', '/tools/call/alpha', { token: admin, body });
    const page = await visit(hub, '/servers/alpha?tool=echo', { expected: /400/ });
    await page.getByText(/Results of this tool had up to ≈ [\d,]+ tokens/).waitFor();
    await page.getByRole('button', { name: 'Return them in parts' }).click();
    const parts = page.getByRole('region', { name: 'Large results' });
    await parts.getByLabel('Most tokens of a result').fill('1');
    await parts.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => parts.getByLabel('Most tokens of a result').getAttribute('aria-invalid')).toBe('true');
    await parts.getByLabel('Most tokens of a result').fill('4000');
    expect(await violations(page)).toEqual([]);
    await parts.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const tools = async () => JSON.parse(await stored(hub)).mcpServers.alpha.tools as unknown;
    expect(await tools()).toHaveProperty('echo.maxResultTokens', 4000);
    await parts.getByLabel('Most tokens of a result').fill('');
    await parts.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Return them in parts' }).waitFor();
    expect(await tools()).not.toHaveProperty('echo.maxResultTokens');
  });

  test('shows prompts, resources, its log and how to connect to it alone', async () => {
    const page = await visit(hub, '/servers/alpha?tab=prompts');
    await page.getByText('Says hello').waitFor();
    await page.getByRole('tab', { name: /Resources/ }).click();
    await page.getByText('note://one').waitFor();
    await page.getByRole('tab', { name: 'Log', exact: true }).click();
    await page.getByRole('link', { name: 'Open in the log' }).waitFor();
    await page.getByRole('tab', { name: 'Connect' }).click();
    await page.getByText(`${hub.url}/mcp/alpha`).first().waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Connect a client' }).click();
    await page.getByRole('button', { name: 'VS Code' }).click();
    await page.getByText('One server: alpha').waitFor();
    await page.getByRole('button', { name: /^With nothing/ }).click();
    await page.getByRole('link', { name: 'Add to VS Code' }).waitFor();
  });

  test('is changed without its secrets being shown or lost, and mistakes stand at their fields', async () => {
    const page = await visit(hub, '/servers/gone?tab=config', { expected: /400/ });
    const url = page.getByLabel('URL');
    expect(await page.content()).not.toContain('hidden words');
    await url.fill('no address');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => url.getAttribute('aria-invalid')).toBe('true');
    await url.fill('http://127.0.0.1:10/mcp');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { mcpServers } = JSON.parse(await stored(hub));
    expect(mcpServers.gone).toMatchObject({
      url: 'http://127.0.0.1:10/mcp',
      headers: { Authorization: 'Bearer hidden words' },
    });
  });

  test('loses in its configuration what is cleared, and nothing that no field can show', async () => {
    const args = ['-e', 'process.title = "a";\nprocess.exit(1)', '', 'last'];
    const config = {
      command: 'node',
      args,
      description: 'Old words',
      visibility: 'private',
      perSessionClient: true,
      options: { timeout: 9000 },
    };
    await api(hub, 'POST', '/servers', { token: admin, body: { name: 'full', config: { ...config, enabled: false } } });
    const page = await visit(hub, '/servers/full?tab=config');
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Description').fill('');
    await page.getByLabel('Who may use it').selectOption('');
    await page.getByLabel('Longest call, in milliseconds').fill('');
    await page.getByLabel('A process or connection of its own for each session').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const kept = async () => JSON.parse(await stored(hub)).mcpServers.full;
    expect(await kept()).toEqual({ command: 'node', args, enabled: false, owner: 'admin' });
    // As JSON too, what is taken out is gone.
    await page.getByRole('button', { name: 'As JSON' }).click();
    await page.getByLabel('Configuration as JSON').fill('{"command": "node", "enabled": false, "owner": "admin"}');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(kept).toEqual({ command: 'node', enabled: false, owner: 'admin' });
  });

  test('is changed whose address says nothing of its transport, or whose API document stands in its configuration', async () => {
    const document = { openapi: '3.1.0', info: { title: 'Orders', version: '1' }, paths: {} };
    const configs = {
      bare: { url: 'http://127.0.0.1:9/mcp', env: { TENANT: 'x' }, headers: { 'X-Tenant': '${TENANT}' } },
      inline: { openapi: { schema: document } },
    };
    const kept = async () => JSON.parse(await stored(hub)).mcpServers;
    const page = await visit(hub, '/servers', { expected: /400/ });
    for (const [name, config] of Object.entries(configs)) {
      await api(hub, 'POST', '/servers', { token: admin, body: { name, config } });
      await follow(page, `/servers/${name}?tab=config`);
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await page.getByLabel('Description').fill('New words');
      await page.getByRole('button', { name: 'Save' }).click();
      await expect
        .poll(async () => (await kept())[name])
        .toEqual({
          ...config,
          description: 'New words',
          owner: 'admin',
        });
    }
    const base = page.getByLabel('Base URL of the API');
    await base.fill('no address');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => base.getAttribute('aria-invalid')).toBe('true');
    await base.fill('http://127.0.0.1:11/v1');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await kept()).inline.openapi)
      .toEqual({ schema: document, baseUrl: 'http://127.0.0.1:11/v1' });
    await follow(page, '/servers/bare?tab=config');
    await page.getByRole('heading', { name: 'bare', level: 1 }).waitFor();
    expect(await page.getByLabel('How is it reached?').inputValue()).toBe('auto');
    await page.getByLabel('URL').fill('http://127.0.0.1:10/mcp');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await kept()).bare)
      .toMatchObject({ ...configs.bare, url: 'http://127.0.0.1:10/mcp' });
    expect((await kept()).bare.type).toBeUndefined();
    await closePages();
    for (const name of Object.keys(configs)) await api(hub, 'DELETE', `/servers/${name}`, { token: admin });
  });

  test('is changed by two at once: what one types stays, and so does what the other saves', async () => {
    const config = { url: 'http://127.0.0.1:9/mcp', headers: { 'X-One': '1' }, description: 'Old words' };
    await api(hub, 'POST', '/servers', { token: admin, body: { name: 'busy', config } });
    const page = await visit(hub, '/servers/busy?tab=config');
    const words = page.getByLabel('Description');
    await words.fill('Words that are being typed');
    const other = { headers: { 'X-One': '2' }, visibility: 'private' };
    await api(hub, 'PUT', '/servers/busy', { token: admin, body: { config: other } });
    await page.getByText('This configuration has been changed elsewhere meanwhile.').waitFor();
    expect(await words.inputValue()).toBe('Words that are being typed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const kept = async () => JSON.parse(await stored(hub)).mcpServers.busy;
    expect(await kept()).toMatchObject({ ...other, description: 'Words that are being typed' });
    // The same with the configuration as JSON.
    await page.getByRole('button', { name: 'As JSON' }).click();
    const json = page.getByLabel('Configuration as JSON');
    await json.fill((await json.inputValue()).replace('being typed', 'text'));
    await api(hub, 'PUT', '/servers/busy', { token: admin, body: { config: { visibility: 'public' } } });
    await page.getByText('This configuration has been changed elsewhere meanwhile.').waitFor();
    await page.getByRole('button', { name: 'As a form' }).click();
    await page.getByLabel('URL').fill('http://127.0.0.1:11/mcp');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(kept).toMatchObject({
      url: 'http://127.0.0.1:11/mcp',
      visibility: 'public',
      description: 'Words that are text',
    });
    await closePages();
    await api(hub, 'DELETE', '/servers/busy', { token: admin });
  });

  test('is changed while a change of it is saved, and by another before one begins again', async () => {
    const config = { type: 'streamable-http', url: 'http://127.0.0.1:9/mcp', enabled: false };
    await api(hub, 'POST', '/servers', { token: admin, body: { name: 'slow', config } });
    const page = await visit(hub, '/servers/slow?tab=config');
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/api/servers/slow', async (route) => {
      if (route.request().method() === 'PUT') await held;
      await route.continue();
    });
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Description').fill('first');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Description').fill('second');
    await page.getByRole('button', { name: 'As JSON' }).click();
    release();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    const kept = async () => JSON.parse(await stored(hub)).mcpServers.slow;
    await expect.poll(kept).toMatchObject({ description: 'second' });
    // A user who has saved and begins again has seen what others did between.
    const words = page.getByLabel('Description');
    // The fields are there again once what was saved is shown.
    await words.waitFor();
    await api(hub, 'PUT', '/servers/slow', { token: admin, body: { config: { description: 'of another' } } });
    await expect.poll(() => words.inputValue()).toBe('of another');
    await words.fill('third');
    expect(await page.getByText('This configuration has been changed elsewhere meanwhile.').count()).toBe(0);
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(kept).toMatchObject({ description: 'third' });
    await closePages();
    await api(hub, 'DELETE', '/servers/slow', { token: admin });
  });

  test('is renamed and deleted, the latter only when one means it', async () => {
    await api(hub, 'POST', '/servers', {
      token: admin,
      body: { name: 'odd.name-1', config: { url: 'http://127.0.0.1:9/mcp' } },
    });
    // What has just gone may be asked for once more.
    const page = await visit(hub, '/servers', { expected: /404/ });
    await page.getByRole('link', { name: 'odd.name-1' }).click();
    await page.getByRole('tab', { name: 'Configuration' }).click();
    await page.getByLabel('New name').fill('other.name');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: /other.name/, level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/servers$/);
    expect((await api(hub, 'GET', '/servers/other.name', { token: admin })).status).toBe(404);
  });

  test('of another user shows a user what may be used, and nothing to change', async () => {
    const page = await visit(hub, '/servers/alpha?tab=config', { as: ann, expected: /404/ });
    await page.getByText('Its configuration is for admin').waitFor();
    expect(await page.getByRole('switch').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    await follow(page, '/servers/many');
    await page.getByText('There is no such page').waitFor();
  });
});

describe('a new server', () => {
  test('is added by form, and its mistakes stand at their fields', async () => {
    const page = await visit(hub, '/servers', { expected: /4\d\d/ });
    await page.getByRole('button', { name: 'Add a server' }).click();
    await page.getByLabel('Name', { exact: true }).fill('bad/name');
    await page.getByLabel('How is it reached?').selectOption('streamable-http');
    await page.getByLabel('URL').fill('http://127.0.0.1:9/mcp');
    await page.getByRole('tab', { name: 'Paste' }).click();
    await page.getByLabel('What another client or a README says').fill('half of it');
    for (const leave of [() => page.mouse.click(4, 4), () => page.keyboard.press('Escape')]) {
      await leave();
      await page.getByRole('button', { name: 'Keep editing' }).click();
    }
    await page.getByRole('tab', { name: 'Form' }).click();
    expect(await page.getByLabel('URL').inputValue()).toBe('http://127.0.0.1:9/mcp');
    await page.getByRole('tab', { name: 'Paste' }).click();
    expect(await page.getByLabel('What another client or a README says').inputValue()).toBe('half of it');
    await page.getByRole('tab', { name: 'Form' }).click();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Name', { exact: true }).fill('by-hand');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: /by-hand/, level: 1 }).waitFor();
    // The button that opened the dialog is on the page before.
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('main');

    await follow(page, '/servers?add=form');
    await page.getByLabel('Name', { exact: true }).fill('dropped');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('is pasted as JSON or TOML, looked at, and added as far as one wants', async () => {
    const page = await visit(hub, '/servers?add=paste');
    const text = page.getByLabel('What another client or a README says');
    await text.fill('[mcp_servers.from-codex]\nurl = "http://127.0.0.1:9/mcp"\n');
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByRole('checkbox', { name: 'Take from-codex' }).waitFor();
    await text.fill(
      JSON.stringify({
        mcpServers: {
          'from-json': { url: 'http://127.0.0.1:9/a' },
          unwanted: { url: 'http://127.0.0.1:9/b' },
          alpha: { command: 'x', env: { API_KEY: '' } },
        },
      }),
    );
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByText('There is a server of that name already.').waitFor();
    await page.getByRole('checkbox', { name: 'Take unwanted' }).uncheck();
    await page.getByLabel('Another name').fill('alpha-again');
    await page.getByLabel('API_KEY').fill('the key of alpha');
    await page.getByRole('button', { name: 'Add 2 servers' }).click();
    // The list, with what is new marked and first.
    const list = page.getByRole('list', { name: 'Servers' });
    await list.getByRole('listitem').nth(1).getByText('New', { exact: true }).waitFor();
    const rows = list.getByRole('listitem');
    const nameOf = (row: number) => rows.nth(row).getByRole('link').first().textContent();
    expect(new Set([await nameOf(0), await nameOf(1)])).toEqual(new Set(['alpha-again', 'from-json']));
    expect(await page.getByRole('link', { name: 'unwanted' }).count()).toBe(0);
    expect(JSON.parse(await stored(hub)).mcpServers['alpha-again'].env).toEqual({ API_KEY: 'the key of alpha' });
  });

  test('is typed as a whole command line, and leads to its page when it is the only one', async () => {
    const page = await visit(hub, '/servers?add=form');
    await page.getByLabel('Name', { exact: true }).fill('by-line');
    await page.getByLabel('Command').fill('TOKEN=abc node -e "process.exit(3)" quiet');
    await page.getByLabel('Command').press('Tab');
    await expect.poll(() => page.getByLabel('Command').inputValue()).toBe('node');
    expect(await page.getByRole('textbox', { name: 'Arguments' }).inputValue()).toBe('-e\nprocess.exit(3)\nquiet');
    expect(await page.getByLabel('Environment: TOKEN').inputValue()).toBe('abc');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.waitForURL(/\/servers\/by-line/);
    await page.getByText('The program exited with code 3 and did not say why.').waitFor();
  });

  test('has its environment filled in with the keyboard alone', async () => {
    const page = await visit(hub, '/servers?add=form');
    await page.getByRole('button', { name: 'Add a line' }).press('Enter');
    await page.keyboard.type('TOKEN');
    await page.keyboard.press('Tab');
    await page.keyboard.type('abc');
    expect(await page.getByLabel('Environment: TOKEN').inputValue()).toBe('abc');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByLabel('Environment: Name').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Add a line');
  });

  test('is found by the names of its tools', async () => {
    const page = await visit(hub, '/servers?q=add');
    const list = page.getByRole('list', { name: 'Servers' });
    await list.getByRole('link', { name: 'alpha', exact: true }).waitFor();
    await list.getByText('add', { exact: true }).waitFor();
    expect(await list.getByRole('link', { name: 'gone' }).count()).toBe(0);
  });

  test('is a bundle that is dropped, with the values it asks for as a form', async () => {
    const manifest = {
      manifest_version: '0.3',
      name: 'bundled',
      version: '1.0.0',
      description: 'x',
      author: { name: 'x' },
      server: {
        type: 'node',
        entry_point: 'index.js',
        mcp_config: {
          command: 'node',
          args: ['${__dirname}/index.js', '--mode=${user_config.mode}', '${user_config.folders}'],
          env: { KEY: '${user_config.key}', LOUD: '${user_config.loud}' },
        },
      },
      user_config: {
        key: {
          type: 'string',
          title: 'Key of the service',
          description: 'From its website',
          sensitive: true,
          required: true,
        },
        mode: { type: 'string', title: 'Mode', description: '', default: 'slow' },
        loud: { type: 'boolean', title: 'Loud', description: '', default: false },
        folders: { type: 'directory', title: 'Folders', description: '', multiple: true },
      },
    };
    const path = join(hub.folder, 'bundled.mcpb');
    writeFileSync(
      path,
      zip([
        { name: 'manifest.json', data: JSON.stringify(manifest) },
        { name: 'index.js', data: 'process.stdin.resume();' },
      ]),
    );
    const page = await visit(hub, '/servers?add=bundle');
    await page.locator('input[type=file]').setInputFiles(path);
    await page.getByLabel('Key of the service').fill('open sesame');
    expect(await page.getByLabel(/^Mode/).getAttribute('placeholder')).toBe('slow');
    await page.getByLabel('Loud').check();
    await page.getByLabel(/^Folders/).fill('/one\n/two');
    await page.getByRole('button', { name: 'Save and start' }).click();
    await page.getByText('“bundled” is added.').waitFor();
    const { env, args } = JSON.parse(await stored(hub)).mcpServers.bundled;
    expect(env).toEqual({ KEY: 'open sesame', LOUD: 'true' });
    expect(args.slice(1)).toEqual(['--mode=slow', '/one', '/two']);
  });
});

describe('a server that each user signs in to', () => {
  test('is signed in to in a tab of its own, and out of again', async () => {
    const { url, issuer } = await oauthFixture();
    const shared = await testHub({
      mcpServers: { mail: { url, oauth: { perUser: true }, visibility: 'public' } },
      systemConfig: { network: { allowedCidrs: ['127.0.0.1/32'] } },
    });
    await userToken(shared, await login(shared), 'ann');
    const page = await visit(shared, '/servers/mail', { as: { username: 'ann', password: passwordOf('ann') } });
    await page.context().addCookies([{ name: 'account', value: 'ann', url: issuer }]);
    await page.getByText('A sign-in there is needed once.').waitFor();
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const other = await opened;
    await other.waitForURL(/\/oauth\/callback/);
    expect(await other.evaluate(() => window.opener)).toBeNull();
    await page.getByText('Connected', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });
});

describe('readers of screens', () => {
  test('find nothing wrong at any page and dialog', async () => {
    const page = await visit(hub, '/account');
    const shown = {
      '/servers': page.getByText('The first one'),
      '/servers/alpha': page.getByText('2 of 2 on'),
      '/servers/alpha?tool=echo': page.getByLabel('Description of echo'),
      '/servers/gone?tab=config': page.getByLabel('URL'),
      '/servers/alpha?tab=connect': page.getByText(`${hub.url}/mcp/alpha`).first(),
      '/servers?add=form': page.getByLabel('How is it reached?'),
      '/servers?add=paste': page.getByLabel('What another client or a README says'),
    };
    expect(await violationsAt(page, shown)).toEqual([]);
  });
});

/** The settings file. */
async function stored({ settingsPath }: TestHub): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  return readFile(settingsPath, 'utf8');
}
