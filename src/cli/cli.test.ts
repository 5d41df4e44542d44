import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { watch } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { runProgram, startProgram } from '../../test/kit/command.ts';
import { embeddingService } from '../../test/kit/embedding-service.ts';
import { until } from '../../test/kit/until.ts';
import { version } from '../version.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolhub-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the built program in an empty folder, with nothing of the tester's environment. */
const toolhub = (args: string[], env: Record<string, string> = {}) => runProgram({ args, env, cwd: folder });

/** The same, in a process of its own each time. */
const alone = (args: string[], env: Record<string, string> = {}) => startProgram({ args, env, cwd: folder }).ended;

/** A server in a few lines: enough of the protocol to be connected to and to list one tool. */
const tinyServer = `
const answers = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'tiny', version: '1' } },
  'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' } }] },
};
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'tools/call') return console.error('the call has arrived');
  if (id !== undefined) console.log(JSON.stringify(answers[method]
    ? { jsonrpc: '2.0', id, result: answers[method] }
    : { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }));
});`;

/** A hub in a process of its own, on any free port, ended by its id however the test ends. */
function startServe(env: Record<string, string>) {
  const child = spawn(process.execPath, [resolve('dist/cli.js'), 'serve', '--port', '0'], {
    cwd: folder,
    // Making the embedded database takes longer than all else that a start does; one test has it.
    env: { DB_URL: 'off', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let seen = '';
  const heard = new EventEmitter();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    seen += chunk;
    heard.emit('more');
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    output: () => seen,
    async says(pattern: RegExp): Promise<void> {
      const signal = AbortSignal.timeout(15_000);
      while (!pattern.test(seen)) {
        await once(heard, 'more', { signal }).catch(() => {
          throw new Error(`The hub never said ${String(pattern)}, only:\n${seen}`);
        });
      }
    },
    exitCode: async () => (await ended)[0],
  };
}

describe('toolhub serve', () => {
  beforeEach(() => {
    const mcpServers = {
      tiny: { command: process.execPath, args: ['-e', tinyServer] },
      gone: { command: './no-such-program' },
    };
    writeFileSync(join(folder, 'mcp_settings.json'), JSON.stringify({ mcpServers }));
  });
  afterEach(() => readdirSync(folder).forEach((name) => rmSync(join(folder, name), { recursive: true })));

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'tells where it is and what its servers do, and stops in order on %s',
    async (signal) => {
      const hub = startServe({ LOG_FORMAT: 'pretty', DB_URL: signal === 'SIGTERM' ? '' : 'off' });
      await hub.says(/✓ tiny +1 tool /);
      await hub.says(/✗ gone .*no-such-program/);
      const [, address = ''] = /MCP +(http:\S+)/.exec(hub.output()) ?? [];
      expect(new URL(address).pathname).toBe('/mcp');
      expect(hub.output()).toMatch(/First admin: username admin, password \S{8,}/);
      const health = (await (await fetch(new URL('/health', address))).json()) as { servers: unknown };
      expect(health.servers).toEqual({ total: 2, connected: 1, disconnected: 1 });
      hub.child.kill(signal);
      expect(await hub.exitCode()).toBe(0);
    },
  );

  test('writes nothing but JSON lines with LOG_FORMAT=json', async () => {
    const hub = startServe({ LOG_FORMAT: 'json', ADMIN_PASSWORD: 'correct horse' });
    await hub.says(/Server tiny: connected/);
    hub.child.kill('SIGTERM');
    expect(await hub.exitCode()).toBe(0);
    const lines = hub.output().trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as { message: string; fields?: { mcpUrl?: string } });
    const ready = entries.find(({ message }) => message === `Tool Hub ${version} is ready`);
    expect(ready?.fields?.mcpUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect(hub.output()).not.toContain('correct horse');
  });

  test('ends at once, with exit code 1, when it is told a second time', async () => {
    const hub = startServe({ LOG_FORMAT: 'pretty' });
    await hub.says(/✓ tiny/);
    const [, address = ''] = /MCP +(http:\S+)/.exec(hub.output()) ?? [];
    const post = (method: string, params: unknown) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      return fetch(address, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    };
    await until('the tool is offered', async () => (await (await post('tools/list', {})).text()).includes('tiny-one'));
    // A call that never ends keeps the first stop waiting.
    const call = post('tools/call', { name: 'tiny-one', arguments: {} });
    const outcome = call.then(
      () => 'answered',
      () => 'cut off',
    );
    await hub.says(/the call has arrived/);
    hub.child.kill('SIGTERM');
    hub.child.kill('SIGINT');
    expect(await hub.exitCode()).toBe(1);
    expect(await outcome).toBe('cut off');
  });

  test('that finds its port taken says so, exit code 1', async () => {
    const first = startServe({ LOG_FORMAT: 'pretty' });
    await first.says(/MCP +http/);
    const port = /MCP +http:\/\/[\d.]+:(\d+)/.exec(first.output())?.[1] ?? '';
    const { code, stderr } = await alone(['--port', port, '--data-dir', 'other']);
    expect(code).toBe(1);
    expect(stderr).toContain(port);
  });

  test('that fails at its first start makes no admin yet: the password is shown by the one that succeeds', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const failed = await alone(['--port', String(port)], { LOG_FORMAT: 'pretty' });
    taken.close();
    expect([failed.code, failed.stdout]).toEqual([1, expect.not.stringContaining('password')]);
    const hub = startServe({ LOG_FORMAT: 'pretty' });
    await hub.says(/First admin: username admin, password \S{8,}/);
  });

  test('that waits for its first settings in a database that is away stops in order all the same', async () => {
    const hub = startServe({ LOG_FORMAT: 'pretty', DB_URL: 'postgres://nobody@127.0.0.1:9/none' });
    await hub.says(/The database is not available/);
    hub.child.kill('SIGTERM');
    expect(await hub.exitCode()).toBe(0);
  });

  test('that is told to stop before it is up still shows the first password, if it made one', async () => {
    const made = watch(folder, { signal: AbortSignal.timeout(15_000) });
    const hub = startServe({ LOG_FORMAT: 'pretty' });
    for await (const { filename } of made) if (filename === 'data') break;
    hub.child.kill('SIGTERM');
    expect(await hub.exitCode()).toBe(0);
    expect(hub.output()).toMatch(/First admin: username admin, password \S{8,}/);
  });
});

