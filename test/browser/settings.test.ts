import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { deferred } from '../../src/core/deferred.ts';
import { api, login } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { embeddingService } from '../kit/embedding-service.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { json, scriptedHttp } from '../kit/scripted-http.ts';
import { session } from '../kit/sessions.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { follow, visit, violationsAt } from './kit.ts';

// Settings, export and import, smart routing.

let hub: TestHub;
let admin: string;

beforeAll(async () => {
  const notes = [
    { name: 'create_note', description: 'Writes a new note', inputSchema: { type: 'object' } },
    { name: 'delete_note', description: 'Removes a note', inputSchema: { type: 'object' } },
    { name: 'weather', description: 'Tells whether it rains', inputSchema: { type: 'object' } },
  ];
  hub = await testHub({
    mcpServers: {
      notes: {
        ...hostileStdio({ tools: notes }).config,
        env: { TOKEN: 'hidden words' },
        tools: { delete_note: { enabled: false } },
      },
    },
    groups: [{ id: 'g1', name: 'dev', servers: ['notes'], owner: 'admin' }],
  });
  await hub.connected(1);
  admin = await login(hub);
});

const stored = async () => JSON.parse(await readFile(hub.settingsPath, 'utf8')) as Record<string, any>;

describe('settings', () => {
  test('are changed, hold at once, and mistakes stand at their fields', async () => {
    const page = await visit(hub, '/settings', { expected: /400/ });
    await page.getByLabel('Tools over plain HTTP (OpenAPI)').selectOption('off');
    await page.getByLabel('Address from outside').fill('no address');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => page.getByLabel('Address from outside').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Address from outside').fill('');
    await page.getByLabel('Secrets in results').selectOption('Are masked');
    await page.getByLabel('Calls', { exact: true }).fill('20');
    await page.getByLabel('Folder of skills').fill('${HOME}/skills');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => page.getByLabel('Folder of skills').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Folder of skills').fill('skills');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await stored())['systemConfig']).toMatchObject({
      secretsInCalls: { results: 'mask' },
      codeMode: { calls: 20 },
      skills: { folder: 'skills' },
    });
    await page.getByLabel('Folder of skills').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await stored())['systemConfig'].skills?.folder).toBeUndefined();
    expect((await api(hub, 'GET', '/tools/notes/weather')).status).toBe(403);
    expect((await stored())['systemConfig'].routing).toEqual({ openApiAccess: 'off' });
  });
});

