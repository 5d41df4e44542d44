import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseInput } from '../../core/input.ts';
import { mask } from '../../core/mask.ts';
import type { Draft, Editor } from '../document/document.ts';
import { changeItems } from './item-edits.ts';
import { addServer, deleteServer, toggleServer, updateServer } from './server-edits.ts';
import { startsProcess } from './server-rights.ts';
import { newServerInput, serverUpdateInput } from './server-input.ts';
import { hidesSecrets, maskServer, unmaskServer } from './server-secrets.ts';

const admin: Editor = { username: 'admin', isAdmin: true, seesServer: () => true, seesGroup: () => true };
const ann: Editor = { ...admin, username: 'ann', isAdmin: false, seesServer: (name) => name !== 'hidden' };

const document = (): Draft => ({
  mcpServers: {
    first: { command: 'npx', env: { KEY: 'sk-1' }, owner: 'admin', custom: 1 },
    mail: {
      type: 'streamable-http',
      url: 'https://mail.example/mcp',
      headers: { Authorization: 'Bearer abc' },
      oauth: { clientId: 'c', accessToken: 'token-1' },
      owner: 'ann',
      tools: { 'mail-send': { enabled: false }, read: { description: 'Reads' } },
    },
    hidden: { url: 'https://hidden.example' },
  },
  groups: [{ id: 'g', name: 'dev', servers: ['mail', { name: 'first', tools: ['x'] }] }],
  users: [
    { username: 'admin', isAdmin: true },
    { username: 'ann', servers: ['mail', 'first'] },
  ],
  bearerKeys: [{ id: 'k', allowedServers: ['mail'] }],
});
const entry = (draft: Draft, name: string) => draft.mcpServers?.[name] ?? {};
const code = (code: string, message = '') =>
  expect.objectContaining({ code, message: expect.stringContaining(message) as string });
const update = (input: unknown) => parseInput(serverUpdateInput, input, 'Cannot change the server');

describe('what users cannot bring', () => {
  test('servers of users are on the public internet, or in a range that an admin allows', () => {
    const inside = [
      'http://127.0.0.1:8080/mcp',
      'http://localhost/mcp',
      'http://a.localhost./mcp',
      'http://0x7f.1/mcp',
      'http://[::1]/mcp',
      'http://[::ffff:10.0.0.1]/mcp',
      'http://169.254.169.254/latest',
      'http://10.1.2.3/mcp',
    ];
    for (const url of inside) {
      const based = { url: 'https://x.example/api.json', baseUrl: url };
      const apis = [{ url }, based].map((openapi) => ({ type: 'openapi', openapi }));
      for (const config of [{ url }, { serverUrl: url }, { httpUrl: url }, ...apis]) {
        expect(() => addServer(document(), ann, { name: 'x', config })).toThrow(code('forbidden', 'public internet'));
        addServer(document(), admin, { name: 'x', config });
      }
      expect(() => updateServer(document(), ann, 'mail', update({ config: { url, headers: {} } }))).toThrow(
        code('forbidden', 'public internet'),
      );
    }
    const allowing = { ...document(), systemConfig: { network: { allowedCidrs: ['10.1.0.0/16'] } } };
    addServer(allowing, ann, { name: 'x', config: { url: 'http://10.1.2.3/mcp' } });
    expect(() => addServer(allowing, ann, { name: 'y', config: { url: 'http://10.2.2.3/mcp' } })).toThrow(
      code('forbidden'),
    );
  });

  test('no user says which folder goes with a server', () => {
    const draft = document();
    const bundle = { folder: 'notes-1.0.0' };
    expect(() => addServer(draft, ann, { name: 'x', config: { url: 'https://x', bundle } })).toThrow(code('forbidden'));
    expect(() => updateServer(draft, ann, 'mail', update({ config: { bundle } }))).toThrow(code('forbidden', 'bundle'));
  });
});

