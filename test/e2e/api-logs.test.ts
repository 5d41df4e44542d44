import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LogEntry } from '../../src/core/log-entry.ts';
import { api, keyToken, login, passwordOf, userToken } from '../kit/api.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { raw, stream } from '../kit/raw.ts';
import { freePort } from '../kit/processes.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

// /api/logs and /api/logs/stream (SPEC, Logs and Events; CONTRACT §4).

const env = { LOG_LEVEL: 'info' };
let hub: TestHub;
let admin: string;
let ann: string;
let bob: string;
let annsKey: string;
let alphaKey: string;

beforeAll(async () => {
  hub = await testHub({
    mcpServers: {
      alpha: hostileStdio({ name: 'alpha' }).config,
      // It names the other one in what it says.
      beta: { ...hostileStdio({ exitAt: 'start', lastWords: 'beta lost alpha' }).config, visibility: 'private' },
    },
    env,
  });
  admin = await login(hub);
  ann = await userToken(hub, admin, 'ann', { servers: ['alpha'] });
  bob = await userToken(hub, admin, 'bob');
  annsKey = await keyToken(hub, ann);
  alphaKey = await keyToken(hub, admin, { accessType: 'servers', allowedServers: ['alpha'] });
  await hub.connected(1);
  await until('both servers said something', async () => {
    const said = new Set((await logs(admin)).map(({ service }) => service));
    return said.has('server:alpha') && said.has('server:beta');
  });
});

async function logs(token: string | undefined, query = '', on: Pick<TestHub, 'url'> = hub): Promise<LogEntry[]> {
  const { status, text, body } = await api(on, 'GET', `/logs${query}`, { token });
  expect(status, text).toBe(200);
  return body.data as LogEntry[];
}
const servicesOf = async (token: string) => [...new Set((await logs(token)).map(({ service }) => service))].sort();

