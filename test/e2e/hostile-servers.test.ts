import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogEntry } from '../../src/core/log-entry.ts';
import { upstreamLimits } from '../../src/upstream/limits.ts';
import { api, login } from '../kit/api.ts';
import { freePort } from '../kit/processes.ts';
import { hostileHttp, hostileStdio } from '../kit/hostile.ts';
import type { HostileOptions } from '../kit/hostile.ts';
import { setLimits } from '../kit/limits.ts';
import { raw, type RawAnswer, rpc } from '../kit/raw.ts';
import { session } from '../kit/sessions.ts';
import { testHub } from '../kit/test-hub.ts';
import type { TestHub } from '../kit/test-hub.ts';
import { until, within } from '../kit/until.ts';

// One bad server beside a good one: whatever it does, the hub answers, the good one works, and the end is orderly.

const good = await hostileHttp({ name: 'good', tools: ['echo', 'delay'] });
const call = (hub: TestHub, name: string, args: unknown = {}) =>
  rpc(hub.mcp(), 'tools/call', { name, arguments: args });
const tools = async (hub: TestHub, scope = '') =>
  ((await rpc(hub.mcp(scope), 'tools/list', {})).result?.tools ?? []).map((tool) => tool.name);

async function goodServerWorks(hub: TestHub): Promise<void> {
  await until('the good server is listed', async () => (await tools(hub)).includes('good-delay'));
  const answer = await within('a call to the good server', call(hub, 'good-delay', { tag: 'fine' }));
  expect(answer.result?.content?.[0]?.text).toBe('fine');
  expect((await raw(new URL('/health', hub.url).href, { method: 'GET' })).status).toBe(200);
}

async function state(hub: TestHub, name: string) {
  return hub.hub.servers().find((server) => server.name === name);
}

const never: [string, HostileOptions][] = [
  ['never answers initialize', { silentOn: ['initialize'] }],
  ['reads nothing and says nothing', { deaf: true }],
  ['refuses initialize', { errorOn: ['initialize'] }],
  ['ends at once', { exitAt: 'start' }],
  ['ends well at once', { exitAt: 'start', exitCode: 0 }],
  ['ends when initialize arrives', { exitAt: 'initialize' }],
  ['ends when it is initialized', { exitAt: 'notifications/initialized' }],
  ['ends when tools are listed', { exitAt: 'tools/list' }],
  ['answers initialize with a text', { initializeResult: '"hello"' }],
  ['answers initialize with null', { initializeResult: 'null' }],
  ['answers initialize with an unknown revision', { protocolVersion: '1999-01-01' }],
  ['prints a line without an end', { floodBytes: 5 * 1024 * 1024, silentOn: ['initialize'] }],
];
/** Of a server whose messages, and lines without an end, must be shorter than by default. */
const atMostOneMb = { options: { maxBufferSize: 1024 * 1024 } };

/** One hub for many tests, each of which looks at one of its servers. */
function besideGood(servers: () => Promise<Record<string, Record<string, unknown>>>): () => TestHub {
  let hub: TestHub | undefined;
  beforeAll(async () => {
    hub = await testHub({
      mcpServers: { ...(await servers()), good: good.config },
      env: { CONNECT_TIMEOUT_MS: '1000' },
    });
  });
  afterAll(async () => {
    await goodServerWorks(started());
    await within('the end of the hub', started().close());
  });
  const started = () => {
    if (hub === undefined) throw new Error('The hub was not started.');
    return hub;
  };
  return started;
}

async function isRefused(hub: TestHub, name: string): Promise<void> {
  expect((await tools(hub)).filter((tool) => tool.startsWith(`${name}-`))).toEqual([]);
  const refused = await within('a call to the bad server', call(hub, `${name}-echo`));
  expect(refused.error?.code).toBeLessThan(0);
  await until('its state is told', async () => {
    const seen = await state(hub, name);
    return ['disconnected', 'oauth_required'].includes(seen?.status ?? '') && (seen?.error ?? '') !== '';
  });
}

describe('beside a good server', () => {
  const hub = besideGood(async () =>
    Object.fromEntries(
      never.map(([, does], i) => [`bad${i}`, { ...hostileStdio({ name: `bad${i}`, ...does }).config, ...atMostOneMb }]),
    ),
  );
  test.each(never.map(([what], i) => [what, `bad${i}`]))('a server that %s harms no other', async (_, name) => {
    await goodServerWorks(hub());
    await isRefused(hub(), name);
  });
});