describe('toolhub doctor', () => {
  const settle = (mcpServers: unknown) =>
    writeFileSync(join(folder, 'mcp_settings.json'), JSON.stringify({ mcpServers }));
  afterEach(() => rmSync(join(folder, 'mcp_settings.json'), { force: true }));

  test('really connects to the servers: exit code 0 when all is well', async () => {
    settle({ tiny: { command: process.execPath, args: ['-e', tinyServer] } });
    const { code, stdout, stderr } = await toolhub(['doctor', '--port', '0']);
    expect(stdout).toMatch(/✓ server tiny +1 tool /);
    expect([code, stderr]).toEqual([0, '']);
    expect(readdirSync(folder)).toEqual(['mcp_settings.json']);
  });

  test('exit code 1 when a server is broken; its secrets are not in the report', async () => {
    settle({
      dies: {
        command: 'sh',
        args: ['-c', 'echo key: $KEY >&2; exit 3'],
        env: { KEY: 'sekret-12345', PATH: '/bin:/usr/bin' },
      },
    });
    const { code, stdout } = await toolhub(['doctor', '--port', '0', '--json'], { PATH: '/bin:/usr/bin' });
    const { ok, checks } = JSON.parse(stdout) as {
      ok: boolean;
      checks: { name: string; status: string; detail: string }[];
    };
    expect([code, ok]).toEqual([1, false]);
    expect(checks.find(({ name }) => name === 'server dies')).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('key: ••••') as string,
    });
    expect(stdout).not.toContain('sekret');
  });

  test('asks the embedding service of the environment; its key is not in the report, whatever the service says', async () => {
    const key = 'sk-canary-of-a-key';
    const service = await embeddingService();
    service.fail({ status: 401, body: `Incorrect API key provided: ${key}` });
    const { code, stdout } = await toolhub(['doctor', '--port', '0'], {
      OPENAI_API_KEY: key,
      OPENAI_API_BASE_URL: service.url,
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/! embedding service .*refused the key \(401\)\n +Incorrect API key provided: ••••/);
    expect(stdout).not.toContain(key);
  });

  test.each([
    [{ PORT: '99999' }, {}, /environment[\s\S]*PORT/],
    [{ PORT: '0' }, { a: { command: 7 } }, /mcpServers\.a\.command/],
  ])('exit code 2 when something configured is not accepted: %j %j', async (env, mcpServers, message) => {
    settle(mcpServers);
    const { code, stdout } = await toolhub(['doctor'], env);
    expect(code).toBe(2);
    expect(stdout).toMatch(message);
  });
});

