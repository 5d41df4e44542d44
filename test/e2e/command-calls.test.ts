import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { keyToken, login } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { authorize } from '../kit/authorizing.ts';
import { type Person, person } from '../kit/command.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { searchReady } from '../kit/search-ready.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// `toolhub tools` and `call` (CONTRACT §12): the real program, at a real hub.

const tool = (name: string, description: string, properties = {}, required: string[] = []) => ({
  name,
  description,
  inputSchema: { type: 'object', properties, required },
});
const picture = Buffer.from('not really a picture');
const mail = await hostileHttp({
  name: 'mail',
  tools: [
    tool('progress', 'Steps', { steps: { type: 'integer' }, tag: { type: 'string' } }),
    'hang',
    'fail',
    'rpc_error',
    'big',
    tool('send_email', 'Send an email \u001b[2J message', { to: { type: 'string', description: 'Who gets it' } }, [
      'to',
    ]),
    tool('picture', 'A picture'),
    tool('structured', 'Data alone'),
    tool('escape', 'Text that moves the cursor'),
  ],
  results: {
    send_email: '{"content":[{"type":"text","text":"sent"}]}',
    picture: `{"content":[{"type":"text","text":"here:"},{"type":"image","mimeType":"image/png","data":"${picture.toString('base64')}"},{"type":"resource_link","uri":"x://y","name":"more"},{"type":"future","x":1}]}`,
    structured: '{"structuredContent":{"n":1},"content":[]}',
    escape: '{"content":[{"type":"text","text":"a\\u001b[2Jb"}]}',
  },
});
const vault = await hostileHttp({ name: 'vault', tools: [tool('open_vault', 'Open the vault')] });

let hub: TestHub;
let admin: string;
let ann: Person;
beforeAll(async () => {
  hub = await testHub({
    mcpServers: { mail: mail.config, vault: { ...vault.config, visibility: 'private' } },
    groups: [{ id: 'g1', name: 'mails', servers: [{ name: 'mail', tools: ['send_email'] }] }],
    systemConfig: { routing: { enableBearerAuth: true } },
  });
  await hub.connected(2);
  admin = await login(hub);
  await searchReady(hub, admin);
  ann = person(hub);
  await ann.run(['login', '--username', 'admin', '--password-stdin'], { input: 'correct horse' });
});
const names = (stdout: string) => (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);

describe('toolhub tools', () => {
  test('lists what the user sees under the names of the hub, for people and as JSON', async () => {
    const { code, stdout, stderr } = await ann.run(['tools']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^mail-send_email +Send an email ␛\[2J message$/m);
    expect(stdout).toMatch(/^vault-open_vault/m);
    const json = await ann.run(['tools', '--json']);
    expect(names(json.stdout)).toContain('mail-send_email');
    expect(JSON.parse(json.stdout)).toContainEqual(
      expect.objectContaining({ inputSchema: expect.anything() as unknown }),
    );
  });

  test('of a group are those of the group, and a query finds by what they do', async () => {
    expect(names((await ann.run(['tools', '-g', 'mails', '--json'])).stdout)).toEqual(['mail-send_email']);
    expect(names((await ann.run(['tools', 'send', 'a', 'message', '--json'])).stdout)[0]).toBe('mail-send_email');
    const nowhere = await ann.run(['tools', '--group', 'nowhere']);
    expect([nowhere.code, nowhere.stdout, nowhere.stderr]).toEqual([
      0,
      '',
      expect.stringContaining('no tools for you'),
    ]);
    const within = await ann.run(['tools', 'open the vault', '--group', 'mails', '--json']);
    expect(names(within.stdout)).not.toContain('vault-open_vault');
  });

  test('with a key in TOOLHUB_TOKEN are those of the key', async () => {
    const token = await keyToken(hub, admin, { accessType: 'groups', allowedGroups: ['mails'] });
    const env = { TOOLHUB_TOKEN: token };
    const listed = await person(hub).run(['tools', '--json', '-g', 'mails'], { env });
    expect(names(listed.stdout)).toEqual(['mail-send_email']);
    const { code, stdout, stderr } = await ann.run(['tools'], { env: { TOOLHUB_TOKEN: `${token}x` } });
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('TOOLHUB_TOKEN')]);
    expect(stderr).not.toContain(token);
  });

  test.each([
    [['tools', 'x', '--limit', '0'], '--limit'],
    [['tools', '--nonsense'], '--nonsense'],
  ])('%j is wrong use', async (args, words) => {
    const { code, stdout, stderr } = await ann.run(args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)]);
  });

  test('and calls say to log in where the hub wants to know who asks', async () => {
    for (const args of [['tools'], ['call', 'mail-send_email', '--to', 'x']]) {
      const { code, stderr } = await person(hub).run(args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`toolhub login ${hub.url}`)]);
    }
  });
});