describe('settings that several change', () => {
  test('are each sent alone: what one has typed stays, and what another has changed too', async () => {
    const page = await visit(hub, '/settings');
    await page.getByLabel('Items per page of the lists clients get').fill('50');
    const body = { smartRouting: { serverDescriptionMode: 'full' } };
    const heard = page.waitForResponse((response) => response.url().endsWith('/api/settings'));
    await api(hub, 'PUT', '/system-config', { token: admin, body });
    await heard;
    const label = page.getByLabel('Items per page of the lists clients get');
    expect(await label.inputValue()).toBe('50');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { systemConfig } = await stored();
    expect(systemConfig).toMatchObject({ listPageSize: 50, smartRouting: { serverDescriptionMode: 'full' } });
    expect(systemConfig.install?.baseUrl).toBe(undefined);
    await label.fill('0');
    await page.getByRole('button', { name: 'Undo the changes' }).click();
    expect(await label.inputValue()).toBe('50');
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  });

  test('even the same ones: what one has typed stays and is said to be overtaken, and of a list nothing is lost', async () => {
    const page = await visit(hub, '/settings');
    const size = page.getByLabel('Items per page of the lists clients get');
    const cidrs = page.getByLabel('Private ranges that servers of users may be in');
    const payload = page.getByLabel('Keep arguments and results of calls');
    await size.fill('70');
    await cidrs.fill('10.1.0.0/16');
    const overtaken = page.getByText('This configuration has been changed elsewhere meanwhile.');
    const other = {
      listPageSize: 60,
      activityLog: { storeToolPayload: true },
      network: { allowedCidrs: ['10.2.0.0/16'] },
    };
    await api(hub, 'PUT', '/system-config', { token: admin, body: other });
    await overtaken.waitFor();
    expect([await size.inputValue(), await cidrs.inputValue()]).toEqual(['70', '10.1.0.0/16']);
    expect(await payload.isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await overtaken.waitFor({ state: 'detached' });
    const networks = ['10.2.0.0/16', '10.1.0.0/16'];
    const saved = { listPageSize: 70, activityLog: { storeToolPayload: true }, network: { allowedCidrs: networks } };
    expect((await stored())['systemConfig']).toMatchObject(saved);
    await expect.poll(() => cidrs.inputValue()).toBe(networks.join('\n'));
    // What is saved is typed no longer: the next change of another is shown.
    await api(hub, 'PUT', '/system-config', { token: admin, body: { listPageSize: 0, network: { allowedCidrs: [] } } });
    await expect.poll(() => size.inputValue()).toBe('0');
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  });

  test('cannot be changed on a hub that is read-only, and it is said why', async () => {
    const frozen = await testHub({ env: { READONLY: 'true' } });
    const page = await visit(frozen, '/settings');
    await page.getByLabel('Address from outside').waitFor();
    expect(await page.getByLabel('Address from outside').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    await page.getByRole('tab', { name: 'Export and import' }).click();
    await page.getByText('This hub was started with READONLY', { exact: false }).waitFor();
    expect(await page.getByLabel('Or paste it').count()).toBe(0);
  });
});

describe('export and import', () => {
  test('an export is changed by hand, looked at, and applied without losing a secret', async () => {
    const page = await visit(hub, '/settings?tab=transfer');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the settings' }).click(),
    ]);
    const file = JSON.parse(await readFile(await download.path(), 'utf8')) as Record<string, any>;
    expect(JSON.stringify(file)).not.toContain('hidden words');
    await page.getByLabel('Or paste it').fill(JSON.stringify(file));
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.getByText('Nothing would change.').waitFor();
    file['mcpServers'].notes.description = 'For writers';
    file['mcpServers'].fresh = { url: 'http://127.0.0.1:9/mcp' };
    file['groups'] = [];
    await page.getByLabel('Or paste it').fill(JSON.stringify(file));
    await page.getByLabel('What is not in the file').selectOption('replace');
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page
      .getByRole('region', { name: 'Difference of notes' })
      .getByText('+   "description": "For writers"')
      .waitFor();
    expect((await stored())['mcpServers'].fresh).toBeUndefined();
    await page.getByRole('button', { name: 'Apply 3 changes' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('3 changes made.').waitFor();
    const done = page.getByRole('region', { name: 'Done' });
    await done.getByText('fresh', { exact: true }).waitFor();
    await done.getByText('Passed over').click();
    await done.getByText('is there already, and stays as it is').waitFor();
    const { mcpServers, groups } = await stored();
    expect(mcpServers.notes).toMatchObject({ description: 'For writers', env: { TOKEN: 'hidden words' } });
    expect([Object.keys(mcpServers), groups]).toEqual([['notes', 'fresh'], []]);
    await api(hub, 'POST', '/groups', { token: admin, body: { name: 'dev', servers: ['notes'] } });
  });

  test('what is no settings file is refused with what is wrong', async () => {
    const page = await visit(hub, '/settings?tab=transfer', { expected: /400/ });
    await page.getByLabel('Or paste it').fill('{');
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.getByText('This is no JSON object', { exact: false }).waitFor();
    await page.getByLabel('Or paste it').fill('{"mcpServers":{"x":{"command":7}}}');
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.getByRole('alert').waitFor();
  });
});

describe('smart routing', () => {
  test('is tried, with scores and what was dropped and why', async () => {
    const page = await visit(hub, '/smart');
    await page.getByLabel('What are you looking for?').fill('create a note');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('link', { name: /create_note/ }).waitFor();
    await page.getByRole('meter', { name: 'Score' }).first().waitFor();
    await page.getByText('Dropped').click();
    await page.getByText('score too low').first().waitFor();
    await page.waitForURL(/q=create/);
    await page.getByLabel('What are you looking for?').fill('removes a note');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=removes/);
    await page.getByText('switched off').first().waitFor({ state: 'attached' });
    await page.getByLabel('Within').selectOption('dev');
    await page.waitForURL(/group=dev/);
    await page.getByText('switched off').first().waitFor({ state: 'attached' });
  });

  test('takes another question while one is still being answered', async () => {
    const page = await visit(hub, '/smart');
    const held = deferred<void>();
    atEnd(() => held.resolve());
    await page.route('**/api/smart-routing/search', async (route) => {
      if (route.request().postData()?.includes('slow') === true) await held.promise;
      // The page does not wait for this one any more.
      await route.continue().catch(() => {});
    });
    const asked = page.waitForRequest('**/api/smart-routing/search');
    await page.getByLabel('What are you looking for?').fill('slow');
    await page.keyboard.press('Enter');
    await asked;
    await page.getByLabel('What are you looking for?').fill('create a note');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /create_note/ }).waitFor();
  });

  test('discloses progressively as soon as it is switched, for clients that are connected too', async () => {
    const client = await session(hub.mcp('%24smart'));
    const names = async () => {
      const { message } = await client.request('tools/list', {});
      return (message as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
    };
    expect(await names()).toEqual(['search_tools', 'call_tool']);
    const page = await visit(hub, '/smart');
    await page.getByRole('switch', { name: 'Progressive disclosure' }).click();
    await expect.poll(names).toEqual(['search_tools', 'describe_tool', 'call_tool']);
  });

  test('tells clients as much of the servers as is chosen, and a service that is being typed stays', async () => {
    const page = await visit(hub, '/smart');
    await page.getByLabel('Embedding service').selectOption('openai');
    await page.getByLabel('API key').fill('sk-half');
    const body = { smartRouting: { serverDescriptionMode: 'names' } };
    await api(hub, 'PUT', '/system-config', { token: admin, body });
    const heard = page.waitForResponse((response) => response.url().endsWith('/api/settings'));
    await page.getByLabel('What the search tells of the servers').selectOption('full');
    await page.getByText('Saved.').waitFor();
    await heard;
    expect((await stored())['systemConfig'].smartRouting.serverDescriptionMode).toBe('full');
    expect(await page.getByLabel('API key').inputValue()).toBe('sk-half');
  });

  test('says when the environment has chosen another service, how far its index is, and what is wrong with it', async () => {
    const service = await embeddingService();
    const own = await testHub({
      mcpServers: { notes: hostileStdio({ tools: ['echo', 'add'] }).config },
      env: { OPENAI_API_BASE_URL: service.url, EMBEDDING_MODEL: 'fixture' },
    });
    await own.connected(1);
    const page = await visit(own, '/smart');
    await page.getByText('In use is “openai”', { exact: false }).waitFor();
    await page.getByRole('progressbar', { name: '2 of 2 tools are in the index' }).waitFor();
    await page.getByText('Working').waitFor();
    service.fail(401);
    await page.getByLabel('What are you looking for?').fill('say it again');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('link', { name: /echo/ }).first().waitFor();
    await page.getByText('Degraded', { exact: false }).waitFor();
    await page.getByText('The hub tries it again', { exact: false }).waitFor();
  });

  test('shows its index, and makes it again', async () => {
    const page = await visit(hub, '/smart');
    await page.getByRole('progressbar').waitFor();
    await page.getByRole('button', { name: 'Index again' }).click();
    await page.getByText('The tools are indexed.').waitFor();
  });

  test('what is typed about a service stays when another user saves another part of it', async () => {
    const own = await testHub({ mcpServers: {} });
    const page = await visit(own, '/smart');
    await page.getByLabel('Embedding service').selectOption('openai');
    await page.getByLabel('Base URL').fill('http://127.0.0.1:9/mine');
    const theirs = { embeddingModel: 'theirs', openaiApiBaseUrl: 'http://127.0.0.1:9/theirs' };
    const body = { smartRouting: { ...theirs, embeddingProvider: 'openai' } };
    expect((await api(own, 'PUT', '/system-config', { token: await login(own), body })).status).toBe(200);
    await expect.poll(() => page.getByLabel('Model').inputValue()).toBe('theirs');
    expect(await page.getByLabel('Base URL').inputValue()).toBe('http://127.0.0.1:9/mine');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const saved = JSON.parse(await readFile(own.settingsPath, 'utf8')) as Record<string, any>;
    expect(saved['systemConfig'].smartRouting).toMatchObject({
      embeddingModel: 'theirs',
      openaiApiBaseUrl: 'http://127.0.0.1:9/mine',
    });
  });

  test('keeps the key of a service, and never shows it again', async () => {
    const page = await visit(hub, '/smart');
    await page.getByLabel('Embedding service').selectOption('openai');
    await page.getByLabel('API key').fill('sk-very-secret-key-0123456789');
    await page.getByLabel('Base URL').fill('http://127.0.0.1:9/v1');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel('API key').inputValue()).toMatch(/^•+$/);
    await page.getByLabel('Model').fill('text-embedding-3-small');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await stored())['systemConfig'].smartRouting).toMatchObject({
      openaiApiKey: 'sk-very-secret-key-0123456789',
      embeddingModel: 'text-embedding-3-small',
    });
    await page.getByLabel('Embedding service').selectOption('builtin');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await stored())['systemConfig'].smartRouting.enabled).toBe(false);
  });
});