describe('adding servers', () => {
  test('a new server belongs to who added it, and a taken or impossible name is refused', () => {
    const draft = document();
    addServer(
      draft,
      ann,
      parseInput(newServerInput, { name: ' web ', config: { url: 'https://x', alias: null } }, 'x'),
    );
    expect(entry(draft, 'web')).toEqual({ url: 'https://x', owner: 'ann', visibility: 'private' });
    expect(() => addServer(draft, ann, { name: 'mail', config: { url: 'https://x' } })).toThrow(code('conflict'));
    for (const name of ['', 'a b', '__proto__', '../x', 'a/b']) {
      expect(() => parseInput(newServerInput, { name, config: {} }, 'Cannot add')).toThrow(
        code('invalid_input', 'name'),
      );
    }
    expect(() => parseInput(newServerInput, { name: 'x' }, 'Cannot add')).toThrow(code('invalid_input', 'config'));
  });

  test('only admins start programs, give servers away, or pass on headers of others', () => {
    for (const config of [
      { command: 'sh' },
      { type: 'stdio', url: 'https://x' },
      { type: 'STDIO ' },
      { transport: 'local' },
      { type: 'sse', url: 'https://x', command: 'sh' },
      { url: 'https://x', owner: 'admin' },
      { url: 'https://x', passthroughHeaders: ['cookie'] },
      { url: 'https://x', keepPayloadsUntil: '2026-11-25T12:00:00Z' },
      { openapi: { url: 'https://x', passthroughHeaders: ['cookie'] } },
    ]) {
      const draft = document();
      expect(() => addServer(draft, ann, { name: 'x', config })).toThrow(code('forbidden'));
      expect(() => updateServer(draft, ann, 'mail', { config })).toThrow(code('forbidden'));
      expect(draft).toEqual(document());
      addServer(draft, admin, { name: 'x', config });
      expect(draft.mcpServers).toHaveProperty('x');
    }
    expect(startsProcess({ url: 'https://x' })).toBe(false);
    expect(() => addServer(document(), admin, { name: 'x', config: { url: 'u', owner: 'eve' } })).toThrow(
      code('invalid_input', 'unknown user "eve"'),
    );
  });
});

describe('changing servers', () => {
  test('what may not be seen is not there, what belongs to others is not theirs', () => {
    const changes = [
      (name: string) => updateServer(document(), ann, name, update({ config: { description: 'x' } })),
      (name: string) => updateServer(document(), ann, name, update({ newName: 'y' })),
      (name: string) => deleteServer(document(), ann, name),
      (name: string) => toggleServer(document(), ann, name, false),
      (name: string) => changeItems(document(), ann, { server: name, kind: 'tools', items: ['x'], enabled: false }),
    ];
    for (const change of changes) {
      for (const name of ['hidden', 'nothing', '__proto__', 'toString']) {
        expect(() => change(name)).toThrow(code('not_found', `There is no server "${name}".`));
      }
      expect(() => change('first')).toThrow(code('forbidden', 'belongs to admin'));
      change('mail');
    }
  });

  test('members that are not sent stay, a new transport replaces the old one, null takes out', () => {
    const draft = document();
    updateServer(draft, admin, 'first', update({ config: { url: 'https://x', description: 'd' } }));
    expect(entry(draft, 'first')).toEqual({ url: 'https://x', description: 'd', owner: 'admin', custom: 1 });
    updateServer(draft, admin, 'first', update({ config: { description: null, env: { A: 'b' } } }));
    expect(entry(draft, 'first')).toEqual({ url: 'https://x', env: { A: 'b' }, owner: 'admin', custom: 1 });
    expect(() => update({})).toThrow(code('invalid_input', 'config'));
  });

  test('a tool that was switched off stays off when its server is edited or renamed', () => {
    const draft = document();
    updateServer(draft, ann, 'mail', update({ config: { url: 'https://mail.example/other' }, newName: 'post' }));
    expect(entry(draft, 'post')['tools']).toMatchObject({
      'post-send': { enabled: false },
      'mail-send': { enabled: false },
    });
  });

  test('a renamed server keeps its place, its groups, users and keys; a deleted one leaves them all', () => {
    const draft = document();
    updateServer(draft, admin, 'first', update({ newName: 'one' }));
    updateServer(draft, admin, 'mail', update({ newName: 'post' }));
    expect(Object.keys(draft.mcpServers ?? {})).toEqual(['one', 'post', 'hidden']);
    expect(draft.groups?.[0]?.['servers']).toEqual(['post', { name: 'one', tools: ['x'] }]);
    expect(draft.users?.[1]?.['servers']).toEqual(['post', 'one']);
    expect(draft.bearerKeys?.[0]?.['allowedServers']).toEqual(['post']);
    expect(() => updateServer(draft, admin, 'one', update({ newName: 'post' }))).toThrow(code('conflict'));
    deleteServer(draft, admin, 'post');
    expect(JSON.stringify(draft)).not.toContain('post');
  });

  test('tokens and hidden values do not follow a server to another address', () => {
    const draft = document();
    const hidden = { url: 'https://evil.example', headers: { Authorization: mask } };
    expect(() => updateServer(draft, ann, 'mail', update({ config: hidden }))).toThrow(
      code('invalid_input', 'sent again'),
    );
    updateServer(draft, ann, 'mail', update({ config: { ...hidden, url: 'https://mail.example/v2' } }));
    expect(entry(draft, 'mail')).toMatchObject({
      headers: { Authorization: 'Bearer abc' },
      oauth: { accessToken: 'token-1' },
    });
    updateServer(draft, admin, 'mail', update({ config: { url: 'https://new.example' } }));
    expect(entry(draft, 'mail')['oauth']).toEqual({ clientId: 'c' });
    expect(entry(draft, 'mail')).not.toHaveProperty('headers');
  });
});