describe('toolhub call', () => {
  test('gives the result on stdout and progress on stderr', async () => {
    const { code, stdout, stderr } = await ann.run(['call', 'mail-progress', '--tag', 'T', '--steps', '2']);
    expect([code, stdout, stderr]).toEqual([0, 'T done after 2\n', '… 1/2 T#1\n… 2/2 T#2\n']);
  });

  test('takes arguments as JSON, from standard input too, and the tool by the names of a group', async () => {
    const at = ['call', 'mail-send_email', '--group', 'mails', '--json'];
    expect(await ann.run([...at, '{"to": "bob"}'])).toMatchObject({ code: 0, stdout: 'sent\n', stderr: '' });
    expect(await ann.run([...at, '-'], { input: '{"to": "bob"}' })).toMatchObject({ code: 0, stdout: 'sent\n' });
    const sent = mail.journal().findLast(({ method }) => method === 'tools/call');
    expect(JSON.parse(sent?.text ?? '')).toMatchObject({ params: { name: 'send_email', arguments: { to: 'bob' } } });
  });

  test('describes what is no text, writes it with --output, and shows all with --raw', async () => {
    const { stdout, stderr } = await ann.run(['call', 'mail-picture']);
    expect(stderr).toBe('');
    expect(stdout).toBe(
      'here:\n[image, image/png, 20 bytes: --output <file> writes it]\n[link x://y more]\n[content of the kind future: --raw shows it]\n',
    );
    const written = await ann.run(['call', 'mail-picture', '--output', 'out.png']);
    expect([written.code, written.stdout.split('\n')[0]]).toEqual([0, 'here:']);
    expect(readFileSync(join(ann.home, 'out.png'))).toEqual(picture);
    const nowhere = await ann.run(['call', 'mail-picture', '--output', 'none/out.png']);
    expect([nowhere.code, nowhere.stderr]).toEqual([
      2,
      'toolhub: Cannot write none/out.png: none does not exist (ENOENT). Create it first.\n',
    ]);
    const raw = JSON.parse((await ann.run(['call', 'mail-picture', '--raw'])).stdout) as { content: unknown[] };
    expect(raw.content[3]).toEqual({ type: 'future', x: 1 });
    expect((await ann.run(['call', 'mail-structured'])).stdout).toBe('{\n  "n": 1\n}\n');
  });

  test('leaves text as it is where no terminal shows it, however much it is', async () => {
    expect((await ann.run(['call', 'mail-escape'])).stdout).toBe('a\u001b[2Jb\n');
    const { code, stdout } = await ann.run(['call', 'mail-big', '--bytes', '3000000', '--fill', 'y']);
    expect([code, stdout.length]).toEqual([0, 3_000_001]);
  });

  test('ends with 1 for an error of the tool, and of its server', async () => {
    expect(await ann.run(['call', 'mail-fail'])).toMatchObject({
      code: 1,
      stdout: 'the tool failed\n',
      stderr: 'toolhub: the tool reports an error.\n',
    });
    const { code, stdout, stderr } = await ann.run(['call', 'mail-rpc_error']);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('own words')]);
  });

  test.each([
    [['call'], 'Name the tool first'],
    [['call', '--to', 'x'], 'Name the tool first'],
    [['call', 'mail-send_mail'], 'Did you mean mail-send_email'],
    [['call', 'mail-send_email'], '--to is missing (string): Who gets it'],
    [['call', 'mail-send_email', '--too', 'x'], 'Did you mean --to?'],
    [['call', 'mail-send_email', '--to', 'x', '--json', '{}'], 'not both'],
    [['call', 'mail-send_email', '--json'], '--json'],
    [['call', 'mail-send_email', '--', '--json', '{}'], 'no argument --json'],
  ])('%j is wrong use: 2, with what is wrong, and nothing is called', async (args, words) => {
    const before = mail.journal().filter(({ method }) => method === 'tools/call').length;
    const { code, stdout, stderr } = await ann.run(args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)]);
    expect(mail.journal().filter(({ method }) => method === 'tools/call').length).toBe(before);
  });

  test('is cancelled at its server by Ctrl-C', async () => {
    const running = ann.start(['call', 'mail-hang']);
    await running.says(/… 0/);
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Stopped') as string,
    });
    await until('the server hears that it is cancelled', () =>
      mail.journal().some(({ method, event }) => method === 'notifications/cancelled' || event === 'abandoned'),
    );
  });
});