test('what a server said before it ended is part of why it is not connected', async () => {
  const bad = hostileStdio({ exitAt: 'start', exitCode: 3, lastWords: 'FATAL: the key MY_KEY is missing' });
  const hub = await testHub({ mcpServers: { bad: bad.config } });
  await until('the reason is told', async () => (await state(hub, 'bad'))?.error?.includes('MY_KEY is missing'));
});

test('a program that talks on stdout is told by what it printed, when it does not answer and when it ends', async () => {
  const prints = (then: string) => ({ command: process.execPath, args: ['-e', `console.log('Hello there'); ${then}`] });
  const hub = await testHub({
    mcpServers: { silent: prints('setInterval(() => {}, 1e6)'), ends: prints('process.exitCode = 4') },
    env: { CONNECT_TIMEOUT_MS: '1000' },
  });
  const told = async (name: string) => (await state(hub, name))?.error ?? '';
  await until('it is told', async () => (await told('silent')).includes('did not answer'));
  await until('it is told', async () => (await told('ends')).includes('exited with code 4'));
  for (const name of ['silent', 'ends'])
    expect(await told(name)).toContain('It printed to stdout what is no MCP message: "Hello there".');
  const codes = await Promise.all(['silent', 'ends'].map(async (name) => (await state(hub, name))?.reason?.code));
  expect(codes).toEqual(['stdout_noise', 'exited_after_noise']);
});

test('a command that does not exist is said to be missing', async () => {
  const hub = await testHub({
    mcpServers: {
      bad: { command: 'no-such-command-here', args: [] },
      dir: { command: '/tmp' },
      cwd: { command: process.execPath, args: ['-v'], cwd: '/no/such/folder' },
      good: good.config,
    },
  });
  await goodServerWorks(hub);
  await until('the reason names the command', async () =>
    (await state(hub, 'bad'))?.error?.includes('no-such-command-here'),
  );
  await until(
    'all are told',
    async () =>
      (await state(hub, 'dir'))?.status === 'disconnected' && (await state(hub, 'cwd'))?.status === 'disconnected',
  );
});

test('a server that dies on its first call fails that call at once, and is back for the next', async () => {
  const bad = hostileStdio({ name: 'bad', exitAt: 'tools/call' });
  const hub = await testHub({ mcpServers: { bad: bad.config, good: good.config } });
  await hub.connected(2);
  const first = await within('a call to a dying server', call(hub, 'bad-echo', { tag: 'deadly' }));
  expect(first.error?.code).toBeLessThan(0);
  expect(first.error?.message).toContain('bad');
  await goodServerWorks(hub);
  await until('it was started again', () => bad.pids().length >= 2);
  // A call that may have had its effect is never sent a second time.
  expect(bad.received('tools/call')).toHaveLength(1);
});

test('all calls in flight fail when their server dies, and a tool of a server that is away is refused with the reason', async () => {
  const bad = hostileStdio({ name: 'bad' });
  const hub = await testHub({ mcpServers: { bad: bad.config } });
  await hub.connected(1);
  const own = await session(hub.mcp());
  const waiting = Array.from({ length: 20 }, () => own.call('bad-hang'));
  await until('all arrived', () => bad.received('tools/call').length === 20);
  await bad.control({ exit: 9 });
  for (const answer of await within('the failing calls', Promise.all(waiting)))
    expect(answer.error?.message).toContain('bad');
  await until(
    'it is back',
    async () => (await call(hub, 'bad-delay', { tag: 'again' })).result?.content?.[0]?.text === 'again',
  );
  expect(bad.received('tools/call').filter((one) => one.params['name'] === 'hang')).toHaveLength(20);
  expect((await own.request('ping')).result).toEqual({});
});