describe('switching servers and their items', () => {
  test('switching on a program is for admins, switching off is for its owner too', () => {
    const draft = document();
    entry(draft, 'first')['owner'] = 'ann';
    entry(draft, 'first')['disabled'] = false;
    toggleServer(draft, ann, 'first', false);
    expect(entry(draft, 'first')).toMatchObject({ enabled: false });
    expect(entry(draft, 'first')).not.toHaveProperty('disabled');
    expect(() => toggleServer(draft, ann, 'first', true)).toThrow(code('forbidden'));
    expect(() => updateServer(draft, ann, 'first', update({ config: { args: ['--evil'] } }))).toThrow(
      code('forbidden'),
    );
    toggleServer(draft, admin, 'first', true);
    expect(entry(draft, 'first')).toMatchObject({ enabled: true });
  });
});

const commandLine = (secret: fc.Arbitrary<string>) =>
  fc.array(
    fc.oneof(
      secret.map((text) => `--api-token=${text.replaceAll(/["'\s$={}]/g, 'x')}`),
      fc.constantFrom('--verbose', '-y', 'serve', 'https://ann:s3cr3t@x.example/', 'ghp_s3cr3tabcdefghijklmnopqrst'),
    ),
  );

describe('secrets', () => {
  const secret = fc.string({ minLength: 6, maxLength: 20 }).map((text) => `s3cr3t${text.replaceAll('•', '')}`);
  const secrets = fc.dictionary(fc.string({ maxLength: 8 }), fc.oneof(secret, fc.integer({ min: 1000000 })), {
    maxKeys: 4,
  });
  const unknown = fc.dictionary(
    fc.constantFrom('clientSecret', 'accessToken', 'value', 'credentials', 'password', 'unheardOf', '__proto__'),
    fc.oneof(secret, fc.array(secret, { minLength: 1 }), fc.record({ token: secret, clientId: fc.constant('shown') })),
  );
  const config = fc.record(
    {
      url: fc.constantFrom('https://x', 'https://x/?token=s3cr3t'),
      description: fc.constant(`about ${mask}`),
      args: commandLine(secret),
      env: secrets,
      headers: secrets,
      oauth: unknown,
      proxy: unknown,
      openapi: fc.record({ url: fc.constant('https://y'), security: unknown, specSecurity: fc.oneof(unknown, secret) }),
      tools: fc.constant({ a: { enabled: false } }),
    },
    { requiredKeys: [] },
  );

  test('no secret is in what is shown, and what is shown sent back is what was there', () => {
    fc.assert(
      fc.property(config, (config) => {
        const before = JSON.stringify(config);
        const shown = maskServer(config);
        expect(JSON.stringify(config)).toBe(before);
        const text = JSON.stringify(shown);
        expect(text).not.toContain('s3cr3t');
        expect(text).not.toMatch(/\d{7}/);
        expect(unmaskServer(shown, config, 'x')).toEqual(config);
      }),
      { numRuns: 500 },
    );
  });

  test('what helps to edit a server stays readable', () => {
    const config = {
      env: { A: '${TOKEN}', B: '', C: 'Bearer ${TOKEN}' },
      oauth: { clientId: 'id', scopes: ['a'], authorizationEndpoint: 'https://x', clientSecret: 'y', enabled: true },
      openapi: { security: { type: 'apiKey', apiKey: { name: 'X-Key', in: 'header', value: 'v' } } },
    };
    expect(maskServer(config)).toEqual({
      env: { A: '${TOKEN}', B: '', C: mask },
      oauth: { ...config.oauth, clientSecret: mask },
      openapi: { security: { type: 'apiKey', apiKey: { name: 'X-Key', in: 'header', value: mask } } },
    });
  });

  test('of an address what is secret in it is hidden, and comes back only with the very same address', () => {
    const config = {
      url: 'https://ann:s3cr3t@x.example/mcp?api_key=s3cr3t&region=eu',
      openapi: { url: 'https://y.example/s/aB3dE6gH9jK2mN5pQ8sT/openapi.json' },
    };
    const shown = maskServer(config);
    expect(shown).toEqual({
      url: `https://${mask}@x.example/mcp?api_key=${mask}&region=eu`,
      openapi: { url: `https://y.example/s/${mask}/openapi.json` },
    });
    expect(unmaskServer(shown, config, 'x')).toEqual(config);
    expect(unmaskServer({ url: mask }, config, 'x')).toEqual({ url: config.url });
    for (const url of [
      `https://evil.example/mcp?api_key=${mask}`,
      `https://${mask}@x.example/mcp?api_key=${mask}`,
      `https://x.example/?k=${encodeURIComponent(mask).toLowerCase()}`,
    ])
      expect(() => unmaskServer({ url }, config, 'x')).toThrow(/config\.url/);
    for (const url of ['https://x/mcp?region=eu', 'http://localhost:3000/sse', 'https://x/?token=${TOKEN}', 5, null])
      expect(maskServer({ url })).toEqual({ url });
  });

  test('a hidden value under a new name never brings another name’s secret back', () => {
    const stored = { env: { OLD: 'sk-1' }, headers: { A: 'x' } };
    for (const config of [
      { env: { NEW: mask } },
      { headers: { OLD: mask } },
      { env: { OLD: `Bearer ${mask}` } },
      { env: { toString: mask } },
      { oauth: mask },
      { env: { OLD: [mask] } },
    ]) {
      expect(hidesSecrets(config)).toBe(true);
      expect(() => unmaskServer(config, stored, 'Cannot change')).toThrow(
        code('invalid_input', 'Send the value itself'),
      );
    }
    expect(unmaskServer({ env: { OLD: mask, NEW: 'n' } }, stored, 'x')).toEqual({ env: { OLD: 'sk-1', NEW: 'n' } });
    expect(hidesSecrets({ description: mask, env: { A: 'b' } })).toBe(false);
  });
});