test('on a slow network pages say that they load, what is typed stays, and a double click on save sends once', async () => {
  const page = await visit(hub, '/account');
  const [listed, saved] = [deferred<void>(), deferred<void>()];
  let sent = 0;
  await page.route('**/api/resources', async (route) => {
    await listed.promise;
    await route.continue();
  });
  await page.route('**/api/prompts', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    sent += 1;
    await saved.promise;
    await route.continue();
  });
  await follow(page, '/settings/prompts');
  await page
    .getByRole('status', { name: /^Loading/ })
    .last()
    .waitFor();
  await page.getByRole('button', { name: 'Add a prompt' }).click();
  const form = page.getByRole('dialog');
  const name = form.getByLabel('Name', { exact: true });
  await name.fill('slow');
  await form.getByLabel('Text', { exact: true }).fill('Wait for it');
  listed.resolve();
  await page.getByText('No resource of the hub').waitFor();
  expect(await name.inputValue()).toBe('slow');
  const add = form.getByRole('button', { name: 'Add', exact: true });
  await add.dblclick();
  await expect.poll(() => add.getAttribute('aria-disabled')).toBe('true');
  await name.press('Enter');
  await add.click({ force: true });
  expect(await form.getByLabel('Text', { exact: true }).inputValue()).toBe('Wait for it');
  saved.resolve();
  await page.getByRole('switch', { name: 'Enable slow' }).waitFor();
  expect(sent).toBe(1);
  await api(hub, 'DELETE', `/prompts/${(await stored())['prompts'].at(-1).id}`, { token: admin });
});