describe('GET /logs', () => {
  test('gives entries as the specification has them, oldest first', async () => {
    const entries = await logs(admin);
    expect(entries.length).toBeGreaterThan(5);
    for (const entry of entries) {
      expect(entry).toEqual({
        id: expect.any(Number) as number,
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        level: expect.stringMatching(/^(debug|info|warn|error)$/) as string,
        service: expect.any(String) as string,
        message: expect.any(String) as string,
      });
    }
    const ids = entries.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  });

  test('shows admins everything, and other users the servers within reach and nothing that names another', async () => {
    // With a database the hub has something to say of its own.
    const services = (await servicesOf(admin)).filter((service) => service !== 'hub');
    expect(services).toEqual(['api', 'server:alpha', 'server:beta']);
    for (const token of [ann, annsKey, alphaKey]) {
      expect(await servicesOf(token)).toEqual(['server:alpha']);
      expect(JSON.stringify(await logs(token))).not.toMatch(/beta|bob|admin/);
    }
    expect(await logs(bob)).toEqual([]);
  });

  test('follows what a user reaches from the next request on', async () => {
    const set = (servers: string[]) => api(hub, 'PUT', '/users/bob', { token: admin, body: { servers } });
    await set(['beta']);
    expect(await servicesOf(bob)).toEqual(['server:beta']);
    await set([]);
    expect(await logs(bob)).toEqual([]);
  });

  test('answers for a server out of reach as for one that does not exist', async () => {
    for (const service of ['server:beta', 'server:nobody', 'hub', 'server:', '']) {
      const query = `?service=${encodeURIComponent(service)}`;
      expect((await logs(bob, query)).length, service).toBe(0);
      if (service !== '') expect((await logs(ann, query)).length, service).toBe(0);
    }
    expect(await logs(admin, '?service=server:beta')).not.toEqual([]);
  });

  test('who gives a server the name of an earlier one does not see what that one left', async () => {
    const ours = {
      name: 'vault',
      config: hostileStdio({ exitAt: 'start', lastWords: 'the vault is under the stairs' }).config,
    };
    expect((await api(hub, 'POST', '/servers', { token: admin, body: ours })).status).toBe(201);
    const left = () => logs(admin, '?service=server:vault&q=stairs');
    await until('it said something', async () => (await left()).length > 0);
    expect((await api(hub, 'DELETE', '/servers/vault', { token: admin })).status).toBe(200);
    const theirs = { name: 'vault', config: { type: 'streamable-http', url: 'https://vault.invalid/mcp' } };
    const made = await api(hub, 'POST', '/servers', { token: bob, body: theirs });
    expect(made.status, made.text).toBe(201);
    // What is said of their own server they do see.
    await until('it is heard of', async () => (await logs(bob, '?service=server:vault')).length > 0);
    expect(JSON.stringify(await logs(bob))).not.toContain('stairs');
    const reader = await follow(bob);
    const first = await reader.event('the history', ({ type }) => type === 'initial');
    expect(first.logs).not.toEqual([]);
    expect(JSON.stringify(first)).not.toContain('stairs');
    expect(await left()).not.toEqual([]);
    expect((await api(hub, 'DELETE', '/servers/vault', { token: bob })).status).toBe(200);
    expect(await logs(bob)).toEqual([]);
  });

  test('filters by level, service and text, and pages backwards without gap or repetition', async () => {
    const all = await logs(admin);
    const last = all.at(-1)?.id ?? 0;
    // Servers of the tests before may have said something since.
    const found = async (query: string) => (await logs(admin, query)).filter(({ id }) => id <= last);
    expect(await found('?service=api')).toEqual(all.filter(({ service }) => service === 'api'));
    expect(await found('?level=warn,error')).toEqual(all.filter(({ level }) => /warn|error/.test(level)));
    expect(await found('?q=BETA%20LOST')).toEqual(all.filter(({ message }) => message.includes('beta lost')));
    const pages: LogEntry[][] = [];
    for (let before = last + 1; ; before = pages[0]?.[0]?.id ?? 0) {
      const page = await logs(admin, `?limit=3&before=${before}`);
      if (page.length === 0) break;
      expect(page.length).toBeLessThanOrEqual(3);
      pages.unshift(page);
    }
    expect(pages.flat()).toEqual(all);
  });

  test('of a stretch of time has what was written in it, to the millisecond, and pages within it', async () => {
    const all = await logs(admin);
    const { timestamp: startDate } = all[3] as LogEntry;
    const { timestamp: endDate } = all[Math.min(12, all.length - 2)] as LogEntry;
    const within = all.filter(({ timestamp }) => timestamp >= startDate && timestamp <= endDate);
    expect(within.length).toBeGreaterThan(1);
    const query = `startDate=${startDate}&endDate=${endDate}`;
    expect(await logs(admin, `?${query}`)).toEqual(within);
    const last = within.at(-1)?.id ?? 0;
    expect(await logs(admin, `?${query}&before=${last}`)).toEqual(within.slice(0, -1));
  });

  test.each([
    ['level=loud', 'level'],
    ['level=info,', 'level'],
    ['limit=0', 'limit'],
    ['limit=10001', 'limit'],
    ['limit=1e3', 'limit'],
    ['limit=-1', 'limit'],
    ['before=x', 'before'],
    ['startDate=yesterday', 'startDate'],
    ['endDate=1', 'endDate'],
    ['before=99999999999999999999', 'before'],
    [`service=${'x'.repeat(201)}`, 'service'],
    [`q=${'x'.repeat(201)}`, 'q'],
  ])('refuses ?%s by name', async (query, path) => {
    for (const route of ['/logs', '/logs/stream']) {
      const { status, body } = await api(hub, 'GET', `${route}?${query}`, { token: admin });
      expect([status, body.success, body.errors?.map((error) => error.path)]).toEqual([400, false, [path]]);
    }
  });

  test.each(["' or 1=1 --", '%', '_', '\\', '\0', '$1', '{"', '<script>'])(
    'takes %j for nothing but text',
    async (q) => {
      const found = await logs(admin, `?q=${encodeURIComponent(q)}`);
      const needle = q.replaceAll('\0', '');
      expect(found.every(({ message }) => message.includes(needle))).toBe(true);
      expect(await logs(admin, `?service=${encodeURIComponent(q)}${q === '\0' ? 'x' : ''}`)).toEqual([]);
    },
  );
});

describe('who may not', () => {
  test.each([
    ['GET', '/logs', 401],
    ['DELETE', '/logs', 401],
    ['GET', '/logs/stream', 401],
  ])('without a credential, or with a bad one: %s %s', async (method, path, status) => {
    for (const token of [undefined, 'eyJ.eyJ.x', `mcphub_${'0'.repeat(64)}`]) {
      const answer = await api(hub, method, path, { token });
      expect([answer.status, answer.body]).toEqual([status, { success: false, message: expect.any(String) as string }]);
    }
  });

  test('only admins clear the log; a key of an admin does not either', async () => {
    const before = await logs(admin);
    for (const token of [ann, bob, annsKey, alphaKey, await keyToken(hub, admin, { kind: 'user' })]) {
      const answer = await api(hub, 'DELETE', '/logs', { token });
      expect([answer.status, answer.body]).toEqual([403, { success: false, message: expect.any(String) as string }]);
    }
    expect((await logs(admin)).slice(0, before.length)).toEqual(before);
  });

  test('READONLY keeps the log', async () => {
    // Refused before a database is asked.
    const own = await testHub({ env: { ...env, READONLY: 'true', DB_URL: 'off' } });
    const token = await login(own);
    expect((await api(own, 'DELETE', '/logs', { token })).status).toBe(403);
    expect(await logs(token, '', own)).not.toEqual([]);
  });

  test('`?token=` opens the stream and nothing else', async () => {
    expect((await api(hub, 'GET', `/logs?token=${admin}`)).status).toBe(401);
    expect((await api(hub, 'DELETE', `/logs?token=${admin}`)).status).toBe(401);
    expect((await stream(`${hub.url}/api/logs/stream?token=${bob}`)).status).toBe(200);
    expect((await raw(`${hub.url}/api/logs/stream?token=x`, { method: 'GET' })).status).toBe(401);
  });
});

