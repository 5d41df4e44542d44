import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { channelLog, logLines, request } from '../../../../test/kit/channel-log.ts';
import type { ChannelLog, LogLines } from '../../../../test/kit/channel-log.ts';
import { atEnd } from '../../../../test/kit/at-end.ts';
import { isAlive, openFiles } from '../../../../test/kit/processes.ts';
import { until } from '../../../../test/kit/until.ts';
import type { Channel } from '../channel.ts';
import { upstreamLimits } from '../../limits.ts';
import { openReaper } from './reaper.ts';
import { openProgram } from './program.ts';
import type { StdioOptions } from './program.ts';

const script = resolve('test/kit/fixtures/stdio-script.mjs');
const inheritedEnv = { PATH: '/usr/bin:/bin' };

interface Opened {
  readonly channel: Channel;
  readonly events: ChannelLog;
  readonly log: LogLines;
}

function open(flags: readonly string[] = [], options: Partial<StdioOptions> = {}): Opened {
  const events = channelLog();
  const log = logLines();
  const reaper = openReaper();
  const channel = openProgram(
    {
      name: 'x',
      command: process.execPath,
      args: [script, ...flags],
      env: {},
      inheritedEnv,
      cwd: undefined,
      maxMessageBytes: 64 * 1024 * 1024,
      log,
      owner: 'owner:1:1',
      reaper,
      ...options,
    },
    events,
  );
  atEnd(async () => {
    await channel.close();
    await reaper.close();
  });
  return { channel, events, log };
}

async function pidOf({ channel, events }: Opened, id = 9_999): Promise<number> {
  channel.send(request(id, 'pid'));
  const { result } = await events.answer(id);
  return (result as { pid: number }).pid;
}

test('every request gets its answer, in the order the server wrote them', async () => {
  const { channel, events } = open();
  for (let id = 1; id <= 500; id++) channel.send(request(id, 'echo', { id, text: 'ü€😀' }));
  await events.answer(500);
  expect(events.heard.map(({ message }) => message.id)).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
  expect(events.heard[7]).toMatchObject({
    message: { result: { id: 8, text: 'ü€😀' } },
    text: '{"jsonrpc":"2.0","id":8,"result":{"id":8,"text":"ü€😀"}}',
    relatedTo: undefined,
  });
});

test('messages pass however the server cuts them, and several in one array', async () => {
  const { channel, events } = open();
  const raw = '\r\n{"id":1,"result":"ü€😀"}\r\n\n[{"id":2,"result":1.0},{"method":"note"}]\n';
  channel.send(request(7, 'drip', { base64: Buffer.from(raw).toString('base64') }));
  await until('all have come', () => events.heard.length === 3);
  expect(events.heard.map(({ text }) => text)).toEqual([
    '{"id":1,"result":"ü€😀"}',
    '{"id":2,"result":1.0}',
    '{"method":"note"}',
  ]);
});

test('a 20 MB answer arrives', async () => {
  const { channel, events } = open();
  channel.send(request(1, 'big', { bytes: 20_000_000 }));
  const { result } = await events.answer(1);
  expect((result as { text: string }).text).toHaveLength(20_000_000);
});

test('a 20 MB request arrives', async () => {
  const { channel, events } = open();
  channel.send(request(1, 'echo', { text: 'x'.repeat(20_000_000) }));
  const { result } = await events.answer(1);
  expect((result as { text: string }).text).toHaveLength(20_000_000);
});

test('an answer that is too large fails its own request and no other', async () => {
  const { channel, events } = open([], { maxMessageBytes: 100_000 });
  channel.send(request(1, 'big', { bytes: 200_000 }));
  channel.send(request(2, 'bigIdLast', { bytes: 200_000 }));
  channel.send(request(3, 'echo', {}));
  await events.answer(3);
  expect(events.failures.map(({ id, error }) => [id, error.code])).toEqual([
    [1, 'upstream_failed'],
    [2, 'upstream_failed'],
  ]);
  expect(events.failures[0]?.error.message).toMatch(/"x" has 0\.2 MiB and at most 100000|maxMessageBytes/);
});