test('what is no JSON-RPC between the messages is skipped', async () => {
  const noise = [
    'Server started on stdio!',
    '',
    '{',
    'null',
    '[]',
    '[1,2]',
    '"text"',
    '{"jsonrpc":"2.0"}',
    '{"id":1}',
    '{"jsonrpc":"2.0","method":7}',
    '\u001b[31mred\u001b[0m',
    '{"jsonrpc":"2.0","id":{},"result":{}}',
    '\u0000\u0001',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":null}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    '{"jsonrpc":"2.0","id":"x","method":"ping"}',
    '{"jsonrpc":"2.0","id":7,"method":"no/such/request"}',
    `{"jsonrpc":"2.0","method":"${'m'.repeat(10_000)}"}`,
  ];
  const bad = hostileStdio({ name: 'bad', noise, firstWords: '\uFEFFwelcome\r\n\r\n', lineEnd: '\r\n' });
  const hub = await testHub({ mcpServers: { bad: bad.config, good: good.config } });
  await hub.connected(2);
  for (let i = 0; i < 5; i++) {
    expect((await call(hub, 'bad-delay', { tag: `n${i}` })).result?.content?.[0]?.text).toBe(`n${i}`);
  }
  await goodServerWorks(hub);
});

test('messages that come in crumbs, or many at once, are put together', async () => {
  const crumbs = hostileStdio({ name: 'crumbs', fragmentBytes: 3 });
  const hub = await testHub({ mcpServers: { crumbs: crumbs.config } });
  await hub.connected(1);
  const tag = 'ü€😀'.repeat(50);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => call(hub, 'crumbs-delay', { tag: `${tag}${i}` })),
  );
  expect(answers.map((answer) => answer.result?.content?.[0]?.text)).toEqual(answers.map((_, i) => `${tag}${i}`));
});

test.each(['stdio', 'http'] as const)(
  'wrong answers over %s reach no caller, right ones their caller',
  async (kind) => {
    const bad = kind === 'stdio' ? hostileStdio({ name: 'bad' }) : await hostileHttp({ name: 'bad' });
    const hub = await testHub({ mcpServers: { bad: bad.config, good: good.config } });
    await hub.connected(2);
    const own = await session(hub.mcp());
    const events = await own.listen();
    for (const tool of ['twice', 'stranger', 'id_as_text', 'late_progress', 'foreign_progress']) {
      const answer = await own.call(`bad-${tool}`, { tag: tool }, { meta: { progressToken: 5 } });
      expect(answer.result?.content?.[0]?.text, tool).toBe(tool);
      const foreign = answer.messages.filter(
        (message) => message.method === 'notifications/progress' && message.params?.progressToken !== 5,
      );
      expect(foreign, tool).toEqual([]);
    }
    // Neither result nor error, or both: the caller hears something definite all the same.
    for (const tool of ['neither', 'both']) {
      const answer = await within(tool, own.call(`bad-${tool}`, { tag: tool }));
      expect(answer.error !== undefined || answer.result?.content?.[0]?.text === tool, tool).toBe(true);
    }
    await goodServerWorks(hub);
    expect(JSON.stringify(events.messages)).not.toContain('for nobody');
    expect((await call(hub, 'bad-delay', { tag: 'end' })).result?.content?.[0]?.text).toBe('end');
  },
);

test.each(['stdio', 'http'] as const)(
  'answers over %s to requests that were not made yet reach no later caller, and are told once',
  async (kind) => {
    const bad = kind === 'stdio' ? hostileStdio({ name: 'bad' }) : await hostileHttp({ name: 'bad' });
    const hub = await testHub({ mcpServers: { bad: bad.config, good: good.config }, env: { LOG_LEVEL: 'info' } });
    await hub.connected(2);
    const [attacker, own] = await Promise.all([session(hub.mcp()), session(hub.mcp())]);
    const guessed: RawAnswer[] = [];
    const guesses = attacker.call('bad-guess', { tag: 'done' }).then((answer) => guessed.push(answer));
    for (let n = 0; guessed.length === 0; n++) {
      const answer = await own.call('bad-delay', { tag: `call ${n}`, ms: 20 }, { meta: { progressToken: n } });
      expect(answer.result?.content?.[0]?.text).toBe(`call ${n}`);
      expect(answer.messages).toHaveLength(1);
    }
    await guesses;
    expect(guessed[0]?.result?.content?.[0]?.text).toBe('done');
    const log = await api(hub, 'GET', '/logs?service=server:bad', { token: await login(hub) });
    const told = (log.body.data as LogEntry[]).filter(({ message }) => message.includes('answers to no request'));
    expect(told.map(({ level }) => level)).toEqual(['warn']);
  },
);