interface LogEvent {
  type: string;
  logs?: LogEntry[];
  log?: LogEntry;
  resumed?: boolean;
}

/** A stream with its events parsed. */
async function follow(token: string, query = '', headers: Record<string, string> = {}, on: Pick<TestHub, 'url'> = hub) {
  const open = await stream(`${on.url}/api/logs/stream${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  const events = () => open.events.map(({ data }) => JSON.parse(data) as LogEvent);
  return {
    ...open,
    all: events,
    ids: () => open.events.map(({ id }) => id),
    event: (what: string, fits: (event: LogEvent) => boolean) => until(what, () => events().find(fits)),
    /** Every entry so far, from history and live. */
    entries: () => events().flatMap(({ logs, log }) => [...(logs ?? []), ...(log ? [log] : [])]),
  };
}
/** Has the hub log a line with this word in it. */
const say = async (word: string, on: Pick<TestHub, 'url'> = hub, token = admin) => {
  const made = await api(on, 'POST', '/auth/keys', { token, body: { name: 'k' } });
  const { id } = made.body.data as { id: string };
  expect((await api(on, 'DELETE', `/auth/keys/${id}`, { token })).status).toBe(200);
  expect((await api(on, 'POST', '/users', { token, body: { username: word, password: 'secret' } })).status).toBe(201);
};

describe('GET /logs/stream', () => {
  test('begins with the history, then tells each entry once', async () => {
    const before = await logs(admin);
    const reader = await follow(admin);
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
    });
    const first = await reader.event('the history', ({ type }) => type === 'initial');
    expect(first).toEqual({ type: 'initial', logs: expect.any(Array) as LogEntry[] });
    expect(first.logs).toEqual(expect.arrayContaining(before));
    await say('dora');
    await reader.event('the entry', ({ log }) => log?.message.includes('dora') === true);
    expect(
      reader
        .all()
        .slice(1)
        .map(({ type }) => type),
    ).toEqual(
      reader
        .all()
        .slice(1)
        .map(() => 'log'),
    );
    await until('the reader has what is kept', async () => isDeepStrictEqual(reader.entries(), await logs(admin)));
    expect(reader.ids().at(-1)).toBe(String(reader.entries().at(-1)?.id));
  });

  test('goes on after Last-Event-ID without loss or repetition', async () => {
    const reader = await follow(admin);
    await reader.event('the history', ({ type }) => type === 'initial');
    const last = reader.ids().at(-1) ?? '';
    reader.close();
    await say('emil');
    const again = await follow(admin, '', { 'last-event-id': last });
    await again.event('what was missed', ({ logs }) => logs?.some(({ message }) => message.includes('emil')) === true);
    expect(again.all()[0]).toMatchObject({ type: 'initial', resumed: true });
    // Servers may say something meanwhile.
    await until('both readers together have what is kept', async () => {
      const kept = await logs(admin);
      return isDeepStrictEqual([...reader.entries(), ...again.entries()], kept);
    });
    for (const nonsense of ['x', '-1', '1e3', '9'.repeat(400)]) {
      const whole = await follow(admin, '', { 'last-event-id': nonsense });
      const first = await whole.event('the history', ({ type }) => type === 'initial');
      expect(first.resumed, nonsense).toBeUndefined();
    }
  });

  test('shows each reader what GET /logs would show them, and filters alike', async () => {
    const readers = {
      ann: await follow(ann),
      bob: await follow(bob),
      api: await follow(admin, '?service=api&level=info'),
    };
    for (const one of Object.values(readers)) await one.event('the history', ({ type }) => type === 'initial');
    await say('franz');
    await readers.api.event('the entry', ({ log }) => log?.message.includes('franz') === true);
    expect(readers.api.entries().every(({ service, level }) => service === 'api' && level === 'info')).toBe(true);
    expect(new Set(readers.ann.entries().map(({ service }) => service))).toEqual(new Set(['server:alpha']));
    expect(readers.bob.entries()).toEqual([]);
    expect((await api(hub, 'POST', '/servers/alpha/reload', { token: admin })).status).toBe(200);
    await readers.ann.event('alpha is heard', ({ log }) => log?.service === 'server:alpha');
    expect(readers.bob.entries()).toEqual([]);
  });

  test('tells that the log was cleared', async () => {
    const own = await testHub({ env });
    const token = await login(own);
    const reader = await follow(token, '', {}, own);
    await reader.event('the history', ({ type }) => type === 'initial');
    const cleared = await api(own, 'DELETE', '/logs', { token });
    expect([cleared.status, cleared.body]).toEqual([200, { success: true, message: 'Logs cleared successfully' }]);
    await reader.event('the clearing', ({ type }) => type === 'clear');
    // One who comes back and has not heard of it begins again.
    const again = await follow(token, '', { 'last-event-id': '1' }, own);
    const first = await again.event('the first event', () => true);
    expect([first.type, first]).toEqual(['initial', expect.not.objectContaining({ resumed: true })]);
    const left = await logs(token, '', own);
    expect(left.map(({ message }) => message)).toEqual(['logs cleared by=admin']);
  });

  test('a HEAD request is answered and holds nothing open', async () => {
    const answer = await raw(`${hub.url}/api/logs/stream`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${admin}` },
    });
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([200, 'text/event-stream', '']);
  });

  test.each(['log out', 'change the password', 'delete the user', 'delete the key'])(
    'ends with the credential it was opened with: %s',
    async (how) => {
      const name = how.replaceAll(' ', '-');
      const token = await userToken(hub, admin, name, { servers: ['alpha'] });
      const key = await keyToken(hub, token);
      const ending = how === 'delete the key' ? await follow(key) : await follow(token);
      const staying = await follow(ann);
      await ending.event('the history', ({ type }) => type === 'initial');
      const done = await {
        'log out': () => api(hub, 'POST', '/auth/logout', { token }),
        'change the password': () =>
          api(hub, 'POST', '/auth/change-password', {
            token,
            body: { currentPassword: passwordOf(name), newPassword: 'another one' },
          }),
        'delete the user': () => api(hub, 'DELETE', `/users/${name}`, { token: admin }),
        'delete the key': async () => {
          const [own] = (await api(hub, 'GET', '/auth/keys', { token })).body.data as { id: string }[];
          return api(hub, 'DELETE', `/auth/keys/${own?.id}`, { token });
        },
      }[how]!();
      expect(done.status, done.text).toBe(200);
      await until('the stream has ended', () => ending.ended());
      expect(staying.ended()).toBe(false);
    },
  );

  test('an admin who is one no more sees no further entry of the hub', async () => {
    const token = await userToken(hub, admin, 'former', { role: 'admin', servers: ['alpha'] });
    const reader = await follow(token);
    await reader.event('the history', ({ type }) => type === 'initial');
    await api(hub, 'PUT', '/users/former', { token: admin, body: { role: 'user' } });
    await say('gustav');
    await api(hub, 'POST', '/servers/alpha/reload', { token: admin });
    await reader.event('alpha is heard', ({ log }) => log?.service === 'server:alpha');
    expect(JSON.stringify(reader.entries())).not.toContain('gustav');
  });
});

test('a server that cannot be reached says so once, and once which variables it misses, however often it is tried', async () => {
  const port = await freePort();
  const dead = {
    type: 'streamable-http',
    url: `http://127.0.0.1:${port}/mcp`,
    headers: { 'X-Team': '${NOBODY_SET_THIS}' },
  };
  // What is said twice is not said to the log, so no database is needed.
  const own = await testHub({ mcpServers: { dead }, env: { ...env, DB_URL: 'off' } });
  await until('it was tried again', () => (own.hub.servers()[0]?.attempts ?? 0) >= 3);
  const entries = await logs(await login(own), '', own);
  const warned = entries.filter(({ service, level }) => service === 'server:dead' && level === 'warn');
  expect(warned.map(({ message }) => message.split(/[ ;:]/)[0])).toEqual(['variables', 'disconnected']);
});

// The last one: it ends the hub of all others.
test('a stream does not hold up the end of the hub', async () => {
  const reader = await follow(admin);
  await reader.event('the history', ({ type }) => type === 'initial');
  await within('the end of the hub', hub.close());
  await until('the stream has ended', () => reader.ended());
});