test.each(['stdout', 'stderr'])('a flood of garbage on %s neither hurts nor fills the log', async (stream) => {
  const { channel, events, log } = open();
  channel.send(request(1, 'garbage', { lines: 300_000, stream }));
  channel.send(request(2, 'echo'));
  await events.answer(2);
  await events.answer(1);
  await channel.close();
  const level = stream === 'stdout' ? 'debug' : 'info';
  const lines = log.lines.filter((line) => line.level === level).map((line) => line.message);
  // Its beginning, its end, some seconds' share between, and how much was left out.
  expect(lines.length).toBeGreaterThan(upstreamLimits.serverLogBurstLines);
  expect(lines.length).toBeLessThan(upstreamLimits.serverLogBurstLines * 2);
  expect(lines[0]).toBe(stream === 'stdout' ? 'stdout is not JSON: this is not JSON' : 'this is not JSON');
  expect(lines.join('\n')).toMatch(/\(\d+ lines were left out here\)/);
});

test('a flood of messages is read with pauses, in order, and an answer behind it comes', async () => {
  const pauses = vi.spyOn(Readable.prototype, 'pause');
  atEnd(() => pauses.mockRestore());
  const { channel, events } = open();
  channel.send(request(1, 'chatter', { messages: upstreamLimits.floodPerSecond - 10 }));
  await events.answer(1);
  const before = pauses.mock.calls.length;
  channel.send(request(2, 'chatter', { messages: 20_000 }));
  await events.answer(2);
  expect(pauses.mock.calls.length).toBeGreaterThan(before);
  const numbers = events.heard.flatMap(({ message }) => (message.params as { n?: number } | undefined)?.n ?? []);
  expect(numbers).toEqual([
    ...Array.from({ length: upstreamLimits.floodPerSecond - 10 }, (_, i) => i + 1),
    ...Array.from({ length: 20_000 }, (_, i) => i + 1),
  ]);
});

test('a flood of answers to nothing that was asked is read with pauses too, and many answers are not', async () => {
  const pauses = vi.spyOn(Readable.prototype, 'pause');
  atEnd(() => pauses.mockRestore());
  const { channel, events } = open();
  const last = upstreamLimits.floodPerSecond * 2;
  for (let id = 1; id <= last; id++) channel.send(request(id, 'echo'));
  await events.answer(last);
  const before = pauses.mock.calls.length;
  channel.send(request(last + 1, 'babble', { answers: upstreamLimits.floodPerSecond * 2 }));
  await events.answer(last + 1);
  expect(pauses.mock.calls.length).toBeGreaterThan(before);
  expect(before).toBe(0);
});

