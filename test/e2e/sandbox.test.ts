import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { boundsObstacle } from '../../src/upstream/channels/stdio/cgroup.ts';
import { api, login } from '../kit/api.ts';
import { canSandbox } from '../kit/can-sandbox.ts';
import { temporaryFolder } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// Servers in a sandbox (CONTRACT §10), and what they try to get out of it.

const script = fileURLToPath(new URL('../kit/fixtures/evaluate.mjs', import.meta.url));
const program = { command: process.execPath, args: [script] };
const read = [dirname(script)];

const bounds = { memoryMb: 256, cpus: 2, processes: 40 };
/** Where this process is in a control group that it may divide, as in a service with `Delegate=yes`. */
const holds = {
  memory: boundsObstacle({ memoryMb: 1 }) === undefined,
  processes: boundsObstacle({ processes: 1 }) === undefined,
};

let hub: TestHub;
let admin: string;
let shared: string;
const secret = 'secret-of-another-server';

const evaluate = async (server: string, code: string) => {
  const { body } = await api(hub, 'POST', `/tools/call/${server}`, {
    token: admin,
    body: { toolName: 'evaluate', arguments: { code } },
  });
  return (body.data as { content: { text: string }[] }).content[0]?.text ?? '';
};
const reading = (path: string) => `return (await load('node:fs')).readFileSync(${JSON.stringify(path)}, 'utf8')`;

/** Connected again with these bounds. */
async function setBounds(wanted: Partial<typeof bounds>): Promise<void> {
  const config = { ...program, sandbox: { read, ...wanted } };
  await api(hub, 'PUT', '/servers/bounded', { token: admin, body: { config } });
  await hub.connected(6);
  expect(await evaluate('bounded', `return 'there'`)).toBe('there');
}

const states = async () => {
  const { body } = await api(hub, 'GET', '/servers', { token: admin });
  return body.data as { name: string; status: string; reason?: { code: string; text: string; advice: string } }[];
};

beforeAll(async () => {
  const folder = temporaryFolder();
  shared = temporaryFolder();
  writeFileSync(join(shared, 'given'), 'given');
  mkdirSync(join(shared, 'out'));
  hub = await testHub({
    folder,
    mcpServers: {
      held: { ...program, sandbox: { read: [...read, shared], write: [join(shared, 'out')] } },
      reaching: { ...program, sandbox: { network: 'host', read } },
      greedy: { ...program, sandbox: { read: ['/'] } },
      around: { ...program, sandbox: { read: [folder] } },
      beside: { ...program, cwd: folder, sandbox: { read } },
      other: { ...program, env: { TOKEN: secret }, sandbox: { read } },
      byDefault: { ...program },
      free: { ...program, sandbox: false },
      nowhere: { ...program, sandbox: { read: ['/does/not/exist'] } },
      thief: { ...program, sandbox: { read: [join(folder, 'data')] } },
      forger: { ...program, sandbox: { write: [join(folder, 'mcp_settings.json')] } },
      lost: { ...program, sandbox: {} },
      bounded: { ...program, sandbox: { read, ...bounds } },
    },
    systemConfig: { sandbox: { default: { read } } },
  });
  admin = await login(hub);
  if (canSandbox) await hub.connected(6);
});