describe('toolhub', () => {
  test.each([['--version'], ['-v'], ['doctor', '--version']])('%s %s prints the version', async (...args) => {
    expect(await toolhub(args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test.each([['--help'], ['-h'], ['help']])('%s lists the commands and the flags', async (...args) => {
    const { code, stdout, stderr } = await toolhub(args);
    expect([code, stderr]).toEqual([0, '']);
    for (const word of ['toolhub serve', 'toolhub doctor', '--port', 'SETTINGS_PATH']) expect(stdout).toContain(word);
  });

  test.each([
    ['help', 'doctor'],
    ['doctor', '--help'],
  ])('%s %s explains one command', async (...args) => {
    const { code, stdout } = await toolhub(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^toolhub doctor: .*\n[\s\S]*--json/);
  });

  test.each([
    ['stdout', ['help'], 0],
    ['stdout', ['doctor', '--port', '0', '--settings', 'broken.json', '--json'], 2],
    ['stderr', ['frobnicate'], 2],
  ] as const)('without a reader of %s %j comes to its own end, silently', async (which, args, code) => {
    writeFileSync(join(folder, 'broken.json'), '{');
    const program = [resolve('dist/cli.js'), ...args];
    const child = spawn(process.execPath, program, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit');
    child[which].destroy();
    const other = which === 'stdout' ? child.stderr : child.stdout;
    expect([await text(other), await ended]).toEqual(['', [code, null]]);
  });

  test.each([['frobnicate'], ['help', 'frobnicate']])(
    '%s %s: an unknown command gets the help on stderr and exit code 2',
    async (...args) => {
      const { code, stdout, stderr } = await toolhub(args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('There is no command "frobnicate"');
      expect(stderr).toContain('toolhub serve');
    },
  );

  test.each([
    [['--frobnicate'], /--frobnicate[\s\S]*toolhub help serve/],
    [['doctor', '--port'], /--port[\s\S]*toolhub help doctor/],
    [['serve', 'extra'], /extra[\s\S]*toolhub help serve/],
    [['tools', '--frobnicate'], /^toolhub: Unknown option '--frobnicate'\.\nRun "toolhub help tools"/],
    [
      ['login', '--username', '--url'],
      /^toolhub: Option '--username' argument is ambiguous\.\nRun "toolhub help login"/,
    ],
    [['call', 'echo', '--group', '--raw'], /^toolhub: Option '--group' argument is ambiguous\.\n$/],
  ])('%j: a bad flag is named, exit code 2', async (args, message) => {
    const { code, stderr } = await toolhub(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test.each([
    [['serve'], { PORT: 'abc' }, /PORT: found "abc"/],
    [['--port', '70000'], {}, /PORT: found "70000"/],
    [[], { LOG_LEVEL: 'loud' }, /LOG_LEVEL/],
  ])('%j %j: a malformed setting stops the start with exit code 2 and names it', async (args, env, message) => {
    const { code, stdout, stderr } = await toolhub(args, env);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });
});