test('a program whose channel is paused is read no further, then from where it was; and to its end once it has ended', async () => {
  const one = open();
  const { channel, events } = one;
  await pidOf(one);
  channel.pause?.();
  for (let id = 1; id <= 50; id++) channel.send(request(id, 'echo', { id }));
  // What it would have answered long before the second program, it has.
  await pidOf(open());
  expect(events.heard).toHaveLength(1);
  channel.resume?.();
  await events.answer(50);
  expect(events.heard.slice(1).map(({ message }) => message.id)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  channel.pause?.();
  channel.send(request(60, 'echo', {}));
  channel.send(request(61, 'exit', { code: 3 }));
  await events.closing();
  expect(events.heard.at(-1)?.message.id).toBe(60);
});

test('a server that dies in the middle of a call says how and what it said last', async () => {
  const { channel, events } = open();
  channel.send(request(1, 'hang'));
  channel.send(request(2, 'exit', { code: 7, stderr: 'Error: GITHUB_TOKEN is missing\n' }));
  const error = await events.closing();
  expect(error.code).toBe('upstream_unavailable');
  expect(error.message).toBe('Server "x" exited with code 7. It said last:\nError: GITHUB_TOKEN is missing');
  expect(() => channel.send(request(3, 'echo'))).toThrow('Server "x" is not running.');
  await channel.close();
  expect(events.closings).toHaveLength(1);
});

test('a thousand lines that a dying server writes are in the log, whole and in order, before its end is told', async () => {
  const { channel, events, log } = open();
  const trace = Array.from({ length: 1_000 }, (_, i) => `    at frame ${i} (file.js:${i})`);
  let before: number | undefined;
  events.closed = (error) => {
    before = log.lines.length;
    events.closings.push(error);
  };
  channel.send(request(1, 'exit', { code: 1, stderr: `Error: no such table\n${trace.join('\n')}\n` }));
  await events.closing();
  expect(log.lines.map(({ message }) => message)).toEqual(['Error: no such table', ...trace]);
  expect(before).toBe(trace.length + 1);
});

test('the last lines of a server that floods until it dies are in the log before its end is told', async () => {
  const { channel, events, log } = open();
  const flood = Array.from({ length: upstreamLimits.serverLogBurstLines * 5 }, (_, i) => `line ${i}`);
  channel.send(request(1, 'exit', { code: 1, stderr: `${flood.join('\n')}\nwhy it ended\n` }));
  const error = await events.closing();
  const lines = log.lines.map(({ message }) => message);
  expect(lines.slice(-upstreamLimits.serverLogLastLines)).toEqual([
    ...flood.slice(1 - upstreamLimits.serverLogLastLines),
    'why it ended',
  ]);
  expect(error.message).toMatch(/why it ended$/);
});

test('what a server answers before it dies is not lost', async () => {
  const opened = open();
  opened.channel.send(request(1, 'lastWord'));
  await opened.events.closing();
  expect(opened.events.heard.map(({ message }) => message.result)).toEqual(['bye']);
});

test('a server killed from outside is reported with the signal', async () => {
  const opened = open();
  process.kill(await pidOf(opened), 'SIGKILL');
  expect((await opened.events.closing()).message).toMatch('was ended by SIGKILL');
});

test('a server that closes its stdout without ending is ended', async () => {
  const opened = open();
  const pid = await pidOf(opened);
  opened.channel.send(request(1, 'closeStdout'));
  expect((await opened.events.closing()).message).toMatch('closed its stdout but kept running');
  await until('it is gone', () => !isAlive(pid));
});

test('a server that closes its stdin without ending is ended', async () => {
  const opened = open();
  const pid = await pidOf(opened);
  opened.channel.send(request(1, 'closeStdin'));
  // Only a write notices that the other end is not read any more.
  await until('the channel closes', () => {
    if (opened.events.closings.length === 0) opened.channel.send(request(2, 'echo'));
    return opened.events.closings.length > 0;
  });
  expect(opened.events.closings[0]?.message).toMatch('closed its stdin but kept running');
  await until('it is gone', () => !isAlive(pid));
});

test('a server that stops reading refuses calls once too much waits for it', async () => {
  const { channel, events } = open();
  channel.send(request(1, 'stopReading'));
  channel.send(request(2, 'echo'));
  const piece = request(3, 'echo', { text: 'x'.repeat(8_000_000) });
  const sendAll = (): void => {
    for (let sent = 0; sent < 2 * upstreamLimits.upstreamBacklogBytes; sent += piece.length) channel.send(piece);
  };
  expect(sendAll).toThrow('does not read its input');
  expect(events.closings).toEqual([]);
});

test('close ends a server that obeys at once, and reports nothing', async () => {
  const opened = open();
  const pid = await pidOf(opened);
  await opened.channel.close();
  expect(isAlive(pid)).toBe(false);
  expect(opened.events.closings).toEqual([]);
});

test('close ends a server that ignores the end of its input and SIGTERM', async () => {
  const opened = open(['--ignore-term', '--ignore-stdin-end']);
  const pid = await pidOf(opened);
  const [first, second] = [opened.channel.close(), opened.channel.close()];
  await Promise.all([first, second]);
  expect(isAlive(pid)).toBe(false);
});

test('close ends the whole group, also what ignores SIGTERM', async () => {
  const opened = open();
  opened.channel.send(request(1, 'grandchild'));
  const { result } = await opened.events.answer(1);
  await opened.channel.close();
  expect(isAlive((result as { pid: number }).pid)).toBe(false);
});

test('a leader that exits by itself leaves nothing behind, and its death is not hidden by a grandchild that holds its pipes', async () => {
  const opened = open();
  opened.channel.send(request(1, 'grandchild'));
  const { result } = await opened.events.answer(1);
  opened.channel.send(request(2, 'exit', { code: 4 }));
  expect((await opened.events.closing(1_500)).message).toBe('Server "x" exited with code 4.');
  await until('the grandchild is gone', () => !isAlive((result as { pid: number }).pid));
});

test('a command that does not exist is told apart from a folder that does not', async () => {
  const missing = open([], { command: 'uvx-that-is-not-there', args: [] });
  expect((await missing.events.closing()).message).toBe(
    'Cannot start server "x": The command "uvx-that-is-not-there" was not found on PATH. Install it on the machine of the hub, or give an absolute path.',
  );
  expect(() => missing.channel.send('{}')).toThrow('is not running');
  const uvx = open([], { command: 'uvx', args: [], inheritedEnv: { PATH: '/nowhere' } });
  expect((await uvx.events.closing()).message).toMatch(
    '"uvx" was not found on PATH. Install uv on the machine of the hub, or give an absolute path.',
  );
  const near = open([], { command: 'ndoe', args: [], inheritedEnv: { PATH: dirname(process.execPath) } });
  expect((await near.events.closing()).reason).toEqual({
    code: 'command_misspelled',
    values: { command: 'ndoe', suggestion: 'node' },
  });
  const folder = open([], { cwd: '/nowhere/at/all' });
  expect((await folder.events.closing()).message).toMatch('The working directory "/nowhere/at/all" does not exist.');
  const forbidden = open([], { command: '/etc/passwd', args: [] });
  expect((await forbidden.events.closing()).message).toMatch('"/etc/passwd" may not be executed');
  const impossible = open([], { args: ['a\0b'] });
  expect((await impossible.events.closing()).message).toMatch('Cannot start server "x"');
});

test.each([
  [process.execPath, ['prepare', 'ended']],
  ['program-that-is-not-there', ['prepare', 'notStarted']],
])('what is prepared for %s is told its end, also where there is no process', async (command, expected) => {
  const told: string[] = [];
  const prepared = {
    command,
    args: ['--eval', ''],
    ended: () => void told.push('ended'),
    notStarted: () => void told.push('notStarted'),
  };
  const prepare = () => {
    told.push('prepare');
    return prepared;
  };
  const { events } = open([], { spawned: { command: 'not-this', args: [], prepare } });
  await events.closing();
  expect(told).toEqual(expected);
});

test('closing a channel that could not start reports nothing more', async () => {
  const { channel, events } = open([], { command: 'not-there', args: [] });
  await channel.close();
  await new Promise((done) => setImmediate(() => setImmediate(done)));
  expect(events.closings).toEqual([]);
});

test('a child gets what is inherited, its own variables and the mark, in its folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stdio-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  const { channel, events } = open([], { env: { TOKEN: 't' }, cwd: folder });
  channel.send(request(1, 'env'));
  channel.send(request(2, 'cwd'));
  const { result } = await events.answer(1);
  // The system may add a few of its own; nothing of this process's environment may be among them.
  expect(result).toMatchObject({ ...inheritedEnv, TOKEN: 't', TOOLHUB_OWNER: 'owner:1:1' });
  expect(Object.keys(result as object)).not.toContain('HOME');
  expect((await events.answer(2)).result).toBe(folder);
});

test('starts and stops leave neither files nor processes', async () => {
  const reaper = openReaper();
  atEnd(() => reaper.close());
  const round = async (): Promise<number[]> => {
    const opened = Array.from({ length: 5 }, () => open(['--ignore-stdin-end'], { reaper }));
    const pids = await Promise.all(opened.map((one) => pidOf(one)));
    await Promise.all(opened.map(({ channel }) => channel.close()));
    return pids;
  };
  await round();
  const before = openFiles(process.pid);
  const pids = [...(await round()), ...(await round()), ...(await round())];
  expect(pids.filter((pid) => isAlive(pid))).toEqual([]);
  await until('as few files are open as before', () => openFiles(process.pid) <= before);
});
