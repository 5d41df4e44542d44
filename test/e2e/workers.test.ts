import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { openConnection } from '../../src/database/open.ts';
import { createDatabase } from '../../src/database/supervise.ts';
import { createFullDiskRetry } from '../../src/disk/full-disk-retry.ts';
import { createActivityLog } from '../../src/logs/activity.ts';
import { api, cookieLogin, login, passwordOf, userToken } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { askable, askingStdio, begin, filled, reply, type Told, toldBy } from '../kit/asking.ts';
import { authorize, handClient } from '../kit/authorizing.ts';
import { canSandbox } from '../kit/can-sandbox.ts';
import { sharedPostgres, silent } from '../kit/databases.ts';
import { wire } from '../kit/fast-path.ts';
import { type Hostile, hostileHttp, hostileStdio, temporaryFolder } from '../kit/hostile.ts';
import { oauthFixture } from '../kit/oauth-server.ts';
import { person } from '../kit/person.ts';
import { descendants, freePort, isAlive } from '../kit/processes.ts';
import { raw, rpc, stream } from '../kit/raw.ts';
import { setUpTotp } from '../kit/second-factor.ts';
import { type Session, session } from '../kit/sessions.ts';
import { hasSmallDisks, smallDisk } from '../kit/small-disk.ts';
import { cli, failedStart, hubProcess, type HubProcess, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';
import { zip } from '../kit/zip.ts';

// One hub of several processes that share its port (decisions/0092). Each request has a connection of its own, and
// connections go to the processes in turn: a request arrives at another one than the request before.

/** Headers of a request that has a connection to itself. */
const alone = { connection: 'close' };
const times = (count: number) => Array.from({ length: count }, (_, i) => i);

/** The processes that serve. */
function servingAt(hub: Pick<HubProcess, 'pid'>): number[] {
  return descendants(hub.pid).flatMap(({ pid, command }) => (command.includes('cli.js') ? [pid] : []));
}

/** The process of a worker, by its number, as the metrics tell. */
async function pidOf(hub: HubProcess, worker: number): Promise<number> {
  const pids = servingAt(hub);
  const said = hub.output().matchAll(/"A worker serves".*?"number":(\d+),"pid":(\d+)/g);
  const later = [...said].map(([, number, pid]) => ({ number: Number(number), pid: Number(pid) }));
  const found = later.findLast(({ number, pid }) => number === worker && pids.includes(pid));
  return found?.pid ?? pids.find((pid) => later.every((one) => one.pid !== pid)) ?? 0;
}

async function reachable(hub: HubProcess): Promise<number | undefined> {
  return ((await hub.health()) as { hubs?: { reachable: number } }).hubs?.reachable;
}

async function twoWorkers(servers: Record<string, Record<string, unknown>>, givenUrl?: string): Promise<HubProcess> {
  const databaseUrl = givenUrl ?? (await (await sharedPostgres()).createDatabase());
  const hub = await hubProcess({
    env: { DB_URL: databaseUrl, WORKERS: '2' },
    systemConfig: { routing: { enableBearerAuth: false } },
    mcpServers: servers,
  });
  await hub.connected(Object.keys(servers).length);
  await until('both workers are there', async () => (await reachable(hub)) === 2);
  return hub;
}

const echo = (hub: HubProcess, scope: string, tag: string) =>
  rpc(hub.mcp(scope), 'tools/call', { name: 'echo', arguments: { tag } }, { headers: alone });

describe('two workers', () => {
  let hub: HubProcess;
  let own: Hostile;
  let remote: Hostile;
  let admin: string;
  let databaseUrl: string;

  beforeAll(async () => {
    own = hostileStdio({ name: 'own' });
    remote = await hostileHttp({ name: 'remote' });
    databaseUrl = await (await sharedPostgres()).createDatabase();
    hub = await twoWorkers({ own: own.config, remote: remote.config, ask: askingStdio() }, databaseUrl);
    admin = await login(hub);
  });

  test('share a port, and one process of each stdio server', async () => {
    expect(servingAt(hub)).toHaveLength(2);
    for (const scope of ['own', 'remote'])
      await Promise.all(
        times(20).map(async (turn) => {
          expect((await echo(hub, scope, `${scope} ${turn}`)).text).toContain(`${scope} ${turn}`);
        }),
      );
    expect(own.pids()).toHaveLength(1);
    expect(own.received('initialize')).toHaveLength(1);
    const metrics = await raw(`${hub.url}/metrics`, { method: 'GET', headers: { authorization: `Bearer ${admin}` } });
    for (const worker of [1, 2])
      expect(metrics.text).toMatch(
        new RegExp(`toolhub_calls_total\\{worker="${worker}",[^}]*server="own"[^}]*\\} [1-9]`),
      );
    expect(metrics.text.match(/^# TYPE toolhub_calls_total /gm)).toHaveLength(1);
  });

  test('record a change of files of policies and of skills once, though each of them sees it', async () => {
    const folder = temporaryFolder();
    const policy = join(folder, 'policies', 'a.cedar');
    const skill = join(folder, 'skills', 'refunds', 'SKILL.md');
    for (const file of [policy, skill]) mkdirSync(dirname(file), { recursive: true });
    const put = async (body: unknown) =>
      expect((await api(hub, 'PUT', '/system-config', { token: admin, body })).status).toBe(200);
    // A test that fails leaves no policy to those after it.
    atEnd(() => put({ policyFolder: null, skills: null }));
    await put({ policyFolder: dirname(policy), skills: { folder: dirname(dirname(skill)) } });
    /** Written together; the number is in both. */
    const write = (number: number) => {
      const effect = number % 2 === 0 ? 'permit' : 'forbid';
      writeFileSync(policy, `// ${number}\n${effect}(principal, action, resource == Tool::"own/echo");`);
      writeFileSync(skill, `---\nname: refunds\ndescription: number ${number}.\n---\n`);
    };
    /** Both workers have read what was written. */
    const seen = (number: number) =>
      until(`both workers have read ${number}`, async () => {
        const all = await Promise.all(
          times(12).map(async () => {
            const isRefused = (await echo(hub, 'own', 'policy')).error !== undefined;
            const skills = await rpc(hub.mcp(), 'skills/list', {}, { headers: alone });
            return isRefused === (number % 2 === 1) && skills.text.includes(`number ${number}.`);
          }),
        );
        return all.every(Boolean);
      });
    const recorded = async (action: string) => {
      const { data } = (await api(hub, 'GET', `/audit?action=${action}`, { token: admin })).body;
      return (data as { after: unknown }[]).map(({ after }) => JSON.stringify(after));
    };
    let number = 0;
    const next = async () => {
      write((number += 1));
      await seen(number);
    };
    const actions = ['policy-files.update', 'skill-files.update'];
    const records = async (action: string, one = '\\d+') =>
      (await recorded(action)).filter((after) => new RegExp(`(?:\\/\\/|number) ${one}\\b`).test(after));
    // What the lead finds when it first looks is no change.
    await until('the lead finds changes', async () => {
      await next();
      return (await Promise.all(actions.map((action) => records(action)))).every(({ length }) => length > 0);
    });
    for (const _ of times(2)) {
      await next();
      // All requests may have come to the other worker so far, and changes that the lead has not seen apart are one.
      for (const action of actions)
        await until(`${action} has it`, async () => (await records(action, String(number))).length > 0);
    }
    for (const action of actions) expect(await records(action, String(number - 1)), action).toHaveLength(1);
    await put({ policyFolder: null, skills: null });
    await until('the policy is gone', async () =>
      (await Promise.all(times(12).map(() => echo(hub, 'own', 'free')))).every(({ error }) => error === undefined),
    );
  });

  test('have a session together: what a server asks, cancelled calls, its end', async () => {
    for (const turn of times(4)) {
      const one = await session(hub.mcp('ask'), { capabilities: askable, headers: alone });
      const call = await begin(one, 'form', { label: `turn ${turn}` });
      const { id } = await call.asked();
      expect((await reply(hub.mcp('ask'), one, id, filled(`word ${turn}`))).status).toBe(202);
      expect((await call.told()).result).toEqual(filled(`word ${turn}`).result);
      expect((await one.end()).status).toBe(200);
      for (const _ of times(2))
        expect(
          (await raw(hub.mcp('ask'), { headers: one.headers, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status,
        ).toBe(404);
    }
  });

  test('cancel a call at the server, whichever worker hears of it', async () => {
    for (const turn of times(4)) {
      const one = await session(hub.mcp('own'), { headers: alone });
      const tag = `cancelled ${turn}`;
      const call = await one.begin(
        'tools/call',
        { name: 'progress', arguments: { tag, steps: 100_000, ms: 50 }, _meta: { progressToken: tag } },
        { id: 'call' },
      );
      await call.message('progress', ({ method }) => method === 'notifications/progress');
      await one.notify('notifications/cancelled', { requestId: 'call', reason: 'enough' });
      await until('the server is told', () => {
        const made = own.received('tools/call').find(({ text }) => text?.includes(`"${tag}"`));
        return own.received('notifications/cancelled').some(({ params }) => params['requestId'] === made?.id);
      });
      call.close();
    }
  });

  test('ask no client what a server wants to know for the call of another', async () => {
    for (const turn of times(3)) {
      const begun = () => session(hub.mcp('ask'), { capabilities: askable, headers: alone });
      const sessions = [await begun(), await begun()];
      const calls = await Promise.all(sessions.map((one, i) => begin(one, 'form', { label: `${turn} ${i}` })));
      const told = await Promise.all(
        calls.map(async (call, i) => {
          // Where the server had two calls it is refused what it asks, and answers at once.
          if (!String(call.stream.headers['content-type']).includes('event-stream'))
            return toldBy((await call.stream.json()).result) as Told;
          const asked = await call.asked();
          expect(asked.params).toMatchObject({ message: `${turn} ${i}` });
          expect((await reply(hub.mcp('ask'), sessions[i] as Session, asked.id, filled(`word ${i}`))).status).toBe(202);
          return call.told();
        }),
      );
      for (const [i, { result, error }] of told.entries())
        if (result === undefined) expect(error?.message).toContain('to which of several calls');
        else expect(result).toEqual(filled(`word ${i}`).result);
    }
  });

  test('pass large results on as they are', async () => {
    const answer = await rpc(hub.mcp('own'), 'tools/call', { name: 'big', arguments: { bytes: 3_000_000 } });
    expect(answer.text.length).toBeGreaterThan(3_000_000);
    const args = { tag: 'x'.repeat(500_000) };
    expect((await rpc(hub.mcp('own'), 'tools/call', { name: 'echo', arguments: args })).text).toContain(args.tag);
  });

  test('write a log message that can be of several calls once, and none ends at a large one', async () => {
    const serving = servingAt(hub);
    const calls = await Promise.all(
      times(4).map(async (turn) => {
        const one = await session(hub.mcp('own'), { headers: alone });
        const args = { name: 'hang', arguments: {}, _meta: { progressToken: `hung ${turn}` } };
        const call = await one.begin('tools/call', args, { id: 'call' });
        await call.message('it began', ({ method }) => method === 'notifications/progress');
        return { one, call };
      }),
    );
    for (const said of ['large', 'small']) {
      const args = { tag: `${said} words ${said === 'large' ? 'x'.repeat(2_000_000) : ''}` };
      expect((await rpc(hub.mcp('own'), 'tools/call', { name: 'log', arguments: args })).text).toContain('logged');
      await until('it is in the log', () => hub.output().includes(`${said} words`));
    }
    expect(hub.output().split('large words')).toHaveLength(2);
    expect(servingAt(hub)).toEqual(serving);
    for (const { one, call } of calls) {
      await one.notify('notifications/cancelled', { requestId: 'call' });
      call.close();
    }
  });

  test('know each change of the settings, and each login', async () => {
    const { headers } = await cookieLogin(hub);
    for (const turn of times(3)) {
      const name = `group${turn}`;
      expect((await api(hub, 'POST', '/groups', { headers, body: { name, servers: ['own'] } })).status).toBe(201);
      await until('every worker has the group', async () => {
        const answers = await Promise.all(times(6).map(() => rpc(hub.mcp(name), 'tools/list', {}, { headers: alone })));
        return answers.every(({ status }) => status === 200);
      });
    }
  });

  test('start a server over HTTP again at both', async () => {
    const before = remote.received('initialize').length;
    expect((await api(hub, 'POST', '/servers/remote/reload', { token: admin, body: {} })).status).toBe(200);
    await until('each has connected anew', () => remote.received('initialize').length === before + 2);
  });

  const wrong = JSON.stringify({ username: 'admin', password: 'not that' });
  const loginHead = (target: string) =>
    `${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${wrong.length}\r\n\r\n`;
  const chunkedPing =
    'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';

  test.each([
    ['a request line in pieces', ['POST /api/au', loginHead('th/login') + wrong]],
    ['a request line after an empty one', ['\r\n', loginHead('POST /api/auth/login') + wrong]],
    ['an absolute target', [loginHead('POST http://127.0.0.1/api/auth/login') + wrong]],
    ['a long request line', [loginHead(`POST /api/auth/login?${'x'.repeat(9_000)}`) + wrong]],
    ['a request sent behind one for MCP', [chunkedPing + loginHead('POST /api/auth/login') + wrong]],
    ['a request after one for MCP', [chunkedPing, loginHead('POST /api/auth/login') + wrong]],
  ])('have failed logins at the lead alone: %s', async (_, pieces) => {
    const failed = () => hub.output().match(/"login failed".*/g) ?? [];
    const before = failed().length;
    // In turn they arrive at both.
    for (const _turn of times(2)) {
      const connection = await wire(Number(new URL(hub.url).port));
      const answers = () => connection.heard.match(/HTTP\/1\.1 \d{3}/g)?.length ?? 0;
      for (const [i, piece] of pieces.entries()) {
        await connection.send(piece);
        if (piece === chunkedPing) await until('MCP is answered', () => connection.closed || answers() > 0);
        else if (i === 0 && pieces.length > 1) await after(50);
      }
      const wanted = pieces.some((piece) => piece.startsWith(chunkedPing)) ? 2 : 1;
      await until('it is over', () => connection.closed || answers() === wanted);
      connection.socket.destroy();
    }
    await until('those at the lead are logged', () => failed().length > before);
    expect(
      failed()
        .slice(before)
        .every((entry) => entry.includes('"worker":1')),
    ).toBe(true);
  });

  test('lose nothing of what was sent ahead, behind a call', async () => {
    const params = { name: 'progress', arguments: { tag: 'ahead', steps: 4, ms: 50 } };
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const head = `POST /mcp/own HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${call.length}\r\n\r\n`;
    // More than is read ahead of its turn, so that the connection is paused.
    const count = 400;
    const ahead = `GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ${'x'.repeat(1_000)}\r\n\r\n`.repeat(count);
    for (const _turn of times(2)) {
      const connection = await wire(Number(new URL(hub.url).port));
      void connection.send(head + call + ahead);
      const answers = () => connection.heard.match(/HTTP\/1\.1 \d{3}/g) ?? [];
      await until('all are answered', () => connection.closed || answers().length === count + 1);
      expect(new Set(answers())).toEqual(new Set(['HTTP/1.1 200']));
      expect(answers()).toHaveLength(count + 1);
      connection.socket.destroy();
    }
  });

  test('answer nothing but hubs at their own addresses', async () => {
    const open = await openConnection({ url: databaseUrl, dataDir: hub.folder, log: silent });
    const rows = await open.query<{ urls: string[] }>('select urls from toolhub.hubs');
    await open.close();
    const addresses = rows.flatMap(({ urls }) => urls);
    expect(addresses).toHaveLength(2);
    for (const address of addresses) {
      const at = (path: string, method: string) =>
        raw(`${address}${path}`, { method, ...(method === 'POST' && { body: wrong }), headers: alone });
      expect((await at('/api/auth/login', 'POST')).status).toBe(421);
      expect((await at('/mcp', 'POST')).status).toBe(421);
      expect((await at('/health', 'GET')).status).toBe(421);
      expect((await at('/health/hub?mac=x', 'GET')).status).toBe(404);
    }
  });

  /** A server that both workers have. */
  const added = async (name: string, config: Record<string, unknown>) => {
    const body = { name, config: { visibility: 'public', ...config } };
    const made = await api(hub, 'POST', '/servers', { token: admin, body });
    expect(made.status, made.text).toBe(201);
    await until(`every worker has ${name}`, async () => {
      const lists = await Promise.all(times(6).map(() => rpc(hub.mcp(name), 'tools/list', {}, { headers: alone })));
      return lists.every(({ result }) => (result?.tools ?? []).length > 0);
    });
  };

  test('start one process for fifty first calls, which sleeps when both are idle', async () => {
    const gate = join(temporaryFolder(), 'gate');
    const lazy = hostileStdio({ name: 'lazy', gate });
    const asleep = (one = lazy) => until('its process is gone', () => !one.pids().some(isAlive));
    await added('lazy', { ...lazy.config, startOnDemand: true, idleTimeoutMs: 300 });
    /** Both workers know it by the description that comes with it. */
    const idleFor = async (idleTimeoutMs: number) => {
      const tools = { echo: { description: `Sleeps after ${idleTimeoutMs} ms.` } };
      const config = { ...lazy.config, visibility: 'public', startOnDemand: true, idleTimeoutMs, tools };
      const put = await api(hub, 'PUT', '/servers/lazy', { token: admin, body: { config } });
      expect(put.status, put.text).toBe(200);
      await until(`every worker knows of ${idleTimeoutMs} ms`, async () => {
        const lists = await Promise.all(times(6).map(() => rpc(hub.mcp('lazy'), 'tools/list', {}, { headers: alone })));
        return lists.every(({ text }) => text.includes(tools.echo.description));
      });
    };
    for (const turn of times(2)) {
      await asleep();
      await idleFor(600_000);
      const before = lazy.pids().length;
      writeFileSync(gate, '');
      const calls = times(50).map((i) => echo(hub, 'lazy', `lazy ${turn} ${i}`));
      await until('it is being started', () => lazy.pids().length > before);
      // Both workers wait for it by now.
      await Promise.all(times(6).map(() => rpc(hub.mcp('own'), 'tools/list', {}, { headers: alone })));
      rmSync(gate);
      for (const [i, { text }] of (await Promise.all(calls)).entries()) expect(text).toContain(`lazy ${turn} ${i}`);
      expect(lazy.pids()).toHaveLength(before + 1);
      await idleFor(300);
    }
    expect(lazy.received('tools/call')).toHaveLength(100);
    await asleep();
    // A call at one of them keeps it awake, though the other is idle for as long as another server is until it sleeps.
    const nap = hostileStdio({ name: 'nap' });
    await added('nap', { ...nap.config, startOnDemand: true, idleTimeoutMs: 300 });
    const hold = join(temporaryFolder(), 'hold');
    writeFileSync(hold, '');
    const params = { name: 'progress', arguments: { tag: 'awake', steps: 2, gate: hold } };
    const held = rpc(hub.mcp('lazy'), 'tools/call', params, { headers: alone });
    await until('the call is at the server', () => lazy.received('tools/call').length === 101);
    expect((await echo(hub, 'nap', 'once')).text).toContain('once');
    await asleep(nap);
    expect(lazy.pids().some(isAlive)).toBe(true);
    rmSync(hold);
    expect((await held).text).toContain('awake');
    await asleep();
    await until('its status says so', async () => {
      const { body } = await api(hub, 'GET', '/servers/lazy', { token: admin });
      return (body.data as { status: string }).status === 'asleep';
    });
  });

  test.runIf(canSandbox)('share a program in a sandbox, and keep what is in one of a session apart', async () => {
    const script = fileURLToPath(new URL('../kit/fixtures/evaluate.mjs', import.meta.url));
    const config = { command: process.execPath, args: [script], sandbox: { read: [dirname(script)] } };
    const code = (file: string) => `const n = (globalThis.n = (globalThis.n ?? 0) + 1);
      const { existsSync } = await load('node:fs');
      return [process.env.HOME, n, existsSync(${JSON.stringify(file)})].join()`;
    await added('boxed', config);
    const home = join(hub.folder, 'data', 'sandbox', 'boxed');
    const secret = join(hub.folder, 'data', 'hub.secret');
    const params = { name: 'evaluate', arguments: { code: code(secret) } };
    const answers = await Promise.all(
      times(8).map(() => rpc(hub.mcp('boxed'), 'tools/call', params, { headers: alone })),
    );
    const said = answers.map(({ result }) => result?.content?.[0]?.text);
    expect(new Set(said)).toEqual(new Set(times(8).map((i) => `${home},${i + 1},false`)));
    await added('boxes', { ...config, perSessionClient: true });
    const sessions = await Promise.all(times(4).map(() => session(hub.mcp('boxes'), { headers: alone })));
    for (const one of sessions)
      for (const turn of times(2)) {
        const { result, text } = await one.call('evaluate', { code: code(secret) });
        expect(result?.content?.[0]?.text, text).toMatch(new RegExp(`/boxes,${turn + 1},false$`));
      }
    for (const one of sessions) await one.end();
  });

  test('go on with a stream that broke, whichever worker is asked', async () => {
    for (const turn of times(4)) {
      const one = await session(hub.mcp('own'), { headers: alone });
      const params = { name: 'progress', arguments: { tag: `resumed ${turn}`, steps: 8, ms: 40 } };
      const call = await one.begin('tools/call', { ...params, _meta: { progressToken: 'p' } }, { id: 'call' });
      await call.message('progress', ({ method }) => method === 'notifications/progress');
      call.close();
      const headers = { ...one.headers, 'last-event-id': call.events.at(-1)?.id ?? '' };
      const rest = await stream(hub.mcp('own'), { headers });
      const answer = await rest.message('the answer', ({ id }) => id === 'call');
      expect(answer.result?.content?.[0]?.text).toBe(`resumed ${turn} done after 8`);
      const heard = [...call.messages, ...rest.messages].flatMap(({ params }) => params?.progress ?? []);
      expect(heard).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      rest.close();
    }
  });

  test('hear of a sign-in to a server, which is made once', async () => {
    const fixture = await oauthFixture();
    const config = { type: 'streamable-http', url: fixture.url, oauth: {}, visibility: 'public' };
    expect((await api(hub, 'POST', '/servers', { token: admin, body: { name: 'mail', config } })).status).toBe(201);
    await until('it waits for a sign-in', async () =>
      (await api(hub, 'GET', '/servers/mail', { token: admin })).text.includes('oauth_required'),
    );
    const opened = await person().open(`${hub.url}/oauth/sign-in/mail`);
    expect(opened.status, opened.text).toBe(200);
    const calls = async (tag: string) => {
      const params = { name: 'echo', arguments: { text: tag } };
      return Promise.all(times(6).map(() => rpc(hub.mcp('mail'), 'tools/call', params, { headers: alone })));
    };
    const work = (tag: string) =>
      until(`every worker calls it: ${tag}`, async () => (await calls(tag)).every(({ text }) => text.includes(tag)));
    await work('signed in');
    expect(fixture.authorizations).toHaveLength(1);
    fixture.expireAll();
    await work('renewed');
    const renewed = fixture.exchanges.filter((form) => form.get('grant_type') === 'refresh_token');
    expect(renewed).toHaveLength(1);
  });

  test('let in a client of a user, whichever of them it comes to, until the user shuts it out', async () => {
    const ann = await userToken(hub, admin, 'ann', { servers: ['own'] });
    const client = await handClient(hub.url);
    const { status, body } = await client.redeem(await authorize(client.address(), { username: 'ann' }));
    expect(status, JSON.stringify(body)).toBe(200);
    const statuses = async (token: string) => {
      const headers = { ...alone, authorization: `Bearer ${token}` };
      const answers = await Promise.all(times(6).map(() => rpc(hub.mcp('own'), 'tools/list', {}, { headers })));
      return [...new Set(answers.map((answer) => answer.status))];
    };
    expect(await statuses(body.access_token)).toEqual([200]);
    const again = await client.refresh(body.refresh_token);
    expect(again.status).toBe(200);
    expect(await statuses(again.body.access_token)).toEqual([200]);
    const { data } = (await api(hub, 'GET', '/auth/grants', { token: ann })).body;
    const [grant] = data as { id: string }[];
    expect((await api(hub, 'DELETE', `/auth/grants/${grant?.id}`, { token: ann })).status).toBe(200);
    for (const token of [body.access_token, again.body.access_token])
      await until('every worker refuses it', async () => String(await statuses(token)) === '401');
  });

  test('tell a live page of calls and of those that wait, which wait for one yes', async () => {
    const page = await stream(`${hub.url}/api/events`, { headers: { authorization: `Bearer ${admin}` } });
    const text = '@approve("admin") forbid(principal, action, resource == Tool::"own/echo");';
    const put = async (policies: unknown) =>
      expect((await api(hub, 'PUT', '/system-config', { token: admin, body: { policies } })).status).toBe(200);
    const known = 'forbid(principal, action, resource == Tool::"own/delay");';
    atEnd(() => put(null));
    await put([
      { id: 'ask', text },
      { id: 'known', text: known },
    ]);
    const waiting = async () => {
      const { body } = await api(hub, 'GET', '/approvals', { token: admin });
      return (body.data as { id: string; state: string }[]).filter(({ state }) => state === 'waiting');
    };
    // The other policy of the same settings shows that a worker has both.
    const everyWorker = (isRefused: boolean) =>
      until(`every worker has the policies: ${isRefused}`, async () => {
        const params = { name: 'delay', arguments: { tag: 'known' } };
        const answers = await Promise.all(
          times(6).map(() => rpc(hub.mcp('own'), 'tools/call', params, { headers: alone })),
        );
        return answers.every(({ error }) => (error !== undefined) === isRefused);
      });
    await everyWorker(true);
    const told = () => page.events.filter(({ data }) => data.includes('changed')).length;
    const toldBefore = told();
    const calls = times(6).map((i) => echo(hub, 'own', `approved ${i}`));
    await until('all wait', async () => (await waiting()).length === 6);
    await until('the page is told', () => told() > toldBefore);
    for (const { id } of await waiting()) {
      const decided = await api(hub, 'POST', `/approvals/${id}`, { token: admin, body: { decision: 'approve' } });
      expect(decided.status, decided.text).toBe(200);
    }
    for (const [i, { text: said }] of (await Promise.all(calls)).entries()) expect(said).toContain(`approved ${i}`);
    await put(null);
    await everyWorker(false);
    const called = () => page.events.filter(({ data }) => data.includes('called')).length;
    for (const turn of times(4)) {
      const before = called();
      expect((await echo(hub, 'own', `seen ${turn}`)).error).toBeUndefined();
      await until('the page is told of a call', () => called() > before);
    }
    page.close();
  });

  test('start a server again for both, and once', async () => {
    const before = own.pids();
    expect((await api(hub, 'POST', '/servers/own/reload', { token: admin, body: {} })).status).toBe(200);
    await until('it is another process', () => own.pids().length === before.length + 1);
    await until('all workers call it', async () => {
      const answers = await Promise.all(times(6).map((turn) => echo(hub, 'own', `again ${turn}`)));
      return answers.every(({ text }) => text.includes('again'));
    });
    expect(own.pids(), hub.output()).toHaveLength(before.length + 1);
    expect(own.pids().filter(isAlive)).toHaveLength(1);
  });

  test.each([2, 1])('go on when worker %i is killed, which is replaced', async (worker) => {
    // It would break off with the first.
    let log = worker === 2 ? await stream(`${hub.url}/api/logs/stream?token=${admin}`) : undefined;
    const [process] = own.pids().filter(isAlive);
    const name = `kept${worker}`;
    expect((await api(hub, 'POST', '/groups', { token: admin, body: { name, servers: ['own'] } })).status).toBe(201);
    const pid = await pidOf(hub, worker);
    expect(servingAt(hub)).toContain(pid);
    globalThis.process.kill(pid, 'SIGKILL');
    const says = (what: string) => new RegExp(`${what}.*"number":${worker}\\b`);
    await until('it is missed', () => says('A worker ended and is started again').test(hub.output()));
    expect((await echo(hub, 'own', 'meanwhile')).text).toContain('meanwhile');
    // Where the first was killed another is the lead now, and stays it.
    log ??= await stream(`${hub.url}/api/logs/stream?token=${admin}`);
    await until('there are two again', async () => {
      const begun = hub.output().split('A worker ended').at(-1) ?? '';
      return says('A worker serves').test(begun) && (await reachable(hub)) === 2;
    });
    const groups = await api(hub, 'GET', '/groups', { token: admin });
    expect(JSON.stringify(groups.body.data)).toContain(`"${name}"`);
    // Its programs have not noticed.
    expect(own.pids().filter(isAlive)).toEqual([process]);
    // The stream of the log has the entries of both.
    const events = log.events.length;
    expect((await api(hub, 'POST', '/servers/remote/reload', { token: admin, body: {} })).status).toBe(200);
    await until('the log of both', () =>
      [1, 2].every((one) => log?.events.slice(events).some(({ data }) => data.includes(`worker=${one}`))),
    );
    log.close();
  });

  test('leave no client waiting that was given to a worker which then ends', async () => {
    // The other is the lead now.
    const pid = await pidOf(hub, 1);
    process.kill(pid, 'SIGSTOP');
    // In turn: one of them is given to the worker that takes nothing now.
    const calls = times(4).map((turn) => echo(hub, 'remote', `stopped ${turn}`).catch(String));
    const done: unknown[] = [];
    for (const call of calls) void call.then((answer) => done.push(answer));
    // One that a test which fails leaves stopped would keep its hub from ending.
    atEnd(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGCONT');
    });
    await until('the others are answered', () => done.length === 3);
    process.kill(pid, 'SIGKILL');
    const failed = (await Promise.all(calls)).filter((answer) => typeof answer === 'string');
    expect(failed).toEqual([expect.stringMatching(/socket hang up|ECONNRESET/)]);
    // The next tests are about two that serve, and stop them.
    await until('there are two again', async () => {
      const begun = hub.output().split('A worker ended').at(-1) ?? '';
      return begun.includes('A worker serves') && (await reachable(hub)) === 2;
    });
  });

  test('keep bundles in the folder of the hub, whichever worker takes them', async () => {
    // The first was killed, and another is the lead.
    const mcp_config = { command: process.execPath, args: ['${__dirname}/server.cjs'] };
    const server = { type: 'node', entry_point: 'server.cjs', mcp_config };
    const manifest = { manifest_version: '0.3', name: 'notes', version: '1.0.0', description: 'Takes notes', server };
    const body = new FormData();
    const archive = zip([
      { name: 'manifest.json', data: JSON.stringify(manifest) },
      { name: 'server.cjs', data: '' },
    ]);
    body.append('mcpbFile', new Blob([new Uint8Array(archive)]), 'notes.mcpb');
    const headers = { authorization: `Bearer ${admin}` };
    const answer = await fetch(`${hub.url}/api/mcpb/upload`, { method: 'POST', body, headers });
    expect(answer.status, await answer.text()).toBe(201);
    const data = join(hub.folder, 'data');
    expect(readdirSync(join(data, 'bundles'))).toHaveLength(1);
    expect(existsSync(join(data, 'workers', '2', 'bundles'))).toBe(false);
    const backup = await fetch(`${hub.url}/api/backup`, { headers });
    const text = Buffer.from(await backup.arrayBuffer()).toString('latin1');
    expect([backup.status, text.includes('data/bundles/')], text.slice(0, 300)).toEqual([200, true]);
  });

  test('stop together, in order', async () => {
    const family = descendants(hub.pid).map(({ pid }) => pid);
    expect(await hub.stop('SIGTERM'), hub.output()).toEqual({ code: 0, signal: null });
    await until('all are gone', () => family.every((pid) => !isAlive(pid)));
  });
});

describe('one process, then two, then one again, on the same data', () => {
  const lazy = hostileStdio({ name: 'lazy' });
  const others = {
    plain: hostileStdio({ name: 'plain' }),
    stubborn: hostileStdio({ name: 'stubborn', ignoreSigterm: true, ignoreEof: true }),
    alone: hostileStdio({ name: 'alone' }),
  };
  let env: Record<string, string>;
  let several: HubProcess;
  let before: Awaited<ReturnType<typeof setUp>>;
  let during: typeof before;

  const isListed = async (hub: Pick<HubProcess, 'mcp'>) =>
    ((await rpc(hub.mcp('lazy'), 'tools/list', {}, { headers: alone })).result?.tools ?? []).length > 0;
  const setUp = async (hub: Pick<HubProcess, 'url'>, username: string) => {
    const { app } = await setUpTotp(hub, { token: await userToken(hub, await login(hub), username) });
    return { app, username, password: passwordOf(username) };
  };
  const enters = async (hub: Pick<HubProcess, 'url'>, { app, ...credentials }: typeof before) => {
    const asked = await api(hub, 'POST', '/auth/login', { body: credentials });
    expect([asked.status, asked.body['error']], asked.text).toEqual([401, 'second_factor_required']);
    const answer = await api(hub, 'POST', '/auth/login', { body: { ...credentials, code: app.code() } });
    expect(answer.status, answer.text).toBe(200);
  };

  beforeAll(async () => {
    // Without JWT_SECRET.
    env = { DB_URL: await (await sharedPostgres()).createDatabase() };
    const first = await hubProcess({
      env,
      systemConfig: { routing: { enableBearerAuth: false } },
      mcpServers: { lazy: { ...lazy.config, startOnDemand: true, idleTimeoutMs: 300 } },
    });
    await until('it is listed', () => isListed(first));
    before = await setUp(first, 'before');
    await first.stop('SIGTERM');
    expect(lazy.pids()).toHaveLength(1);
    several = await hubProcess({ folder: first.folder, env: { ...env, WORKERS: '2' } });
    await until('both workers are there', async () => (await reachable(several)) === 2);
  });

  test('more workers than before begin with the lists that the hub has saved, and start nothing for them', async () => {
    expect(await Promise.all(times(8).map(() => isListed(several)))).toEqual(times(8).map(() => true));
    expect(lazy.pids()).toHaveLength(1);
  });

  test('they know second factors from before', async () => {
    await enters(several, before);
    during = await setUp(several, 'during');
  });

  test('nothing is left when the first process is killed', async () => {
    const admin = await login(several);
    for (const [name, { config }] of Object.entries(others)) {
      const own = { ...config, visibility: 'public', perSessionClient: name === 'alone' };
      const made = await api(several, 'POST', '/servers', { token: admin, body: { name, config: own } });
      expect(made.status, made.text).toBe(201);
    }
    await until('they run', () => Object.values(others).every((one) => one.pids().some(isAlive)));
    const one = await session(several.mcp('alone'));
    expect((await one.call('echo', { tag: 'its own' })).text).toContain('its own');
    const family = descendants(several.pid).map(({ pid }) => pid);
    expect(family.length).toBeGreaterThanOrEqual(6);
    await several.stop('SIGKILL');
    await until('all are gone', () => family.every((pid) => !isAlive(pid)));
  });

  test('one process knows second factors that several have set up', async () => {
    await enters(await testHub({ folder: several.folder, env }), during);
  });
});

describe('refused', () => {
  test.each(['0', '-1', 'abc', '1000', '1.5'])('WORKERS=%s', async (WORKERS) => {
    const { code, output } = await failedStart({ env: { WORKERS, DB_URL: 'off' } });
    expect(code).toBe(2);
    expect(output).toContain(`WORKERS: found "${WORKERS}", allowed: a whole number from 1 to 64`);
  });

  test('several without a PostgreSQL, and with one address for all', async () => {
    const without = await failedStart({ env: { WORKERS: '2', DB_URL: 'off' } });
    expect(without).toMatchObject({ code: 2 });
    expect(without.output).toContain('WORKERS: found "2", which takes a PostgreSQL');
    const INTERNAL_URL = 'http://127.0.0.1:9';
    const both = await failedStart({ env: { WORKERS: '2', DB_URL: 'postgres://127.0.0.1:9/x', INTERNAL_URL } });
    expect(both).toMatchObject({ code: 2 });
    expect(both.output).toContain('INTERNAL_URL');
  });

  test('a port that is taken: one error, and all end', async () => {
    const databaseUrl = await (await sharedPostgres()).createDatabase();
    const PORT = String(await freePort());
    await testHub({ env: { PORT } });
    const { code, output } = await failedStart({ env: { DB_URL: databaseUrl, PORT, WORKERS: '3' } });
    expect(code).not.toBe(0);
    expect(output.match(/the port is taken/g)).toHaveLength(1);
  });
});

test.runIf(hasSmallDisks)('a first start of workers on a full disk keeps its secrets once there is room', async () => {
  const { folder, ...disk } = smallDisk();
  writeFileSync(join(folder, 'mcp_settings.json'), '{"mcpServers": {}}');
  disk.fill();
  const env = { DB_URL: await (await sharedPostgres()).createDatabase(), WORKERS: '2' };
  const hub = await hubProcess({ folder, env });
  const token = await login(hub);
  expect((await hub.health()).status).toBe('degraded');
  disk.free();
  await until('it has recovered', async () => (await hub.health()).status === 'healthy');
  await hub.stop('SIGTERM');
  const again = await testHub({ folder, env: { DB_URL: env.DB_URL } });
  expect((await api(again, 'GET', '/servers', { token })).status).toBe(200);
});

describe('started by a cluster of Node', () => {
  /** What such a program prints until it has `text`. */
  async function started(env: Record<string, string>, text: string): Promise<string> {
    const folder = temporaryFolder();
    const script = join(folder, 'start.cjs');
    const setup = { exec: cli, args: ['serve'], silent: true };
    writeFileSync(
      script,
      `const cluster = require('node:cluster');
       cluster.setupPrimary(${JSON.stringify(setup)});
       const worker = cluster.fork();
       worker.process.stdout.pipe(process.stdout);
       worker.process.stderr.pipe(process.stdout);
       worker.on('exit', () => process.exit());`,
    );
    const child = spawn(process.execPath, [script], {
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, DATA_DIR: join(folder, 'data'), PORT: '0', ...env },
      // Its settings file is made where it runs, and the checkout is to keep none of a test.
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    atEnd(async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until(`it says ${text}`, () => output.includes(text), 30_000);
    return output;
  }

  test('it is a hub of one process', async () => {
    await started({ DB_URL: 'off', LOG_FORMAT: 'json' }, 'is ready"');
  });

  test('WORKERS is refused with what to do', async () => {
    const env = { DB_URL: 'postgres://127.0.0.1:9/x', WORKERS: '2' };
    expect(await started(env, 'WORKERS: this process')).toContain('exec_mode "fork"');
  });
});

test('what a worker has left that is no more comes into the database', async () => {
  const DB_URL = await (await sharedPostgres()).createDatabase();
  const folder = temporaryFolder();
  const left = join(folder, 'data', 'workers', '3', 'journal');
  const room = createFullDiskRetry(silent);
  const database = createDatabase({ url: 'postgres://test@127.0.0.1:1/x', dataDir: folder, log: silent });
  const activity = createActivityLog({ database, log: silent, journal: { folder: left, room } });
  const call = { server: 'left', tool: 'behind', durationMs: 1, status: 'success', principal: 'anonymous' } as const;
  activity.record({ ...call, resultBytes: 1 });
  await new Promise<void>((done) => activity.afterKeeping(done));
  await activity.close();
  room.close();
  await database.close();
  expect(readdirSync(left)).toHaveLength(1);
  const hub = await testHub({ folder, mcpServers: {}, env: { DB_URL } });
  const token = await login(hub);
  await until('it is in the activity', async () =>
    (await api(hub, 'GET', '/activities', { token })).text.includes('"behind"'),
  );
  expect(readdirSync(left)).toEqual([]);
});