test('ten thousand tools over twenty pages are listed whole and called by name', async () => {
  const big = await hostileHttp({ name: 'big', tools: 10_000, pageSize: 500 });
  const hub = await testHub({ mcpServers: { big: big.config, good: good.config } });
  await goodServerWorks(hub);
  await until('all are listed', async () => (await tools(hub, 'big')).length === 10_000);
  expect(big.received('tools/list').map((request) => request.params['cursor'] ?? 'first')).toEqual([
    'first',
    ...Array.from({ length: 19 }, (_, i) => `page:${(i + 1) * 500}`),
  ]);
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await rpc(hub.mcp(), 'tools/list', cursor === undefined ? {} : { cursor });
    names.push(...(page.result?.tools ?? []).map((tool) => tool.name));
    cursor = page.result?.nextCursor;
  } while (cursor !== undefined);
  expect(new Set(names).size).toBe(10_002);
  const answer = await call(hub, 'big-tool_09999', { id: 'x' });
  expect(answer.result?.structuredContent).toMatchObject({ tool: 'tool_09999' });
});

test.each([{ cursorLoop: true }, { endless: true }])(
  'a list that never ends (%o) is cut, and the server stays usable',
  async (options) => {
    setLimits(upstreamLimits, { listPages: 100 });
    const bad = await hostileHttp({ name: 'bad', tools: ['delay'], ...options });
    const hub = await testHub({ mcpServers: { bad: bad.config, good: good.config } });
    await goodServerWorks(hub);
    await until('the list is left', async () => (await tools(hub)).some((name) => name.startsWith('bad-')));
    expect(bad.received('tools/list').length).toBeLessThanOrEqual(upstreamLimits.listPages);
    const listed = (await tools(hub)).filter((name) => name.startsWith('bad-'));
    expect(new Set(listed).size).toBe(listed.length);
    const [name = ''] = listed;
    expect((await call(hub, name, { tag: 'x' })).result).toBeDefined();
  },
  60_000,
);

test.each([['tools/list'], ['prompts/list'], ['resources/list'], ['resources/templates/list']])(
  'a server that never answers %s still offers the rest, and keeps no caller waiting',
  async (method) => {
    const bad = await hostileHttp({
      name: 'bad',
      tools: ['echo'],
      prompts: [{ name: 'p' }],
      resources: [{ uri: 'bad://r', name: 'r' }],
      silentOn: [method],
    });
    const hub = await testHub({
      mcpServers: { bad: bad.config, good: good.config },
      env: { CONNECT_TIMEOUT_MS: '1500', REQUEST_TIMEOUT_MS: '1500' },
    });
    await goodServerWorks(hub);
    if (method === 'tools/list') return;
    await until('its tools are there', async () => (await tools(hub)).includes('bad-echo'));
    expect((await call(hub, 'bad-echo', { tag: 'x' })).result?.structuredContent).toMatchObject({ tag: 'x' });
  },
);

test('one broken tool does not take the others with it', async () => {
  const bad = await hostileHttp({
    name: 'bad',
    toolTexts: [
      'null',
      '7',
      '"text"',
      '[]',
      '{}',
      '{"name":7}',
      '{"name":""}',
      '{"name":null,"inputSchema":{}}',
      '{"name":"no_schema"}',
      '{"name":"odd_schema","inputSchema":"none"}',
      '{"name":"deep","inputSchema":{"$ref":"#/properties/x","properties":{"x":{"$ref":"#"}}}}',
      '{"name":"fine","inputSchema":{"type":"object"}}',
      '{"name":"fine","inputSchema":{"type":"object"},"description":"a second of the same name"}',
      '{"name":"__proto__","inputSchema":{"type":"object"}}',
      '{"name":"constructor","inputSchema":{"type":"object"}}',
    ],
  });
  const hub = await testHub({ mcpServers: { bad: bad.config, good: good.config } });
  await goodServerWorks(hub);
  await until('the fine tool is listed', async () => (await tools(hub)).includes('bad-fine'));
  const names = await tools(hub);
  expect(names.filter((name) => name === 'bad-fine')).toHaveLength(1);
  expect(names.every((name) => typeof name === 'string' && name !== '' && name !== 'bad-')).toBe(true);
  for (const tool of ['__proto__', 'constructor', 'fine']) {
    expect((await call(hub, `bad-${tool}`)).result?.structuredContent, tool).toMatchObject({ tool });
    expect((await rpc(hub.mcp('bad'), 'tools/call', { name: tool })).result?.structuredContent, tool).toMatchObject({
      tool,
    });
  }
});

