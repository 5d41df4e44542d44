import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { api, login, passwordOf, userToken } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { authorize } from '../kit/authorizing.ts';
import { type Person, person } from '../kit/command.ts';
import { httpsServer } from '../kit/https.ts';
import { setUpTotp } from '../kit/second-factor.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// `toolhub login` and `logout` (CONTRACT §12): the real program, at a real hub.

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  hub = await testHub();
  admin = await login(hub);
});

const folderOf = ({ home }: Person) => join(home, '.config', 'toolhub', 'logins');
const filesOf = (who: Person) => readdirSync(folderOf(who)).filter((name) => name.endsWith('.json'));
const fileOf = (who: Person) => join(folderOf(who), filesOf(who)[0] ?? 'none');
const keptBy = (who: Person) => JSON.parse(readFileSync(fileOf(who), 'utf8')) as Record<string, unknown>;
const grants = async () => (await api(hub, 'GET', '/auth/grants', { token: admin })).body.data as { id: string }[];

/** Logs in as a person with a browser does. */
async function byBrowser(who: Person, scope: string[] = ['api'], decision: 'allow' | 'deny' = 'allow') {
  const running = who.start(['login', '--no-browser']);
  const back = await authorize(await running.says(/(http\S+\/oauth\/authorize\S+)/), { scope, decision });
  const page = await fetch(back);
  return { ...(await running.ended), back, page: await page.text() };
}

describe('a login by browser', () => {
  test('keeps a file of the user alone, with what the user let in, and shows no secret', async () => {
    const who = person(hub);
    const { code, stdout, stderr, page, back } = await byBrowser(who);
    expect([code, stdout]).toEqual([0, `Logged in at ${hub.url}.\n`]);
    expect(page).toContain('You can close this window');
    const kept = keptBy(who);
    expect(kept).toMatchObject({ kind: 'oauth', hub: hub.url, scope: 'mcp api' });
    expect([statSync(fileOf(who)).mode & 0o777, statSync(folderOf(who)).mode & 0o777]).toEqual([0o600, 0o700]);
    const secrets = [kept['access'], kept['refresh'], back.searchParams.get('code')].map(String);
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
    expect((await api(hub, 'GET', '/servers', { token: String(kept['access']) })).status).toBe(200);
    await expect(fetch(back)).rejects.toThrow();
  });

  test('that was not let in to manage says so; one that was denied keeps nothing', async () => {
    const some = person(hub);
    const { code, stderr } = await byBrowser(some, []);
    expect([code, stderr]).toEqual([0, expect.stringContaining('tick the box')]);
    const denied = person(hub);
    const refused = await byBrowser(denied, [], 'deny');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('access was denied')]);
    expect(() => filesOf(denied)).toThrow('ENOENT');
  });

  test('passes over what others send to its port', async () => {
    const who = person(hub);
    const running = who.start(['login', '--no-browser']);
    const address = new URL(await running.says(/(http\S+\/oauth\/authorize\S+)/));
    const callback = address.searchParams.get('redirect_uri') ?? '';
    for (const wrong of ['?code=stolen&state=guessed', '?code=stolen', '', '/more'])
      expect((await fetch(`${callback}${wrong}`)).status).toBe(400);
    await fetch(await authorize(address.href));
    expect((await running.ended).code).toBe(0);
  });

  test('is ended at the hub by logout, and by the login after it', async () => {
    const who = person(hub);
    await byBrowser(who);
    const { access } = keptBy(who);
    const before = (await grants()).length;
    await byBrowser(who);
    expect((await grants()).length).toBe(before);
    expect((await api(hub, 'GET', '/servers', { token: String(access) })).status).toBe(401);
    expect(await who.run(['logout'])).toMatchObject({ code: 0, stdout: `Logged out at ${hub.url}.\n`, stderr: '' });
    expect((await grants()).length).toBe(before - 1);
    expect(filesOf(who)).toEqual([]);
    expect(await who.run(['logout'])).toMatchObject({ code: 0, stdout: `No login at ${hub.url}.\n` });
  });
});

describe('a login with a password', () => {
  test('takes it from standard input, keeps only the token, and is ended by logout', async () => {
    const who = person(hub);
    const args = ['login', hub.url, '--username', 'admin', '--password-stdin'];
    const { code, stdout, stderr } = await who.run(args, { input: 'correct horse\n' });
    expect([code, stderr, stdout]).toEqual([0, '', `Logged in at ${hub.url}.\n`]);
    const token = String(keptBy(who)['access']);
    expect(readFileSync(fileOf(who), 'utf8')).not.toContain('correct horse');
    expect((await api(hub, 'GET', '/auth/user', { token })).status).toBe(200);
    await who.run(['logout']);
    expect((await api(hub, 'GET', '/auth/user', { token })).status).toBe(401);
  });

  test('takes the code of a second factor from the line after it', async () => {
    const { app } = await setUpTotp(hub, { token: await userToken(hub, admin, 'tina') });
    const who = person(hub);
    const args = ['login', '--username', 'tina', '--password-stdin'];
    const alone = await who.run(args, { input: passwordOf('tina') });
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('second factor')]);
    const both = await who.run(args, { input: `${passwordOf('tina')}\n${app.code()}\n` });
    expect([both.code, both.stderr]).toEqual([0, '']);
  });

  test('that is wrong says so and leaves what is kept', async () => {
    const who = person(hub);
    const args = ['login', '--username', 'admin', '--password-stdin'];
    await who.run(args, { input: 'correct horse' });
    const kept = keptBy(who);
    const { code, stderr } = await who.run(args, { input: 'a wrong one' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('Wrong username or password')]);
    expect(keptBy(who)).toEqual(kept);
  });

  test.each([
    [['login', '--password-stdin'], 'needs --username'],
    [['login', '--username', 'admin'], 'no terminal'],
    [['login', 'nowhere'], 'no http'],
    [['login', 'http://admin:secret@127.0.0.1:9'], 'password in it'],
    [['login', 'http://a.test', 'http://b.test'], 'one hub'],
    [['login', '--token', 'x'], '--token'],
  ])('%j is refused with what to do, and without the secret', async (args, words) => {
    const { code, stdout, stderr } = await person(hub).run(args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)]);
    expect(stderr).not.toContain('secret');
  });
});