test('a hidden argument is known where it stands now, and comes back nowhere else', () => {
  const args = ['-y', 'pkg', '--token=s3cr3t', '--api-key', 'other s3cr3t', 'pg://ann:s3cr3t@db/x', '--port', '1'];
  const shown = maskServer({ args })['args'] as string[];
  const [token, key] = [`--token=${mask}`, ['--api-key', mask]];
  expect(shown).toEqual(['-y', 'pkg', token, ...key, `pg://${mask}@db/x`, '--port', '1']);
  const back = (given: readonly unknown[]) => unmaskServer({ args: given }, { args }, 'x')['args'];
  expect(back(shown)).toEqual(args);
  expect(back([...key, 'new', token])).toEqual(['--api-key', 'other s3cr3t', 'new', '--token=s3cr3t']);
  for (const given of [[`--other=${mask}`], ['--new', mask], [mask], [token, token], ['x', ...shown.slice(4)]])
    expect(() => back(given)).toThrow(/config\.args\[\d\]/);
  const alike = { args: [`sk-${'a'.repeat(32)}`, `sk-${'b'.repeat(32)}`, 'x'] };
  expect(unmaskServer({ args: [mask, mask] }, alike, 'x')).toEqual({ args: alike.args.slice(0, 2) });
  expect(() => unmaskServer({ args: [mask, 'x'] }, alike, 'x')).toThrow('Send the value itself');
  expect(maskServer({ args: ['--token', '${TOKEN}', 5] })).toEqual({ args: ['--token', '${TOKEN}', 5] });
});

test('hidden arguments are found again in a number of looks that grows with them, not with their square', () => {
  let looks = 0;
  const counted = (args: readonly string[]): readonly string[] =>
    new Proxy(args, {
      get(target, key): unknown {
        looks++;
        return Reflect.get(target, key);
      },
    });
  const args = Array.from({ length: 500 }, (_, i) => ['--token', `secret-${i}`]).flat();
  const shown = args.map((arg) => (arg === '--token' ? arg : mask));
  expect(unmaskServer({ args: counted(shown) }, { args }, 'x')).toEqual({ args });
  expect(looks).toBeLessThan(50 * args.length);
});

describe('other changes', () => {
  test('items are switched and described by their own names, and what an older entry said is kept', () => {
    const draft = document();
    const item = { server: 'mail', kind: 'tools' } as const;
    changeItems(draft, ann, { ...item, items: ['send'], description: 'Sends' });
    changeItems(draft, ann, { ...item, items: ['read'], enabled: false });
    changeItems(draft, ann, { ...item, kind: 'resources', items: ['file:///a'], enabled: false });
    expect(entry(draft, 'mail')).toMatchObject({
      tools: { send: { enabled: false, description: 'Sends' }, read: { enabled: false, description: 'Reads' } },
      resources: { 'file:///a': { enabled: false } },
    });
    changeItems(draft, ann, { ...item, items: ['read'], description: null });
    expect((entry(draft, 'mail')['tools'] as Record<string, unknown>)['read']).toEqual({ enabled: false });
    for (const name of ['__proto__', 'constructor', '']) {
      expect(() => changeItems(draft, ann, { ...item, items: [name], enabled: false })).toThrow(code('invalid_input'));
    }
  });
});