describe('guards', () => {
  test('are added, tried, put into order and deleted, and mistakes stand at their fields', async () => {
    const seen: unknown[] = [];
    const service = await scriptedHttp(({ message }, response) => {
      seen.push(message);
      json(response, { decision: 'refuse', message: 'No personal data.' });
    });
    await api(hub, 'PUT', '/system-config', {
      token: admin,
      body: { guards: [{ id: 'first', url: service.origin, on: ['result'], enabled: false, secret: 'hidden words' }] },
    });
    const page = await visit(hub, '/settings/guards', { expected: /400/ });
    await page.getByRole('button', { name: 'Add a guard' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel(/^Name/).fill('pii');
    await form.getByLabel('Address').fill('nowhere');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => form.getByLabel('Address').getAttribute('aria-invalid')).toBe('true');
    await form.getByLabel('Address').fill(service.origin);
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Try pii with a sample' }).click();
    await form.getByLabel(/^Tool of the sample/).fill('find');
    await form.getByRole('button', { name: 'Ask' }).click();
    await form.getByText('No personal data.').waitFor();
    expect(seen).toMatchObject([{ on: 'call', name: 'find', arguments: { email: 'kim@example.com' } }]);
    await form.getByLabel(/^Server of the sample/).fill('crm');
    await form.getByText('No personal data.').waitFor({ state: 'detached' });
    await form.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Ask pii earlier' }).click();
    await expect
      .poll(async () => (await stored())['systemConfig'].guards)
      .toMatchObject([{ id: 'pii' }, { id: 'first', secret: 'hidden words' }]);
    await page.getByRole('button', { name: 'Delete pii' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(async () => (await stored())['systemConfig'].guards).toMatchObject([{ id: 'first' }]);
  });
});

describe('prompts and resources of the hub', () => {
  test('are written, tried, changed and deleted, and mistakes stand at their fields', async () => {
    const page = await visit(hub, '/settings/prompts', { expected: /400/ });
    await page.getByRole('button', { name: 'Add a prompt' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name', { exact: true }).fill('two words');
    await form.getByLabel('Text', { exact: true }).fill('Hello {{who}}!');
    await form.getByText('In the text, and no argument: who').waitFor();
    await form.getByRole('button', { name: 'Make them arguments' }).click();
    await form.getByLabel('Try it: who').fill('Ann');
    await form.getByText('Hello Ann!').waitFor();
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => form.getByLabel('Name', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await form.getByLabel('Name', { exact: true }).fill('greet');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('switch', { name: 'Enable greet' }).waitFor();
    expect(await stored()).toMatchObject({
      prompts: [{ name: 'greet', template: 'Hello {{who}}!', arguments: [{ name: 'who', required: true }] }],
    });

    await page.getByRole('button', { name: 'Add a resource' }).click();
    await form.getByLabel('Address (URI)').fill('docs://guide');
    await form.getByLabel('Text', { exact: true }).fill('Read me');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Edit docs://guide' }).click();
    await form.getByRole('button', { name: 'Read it as a client does' }).click();
    await form.getByText('"text": "Read me"').waitFor();
    await form.getByLabel(/^Type/).fill('text/markdown');
    const { id } = (await stored())['resources'][0];
    await api(hub, 'PUT', `/resources/${id}`, { token: admin, body: { description: 'By another' } });
    await form.getByText(/changed elsewhere/).waitFor();
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('text/markdown').waitFor();
    // What another has changed meanwhile stays.
    await expect
      .poll(async () => (await stored())['resources'])
      .toMatchObject([{ description: 'By another', mimeType: 'text/markdown' }]);
    await page.getByRole('button', { name: 'Delete docs://guide' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(async () => (await stored())['resources']).toEqual([]);
  });
});

test('readers of screens find nothing wrong at any page', async () => {
  const page = await visit(hub, '/account');
  const shown = {
    '/settings': page.getByLabel('Address from outside'),
    '/settings/guards': page.getByRole('button', { name: 'Add a guard' }),
    '/settings/guards?open=%2B': page.getByLabel('Address'),
    '/settings/prompts': page.getByRole('button', { name: 'Add a prompt' }),
    '/settings/prompts?prompt=new': page.getByLabel('Text', { exact: true }),
    '/settings/prompts?resource=new': page.getByLabel('Address (URI)'),
    '/settings?tab=transfer': page.getByRole('button', { name: 'Download the settings' }),
    '/smart?q=note': page.getByRole('link', { name: /create_note/ }),
  };
  expect(await violationsAt(page, shown)).toEqual([]);
});