describe('what is no hub', () => {
  async function listening(server: Server): Promise<string> {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    atEnd(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  /** A server that gives this answer to everything. */
  const answering = (status: number, text: string, headers: Record<string, string> = {}) =>
    listening(createServer((_request, answer) => answer.writeHead(status, headers).end(text)));
  const enter = (url: string, ...more: string[]) =>
    person({ url }).run(['login', '--no-browser', ...more], { input: 'correct horse' });
  const byPassword = ['--username', 'admin', '--password-stdin'];

  test.each([
    ['a page', 200, '<html>Welcome', {}, 'no Tool Hub'],
    ['another token', 200, '{"token": "two words"}', {}, 'no Tool Hub'],
    ['a list', 200, '[]', {}, 'no Tool Hub'],
    ['a failure with control characters', 500, '{"message": "\\u001b[2Jno"}', {}, '␛[2Jno'],
    ['a redirect', 302, '', { location: 'https://evil.example/login' }, 'evil.example'],
  ])('%s in place of a login is refused', async (_, status, text, headers, words) => {
    const { code, stderr } = await enter(await answering(status, text, headers), ...byPassword);
    expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
    expect(stderr).not.toContain('\u001b');
  });

  test('metadata that lead to another address get nothing', async () => {
    const elsewhere = 'https://evil.example';
    expect((await enter(await answering(404, '{}'))).stderr).toContain('offers no login by browser');
    let issuer = '';
    const server = createServer((_request, answer) => {
      const endpoints = { authorization_endpoint: `${issuer}/a`, token_endpoint: `${elsewhere}/t` };
      answer.setHeader('content-type', 'application/json');
      answer.end(JSON.stringify({ issuer, ...endpoints, response_types_supported: ['code'] }));
    });
    const url = await listening(server);
    issuer = url;
    const { code, stderr } = await enter(issuer);
    expect([code, stderr]).toEqual([1, expect.stringContaining(elsewhere)]);
    issuer = elsewhere;
    expect((await enter(url)).stderr).toContain('calls itself by another address');
  });

  test('a certificate of an unknown signer is refused with what to do, and accepted where it is named', async () => {
    const url = await httpsServer((_request, answer) => answer.end('{}'));
    const refused = await enter(url, ...byPassword);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('NODE_EXTRA_CA_CERTS')]);
    const env = { NODE_EXTRA_CA_CERTS: resolve('test/kit/fixtures/self-signed.pem') };
    const { stderr } = await person({ url }).run(['login', ...byPassword], { input: 'correct horse', env });
    expect(stderr).toContain('which no Tool Hub does');
  });

  test('nothing at the address is said', async () => {
    const server = createServer();
    const url = await listening(server);
    server.close();
    const { code, stderr } = await enter(url, ...byPassword);
    expect([code, stderr]).toEqual([1, expect.stringContaining('nothing listens there')]);
  });

  test('a proxy of the environment is used, but not to this machine', async () => {
    let asked = '';
    const proxy = createServer().on('connect', ({ url }, socket) => {
      asked = url ?? '';
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    const env = { HTTPS_PROXY: await listening(proxy) };
    const far = await person({ url: 'https://hub.example' }).run(['login', ...byPassword], { input: 'x', env });
    expect([far.code, asked]).toEqual([1, 'hub.example:443']);
    asked = '';
    const near = await person({ url: 'https://127.0.0.1:1' }).run(['login', ...byPassword], { input: 'x', env });
    expect([near.code, asked]).toEqual([1, '']);
    const wrong = await person({ url: 'https://hub.example' }).run(['login', ...byPassword], {
      input: 'x',
      env: { HTTPS_PROXY: 'nonsense' },
    });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('HTTPS_PROXY')]);
  });
});

test('a file that is no login is named, and a new login takes its place', async () => {
  const who = person(hub);
  const args = ['login', '--username', 'admin', '--password-stdin'];
  await who.run(args, { input: 'correct horse' });
  writeFileSync(fileOf(who), '{');
  expect((await who.run(args, { input: 'correct horse' })).code).toBe(0);
  expect(keptBy(who)).toMatchObject({ kind: 'password' });
});