describe('a login by browser that ends soon', () => {
  const files = ({ home }: Person) => {
    const folder = join(home, '.config', 'toolhub', 'logins');
    return readdirSync(folder).map((name) => join(folder, name));
  };
  const fileOf = (who: Person) => files(who).find((name) => name.endsWith('.json')) ?? '';
  const kept = (who: Person) => JSON.parse(readFileSync(fileOf(who), 'utf8')) as Record<string, unknown>;

  async function loggedIn(): Promise<Person> {
    const who = person(hub);
    const running = who.start(['login', '--no-browser']);
    await fetch(await authorize(await running.says(/(http\S+\/oauth\/authorize\S+)/)));
    await running.ended;
    return who;
  }

  test('is renewed once by commands that run at the same time, and stays good', async () => {
    const who = await loggedIn();
    const before = kept(who);
    writeFileSync(fileOf(who), JSON.stringify({ ...before, expiresAt: 0 }));
    const ran = await Promise.all(Array.from({ length: 4 }, () => who.run(['tools', '-g', 'mails', '--json'])));
    for (const { code, stdout, stderr } of ran)
      expect([code, stderr, names(stdout)]).toEqual([0, '', ['mail-send_email']]);
    const after = kept(who);
    expect(after['refresh']).not.toBe(before['refresh']);
    expect(statSync(fileOf(who)).mode & 0o777).toBe(0o600);
    writeFileSync(fileOf(who), JSON.stringify({ ...after, expiresAt: 0 }));
    expect((await who.run(['tools'])).code).toBe(0);
    expect(files(who).length).toBe(1);
  });

  test('that the hub has ended says to log in again', async () => {
    const who = await loggedIn();
    writeFileSync(fileOf(who), JSON.stringify({ ...kept(who), expiresAt: 0, refresh: 'no-longer' }));
    const { code, stderr } = await who.run(['tools']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`toolhub login ${hub.url}`)]);
  });
});

describe('what is no hub', () => {
  async function at(answer: RequestListener) {
    const server = createServer(answer);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    return person({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }).run(['tools']);
  }
  const json = { 'content-type': 'application/json' };

  test.each<[string, RequestListener]>([
    ['a page', (_, answer) => answer.end('<html>')],
    ['JSON of something else', (_, answer) => answer.writeHead(200, json).end('{"hello": "you"}')],
    ['a connection that breaks', (_, answer) => answer.destroy()],
    ['a failure with control characters', (_, answer) => answer.writeHead(500, json).end('{"message": "\\u001b[2J"}')],
    [
      'a list without an end',
      (request, answer) => {
        let text = '';
        request.on('data', (chunk: Buffer) => (text += chunk.toString()));
        request.on('end', () => {
          const { id, method } = JSON.parse(text || '{}') as { id?: number; method?: string };
          const serverInfo = { name: 'x', version: '1' };
          const result =
            method === 'initialize'
              ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
              : { tools: [], nextCursor: 'more' };
          const known = method === 'initialize' || method === 'tools/list';
          const body = known ? { result } : { error: { code: -32601, message: 'no' } };
          if (id === undefined) answer.writeHead(request.method === 'POST' ? 202 : 405).end();
          else answer.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
        });
      },
    ],
  ])('%s is refused', async (_, answer) => {
    const { code, stdout, stderr } = await at(answer);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^toolhub: /);
    for (const never of ['\u001b', '    at ']) expect(stderr).not.toContain(never);
  });
});