const noLists = ['{}', '{"tools":null}', '{"tools":{}}', '{"tools":"x"}', '[]', 'null', '7'];

describe('beside a good server', () => {
  const hub = besideGood(async () => {
    const servers: Record<string, Record<string, unknown>> = {};
    for (const [i, listText] of noLists.entries()) {
      const name = `bad${i}`;
      servers[name] = (await hostileHttp({ name, prompts: [{ name: 'p' }], listText })).config;
    }
    return servers;
  });
  test.each(noLists.map((text, i) => [text, `bad${i}`]))(
    'a tools/list answered with %s is a server without tools',
    async (_, name) => {
      await goodServerWorks(hub());
      expect((await tools(hub())).filter((tool) => tool.startsWith(name))).toEqual([]);
    },
  );
});

test.each(['stdio', 'http'] as const)(
  'a result of twenty megabytes passes whole (%s), while others are served',
  async (kind) => {
    const bytes = 20 * 1024 * 1024;
    const big = kind === 'stdio' ? hostileStdio({ name: 'big' }) : await hostileHttp({ name: 'big' });
    const hub = await testHub({ mcpServers: { big: big.config, good: good.config } });
    await hub.connected(2);
    const large = call(hub, 'big-big', { bytes });
    const small = await within('a small call beside a large one', call(hub, 'good-delay', { tag: 'small' }));
    expect(small.result?.content?.[0]?.text).toBe('small');
    expect((await large).result?.content?.[0]?.text?.length).toBe(bytes);
  },
);

test('a message over the limit fails its call and nothing else', async () => {
  const big = hostileStdio({ name: 'big' });
  const hub = await testHub({
    mcpServers: { big: { ...big.config, ...atMostOneMb }, good: good.config },
  });
  await hub.connected(2);
  const answer = await within('a call with too large an answer', call(hub, 'big-big', { bytes: 5 * 1024 * 1024 }));
  expect(answer.error?.code).toBeLessThan(0);
  expect(answer.error?.message).toContain('"big"');
  await goodServerWorks(hub);
  await until(
    'the server is usable',
    async () => (await call(hub, 'big-delay', { tag: 'x' })).result?.content?.[0]?.text === 'x',
  );
});

const badHttp: [string, HostileOptions][] = [
  ['accepts and never answers', { hangHttp: true }],
  ['answers 500', { status: 500 }],
  ['answers 401', { status: 401 }],
  ['answers 404', { status: 404 }],
  ['answers with a web page', { fixedBody: '<html><body>Welcome</body></html>', fixedType: 'text/html' }],
  ['answers with JSON that is no answer', { fixedBody: '{"hello":"world"}' }],
  ['answers with broken JSON', { fixedBody: '{"jsonrpc":' }],
  ['answers with nothing', { fixedBody: '' }],
  ['answers with an empty event stream', { fixedBody: '', fixedType: 'text/event-stream' }],
  [
    'answers with a stream of nonsense',
    { fixedBody: 'data: {"jsonrpc"\n\nevent: x\ndata: \n\n: hi\n\nid\n\n', fixedType: 'text/event-stream' },
  ],
  ['cuts the answer to initialize', { cutStreamOn: 'initialize' }],
  ['cuts the answer to tools/list', { cutStreamOn: 'tools/list' }],
  ['never answers initialize', { silentOn: ['initialize'] }],
];

describe('beside a good server', () => {
  const hub = besideGood(async () => {
    const servers: Record<string, Record<string, unknown>> = {};
    for (const [i, [, options]] of badHttp.entries()) {
      const bad = await hostileHttp({ name: `bad${i}`, ...options });
      Object.assign(servers, { [`bad${i}`]: bad.config, [`auto${i}`]: { url: `${bad.url}/mcp` } });
    }
    return servers;
  });
  test.each(badHttp.map(([what], i) => [what, i] as const))('an HTTP server that %s harms no other', async (_, i) => {
    await goodServerWorks(hub());
    for (const name of [`bad${i}`, `auto${i}`]) await isRefused(hub(), name);
  });
});