describe.runIf(canSandbox)('a server in a sandbox', () => {
  test('works, has the paths it is given, and writes where it may', async () => {
    expect(await evaluate('held', reading(join(shared, 'given')))).toBe('given');
    const write = (path: string) =>
      `(await load('node:fs')).writeFileSync(${JSON.stringify(path)}, 'x'); return 'written'`;
    expect(await evaluate('held', write(join(shared, 'out', 'new')))).toBe('written');
    expect(readFileSync(join(shared, 'out', 'new'), 'utf8')).toBe('x');
    expect(await evaluate('held', write(join(shared, 'given')))).toMatch(/failed: E(ROFS|ACCES|PERM)/);
    expect(await evaluate('held', write('/usr/bin/new'))).toMatch(/failed: E(ROFS|ACCES|PERM)/);
  });

  test('has a home of its own, which stays, and that no other server sees', async () => {
    const home = await evaluate('held', 'return process.env.HOME');
    expect(home).toBe(join(hub.folder, 'data', 'sandbox', 'held'));
    await evaluate('held', `(await load('node:fs')).writeFileSync(process.env.HOME + '/kept', 'kept')`);
    expect(readFileSync(join(home, 'kept'), 'utf8')).toBe('kept');
    for (const other of ['other', 'reaching', 'byDefault'])
      expect(await evaluate(other, reading(join(home, 'kept')))).toBe('failed: ENOENT');
  });

  test('sees neither the data folder nor the settings', async () => {
    for (const server of ['held', 'reaching', 'byDefault'])
      for (const file of ['data/hub.secret', 'data/jwt.secret', 'data/hub.lock', 'mcp_settings.json'])
        expect(await evaluate(server, reading(join(hub.folder, file)))).toBe('failed: ENOENT');
    expect(existsSync(join(hub.folder, 'data/hub.secret'))).toBe(true);
    const list = `return (await load('node:fs')).readdirSync(${JSON.stringify(hub.folder)}).join()`;
    expect(await evaluate('held', list)).toBe('data');
  });

  test('sees no process but its own, and can signal none', async () => {
    const seen = `return (await load('node:fs')).readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length`;
    expect(Number(await evaluate('held', seen))).toBeLessThan(5);
    for (const server of ['held', 'reaching']) {
      expect(await evaluate(server, `process.kill(${process.pid}, 0); return 'there'`)).toBe('failed: ESRCH');
      expect(await evaluate(server, reading(`/proc/${process.pid}/environ`))).toBe('failed: ENOENT');
    }
    const environments = `const fs = await load('node:fs');
      return fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((pid) => {
        try { return fs.readFileSync('/proc/' + pid + '/environ', 'utf8') } catch { return '' }
      }).join()`;
    expect(await evaluate('held', environments)).not.toContain(secret);
  });

  test('gets nothing of the environment of the hub but what programs need to run', async () => {
    const names = (await evaluate('held', 'return Object.keys(process.env).join()')).split(',');
    const allowed =
      /^(PATH|HOME|TMPDIR|LANG|LC_\w+|TZ|TERM|TOOLHUB_OWNER|PWD|\w*(PROXY|proxy|registry|REGISTRY|INDEX)\w*)$/;
    expect(names.filter((name) => !allowed.test(name))).toEqual([]);
  });

  test('reaches no network without being let, not even the hub, and the host with "host"', async () => {
    const ask = `return (await fetch(${JSON.stringify(`${hub.url}/health`)})).status`;
    expect(await evaluate('held', ask)).toMatch(/^failed: E/);
    expect(await evaluate('byDefault', ask)).toMatch(/^failed: E/);
    expect(await evaluate('reaching', ask)).toBe('200');
  });

  test('has no sockets of the machine and no right of root', async () => {
    for (const path of ['/run', '/var/run', '/tmp'])
      expect(await evaluate('held', `return (await load('node:fs')).existsSync('${path}/docker.sock')`)).toBe('false');
    const status = await evaluate('held', reading('/proc/self/status'));
    expect(status).toMatch(/CapEff:\s+0+\n/);
    expect(status).toMatch(/NoNewPrivs:\s+1\n/);
  });

  test('has the bounds of its settings, or says why it has not', async () => {
    const { body } = await api(hub, 'GET', '/servers/bounded', { token: admin });
    const { unbounded, ...sandbox } = (body.data as { sandbox: Record<string, unknown> }).sandbox;
    expect(sandbox).toEqual({ network: 'none', read, write: [], ...bounds });
    expect(unbounded).toBe(boundsObstacle(bounds));
  });

  test.runIf(holds.processes)('gets no more processes than its bound', async () => {
    await setBounds({ processes: bounds.processes });
    const start = `const { spawn } = await load('node:child_process');
      const started = Array.from({ length: 60 }, () => spawn('sleep', ['20']).on('error', () => {}));
      const running = started.filter(({ pid }) => pid !== undefined);
      for (const one of running) one.kill();
      return running.length`;
    const count = Number(await evaluate('bounded', start));
    expect(count).toBeGreaterThan(5);
    expect(count).toBeLessThan(bounds.processes);
  });

  test.runIf(holds.memory)('is ended as a whole when it takes more memory than its bound, and comes back', async () => {
    await setBounds({ memoryMb: bounds.memoryMb });
    const take = `const all = []; for (let n = 0; n < 64; n++) all.push(Buffer.alloc(16 * 1024 * 1024, 1)); return 'took'`;
    expect(await evaluate('bounded', take)).not.toBe('took');
    await until('the log names the bound', async () => {
      const { body } = await api(hub, 'GET', '/logs?service=server:bounded', { token: admin });
      return JSON.stringify(body).includes('sandbox.memoryMb');
    });
    await hub.connected(6);
    expect(await evaluate('bounded', `return 'back'`)).toBe('back');
  });

  test('leaves no home to a later server of its name', async () => {
    const home = await evaluate('other', 'return process.env.HOME');
    expect(existsSync(home)).toBe(true);
    expect((await api(hub, 'DELETE', '/servers/other', { token: admin })).status).toBe(200);
    expect(existsSync(home)).toBe(false);
  });

  test('ends with the hub: no process of it is left', async () => {
    const owner = join(temporaryFolder(), 'alive');
    const own = await testHub({
      mcpServers: { held: { ...program, sandbox: { read, write: [dirname(owner)] } } },
    });
    await own.connected(1);
    const { body } = await api(own, 'POST', '/tools/call/held', {
      token: await login(own),
      body: {
        toolName: 'evaluate',
        arguments: {
          code: `(await load('node:child_process')).spawn('sleep', ['987654'], { detached: true, stdio: 'ignore' }).unref();`,
        },
      },
    });
    expect(body.success).toBe(true);
    const sleeping = () => execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' }).includes('sleep 987654');
    await until('it sleeps', sleeping);
    await own.close();
    await until('its child is gone', () => !sleeping());
  });
});

describe('a sandbox that cannot be made', () => {
  test.runIf(canSandbox)('keeps the server from starting, with the reason by name', async () => {
    const wanted = {
      nowhere: 'sandbox_path',
      thief: 'sandbox_secret',
      forger: 'sandbox_secret',
      greedy: 'sandbox_secret',
      around: 'sandbox_secret',
      beside: 'sandbox_secret',
      lost: 'script_not_found',
    };
    for (const [name, code] of Object.entries(wanted)) {
      const found = await until(`${name} says why`, async () =>
        (await states()).find((s) => s.name === name && s.reason),
      );
      expect([name, found.reason?.code]).toEqual([name, code]);
    }
    const { reason } = (await states()).find(({ name }) => name === 'nowhere') ?? {};
    expect(reason?.text).toContain('/does/not/exist');
  });

  test('is no reason to run without one: a hub that finds no bubblewrap starts nothing', async () => {
    const own = await testHub({
      mcpServers: { held: { ...program, sandbox: { read } } },
      env: { PATH: temporaryFolder() },
    });
    const token = await login(own);
    const found = await until('it says why', async () => {
      const { body } = await api(own, 'GET', '/servers/held', { token });
      const { reason } = body.data as { reason?: { code: string; advice: string } };
      return reason;
    });
    expect(found.code).toBe('sandbox_missing');
    expect(found.advice).toContain('bubblewrap');
  });
});