test('no listener, an unknown host and a redirect elsewhere do no harm', async () => {
  const port = await freePort();
  const redirecting = await hostileHttp({ redirectTo: 'http://169.254.169.254/latest/meta-data' });
  const hub = await testHub({
    mcpServers: {
      refused: { type: 'streamable-http', url: `http://127.0.0.1:${port}/mcp` },
      unknown: { type: 'sse', url: 'http://no-such-host.invalid/sse' },
      redirecting: redirecting.config,
      good: good.config,
    },
    env: { CONNECT_TIMEOUT_MS: '1000' },
  });
  await goodServerWorks(hub);
  for (const name of ['refused', 'unknown', 'redirecting']) {
    await until(
      `the state of ${name} is told`,
      async () => (await state(hub, name))?.status === 'disconnected' && ((await state(hub, name))?.error ?? '') !== '',
    );
  }
});

test('an answer cut off on its way fails its call promptly', async () => {
  const bad = await hostileHttp({ name: 'bad' });
  const hub = await testHub({ mcpServers: { bad: bad.config, good: good.config } });
  await hub.connected(2);
  await bad.control({ set: { cutStreamOn: 'tools/call' } });
  const answer = await within('a call that is cut off', call(hub, 'bad-delay', { tag: 'x' }));
  expect(answer.error?.code).toBeLessThan(0);
  await bad.control({ set: { cutStreamOn: 'nothing' } });
  await until(
    'it works again',
    async () => (await call(hub, 'bad-delay', { tag: 'y' })).result?.content?.[0]?.text === 'y',
  );
  await goodServerWorks(hub);
});

test('event streams with any kind of line end are read', async () => {
  for (const sseLineEnd of ['\r\n', '\r']) {
    const odd = await hostileHttp({ name: 'odd', sseLineEnd });
    const hub = await testHub({ mcpServers: { odd: odd.config } });
    await hub.connected(1);
    expect((await call(hub, 'odd-delay', { tag: 'ok' })).result?.content?.[0]?.text, JSON.stringify(sseLineEnd)).toBe(
      'ok',
    );
    await hub.close();
  }
});

test('a server that asks for things no client can give is told so, and goes on', async () => {
  const bad = hostileStdio({ name: 'bad' });
  const hub = await testHub({ mcpServers: { bad: bad.config } });
  await hub.connected(1);
  const own = await session(hub.mcp());
  for (const method of ['ping', 'roots/list', 'sampling/createMessage', 'elicitation/create', 'no/such/method']) {
    const answer = await within(method, own.call('bad-ask', { method, params: {} }));
    const told = JSON.parse(answer.result?.content?.[0]?.text ?? 'null') as { code?: number };
    if (method === 'ping') expect(told).toEqual({});
    else expect(told.code, method).toBeLessThan(0);
  }
});

test('a child knows the environment it was given and none of the secrets of the hub', async () => {
  const server = hostileStdio({ name: 'nosy' });
  const hub = await testHub({
    mcpServers: { nosy: { ...server.config, env: { OWN_KEY: 'own value' } } },
    env: { JWT_SECRET: 'the secret of the hub, long enough', OPENAI_API_KEY: 'sk-do-not-tell' },
  });
  await hub.connected(1);
  const text = (await call(hub, 'nosy-environment')).result?.content?.[0]?.text ?? '';
  expect(text).toContain('own value');
  for (const secret of ['the secret of the hub', 'sk-do-not-tell', 'correct horse']) expect(text).not.toContain(secret);
  expect(JSON.parse(text)).not.toHaveProperty('ADMIN_PASSWORD');
});

test('a child that does not read what it is sent fails its own calls only', async () => {
  setLimits(upstreamLimits, { upstreamBacklogBytes: 4 * 1024 * 1024 });
  const deaf = hostileStdio({ name: 'deaf' });
  const hub = await testHub({ mcpServers: { deaf: deaf.config, good: good.config } });
  await hub.connected(2);
  const [child = 0] = deaf.pids();
  process.kill(child, 'SIGSTOP');
  const own = await session(hub.mcp());
  const big = 'x'.repeat(256 * 1024);
  const stuck = Array.from({ length: 24 }, () => own.call('deaf-delay', { tag: big }));
  await goodServerWorks(hub);
  process.kill(child, 'SIGCONT');
  const answers = await Promise.all(stuck);
  // What did not fit into the backlog was refused at once; everything that was taken is answered.
  expect(answers.every((answer) => answer.error !== undefined || answer.result?.content?.[0]?.text === big)).toBe(true);
  expect(answers.some((answer) => answer.result !== undefined)).toBe(true);
});
