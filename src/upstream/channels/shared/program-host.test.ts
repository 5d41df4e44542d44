import { Duplex } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { deferred } from '../../../core/deferred.ts';
import { HubError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { until } from '../../../../test/kit/until.ts';
import { upstreamLimits } from '../../limits.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import { createProgramClient, type ProgramClient } from './program-client.ts';
import { createProgramHost } from './program-host.ts';
import type { WantedProgram } from './told.ts';

afterEach(() => void vi.useRealTimers());

const wanted = (name: string, env: Record<string, string> = {}): WantedProgram => ({
  name,
  command: 'x',
  args: [],
  env,
  cwd: undefined,
  maxMessageBytes: 1_000_000,
  sandbox: undefined,
  container: undefined,
  isShared: false,
});

interface Program {
  readonly env: Readonly<Record<string, string>>;
  readonly log: Logger;
  readonly events: ChannelEvents;
  readonly sent: string[];
  isPaused: boolean;
  isEnded: boolean;
  /** It takes until then to end. */
  ends: Promise<void>;
}

/** Two ends of a stream; what one writes reaches the other in a later turn, and waits until it is read. */
function pair(): [Duplex, Duplex] {
  const taken = new Map<number, () => void>();
  const end = (own: 0 | 1, other: 0 | 1): Duplex =>
    new Duplex({
      read() {
        taken.get(own)?.();
        taken.delete(own);
      },
      write(chunk: Buffer, _, done) {
        setImmediate(() => {
          if (ends[other].push(chunk)) done();
          else taken.set(other, done);
        });
      },
      destroy(error, done) {
        ends[other].destroy();
        done(error);
      },
    });
  const ends: [Duplex, Duplex] = [end(0, 1), end(1, 0)];
  return ends;
}

/** A host, the programs it started, and workers of it. */
function hosted() {
  const programs: Program[] = [];
  const open = ({ env }: WantedProgram, log: Logger, events: ChannelEvents): Channel => {
    const program: Program = { env, log, events, sent: [], isPaused: false, isEnded: false, ends: Promise.resolve() };
    programs.push(program);
    return {
      send: (text) => void program.sent.push(text),
      abandon() {},
      ready() {},
      forgetSession() {},
      pause: () => void (program.isPaused = true),
      resume: () => void (program.isPaused = false),
      async close() {
        await program.ends;
        log.info('it ends');
        program.isEnded = true;
      },
    };
  };
  const host = createProgramHost({ open });
  return {
    host,
    programs,
    /** `stream`: its own end. */
    worker: (number: number): { client: ProgramClient; stream: Duplex; isGone: () => boolean } => {
      const [far, near] = pair();
      let isGone = false;
      host.serve(number, near);
      return { client: createProgramClient(far, () => void (isGone = true)), stream: far, isGone: () => isGone };
    },
  };
}

/** A channel of a worker, and what it heard. */
function opened(client: ProgramClient, program: WantedProgram) {
  const heard = { messages: [] as string[], closed: [] as string[], log: [] as string[], phases: [] as string[] };
  const at = (level: string) => (message: string) => void heard.log.push(`${level} ${message}`);
  const log: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const channel = client.open(
    program,
    { isLaunched: false, log },
    {
      message: (_, text) => heard.messages.push(text) > 0,
      large: (answer) => heard.messages.push(answer.read().text) > 0,
      failed: () => undefined,
      progress: ({ phase }) => void heard.phases.push(phase),
      closed: ({ message }) => void heard.closed.push(message),
    },
  );
  return { channel, ...heard };
}

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const said = (data: unknown) => {
  const message = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } };
  return [message, JSON.stringify(message)] as const;
};

test('neither a large log message nor large settings of one server end a worker', async () => {
  const { programs, worker } = hosted();
  const one = worker(1);
  const other = opened(one.client, wanted('other'));
  const large = opened(one.client, wanted('large', { LARGE: 'x'.repeat(2 * upstreamLimits.frameBytes) }));
  await until('both run', () => programs.length === 2);
  expect(programs[1]?.env['LARGE']).toHaveLength(2 * upstreamLimits.frameBytes);
  programs[1]?.events.message(...said('y'.repeat(2 * upstreamLimits.frameBytes)));
  await until('it is logged', () => large.log.length === 1);
  programs[0]?.events.message(
    { method: 'notifications/tools/list_changed' },
    '{"method":"notifications/tools/list_changed"}',
  );
  await until('the other is heard', () => other.messages.length === 1);
  expect(one.isGone()).toBe(false);
});

test('a worker that comes while a package is installed hears of it', async () => {
  const { programs, worker } = hosted();
  const first = opened(worker(1).client, wanted('s'));
  await until('it runs', () => programs.length === 1);
  programs[0]?.events.progress?.({ phase: 'installing' });
  await until('the first hears of it', () => first.phases.length === 1);
  const later = opened(worker(2).client, wanted('s'));
  await until('so does the other', () => later.phases.length === 1);
  expect([first.phases, later.phases]).toEqual([['installing'], ['installing']]);
});

test('a program is read no further while a worker does not take what it says, and is read on when it has', async () => {
  const { programs, worker } = hosted();
  const slow = worker(1);
  const quick = worker(2);
  const heard = opened(slow.client, wanted('s'));
  const quickly = opened(quick.client, wanted('s'));
  await until('it runs', () => programs.length === 1);
  await settled();
  const [program] = programs as [Program];
  slow.stream.pause();
  const text = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x', params: 'x'.repeat(60_000) });
  const message = JSON.parse(text) as { method: string };
  let count = 0;
  await until('it is paused', async () => {
    for (let n = 0; n < 10 && !program.isPaused; n++, count++) program.events.message(message, text);
    await settled();
    return program.isPaused;
  });
  expect(count * text.length).toBeLessThan(2 * upstreamLimits.workerBacklogBytes);
  await until('the quick one has all', () => quickly.messages.length === count);
  expect(heard.messages.length).toBeLessThan(count);
  slow.stream.resume();
  await until('it is read on', () => !program.isPaused);
  await until('the slow one has all', () => heard.messages.length === count);
});

test('a worker that takes nothing for long is ended, and the program goes on for the others', async () => {
  const { programs, worker } = hosted();
  const stalled = worker(1);
  const other = worker(2);
  opened(stalled.client, wanted('s'));
  opened(other.client, wanted('s'));
  await until('it runs', () => programs.length === 1);
  await settled();
  const [program] = programs as [Program];
  stalled.stream.pause();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const text = JSON.stringify({ method: 'notifications/x', params: 'x'.repeat(60_000) });
  for (let n = 0; n < 500 && !program.isPaused; n++)
    program.events.message(JSON.parse(text) as { method: string }, text);
  await settled();
  expect(program.isPaused).toBe(true);
  vi.advanceTimersByTime(2 * upstreamLimits.workerStalledMs);
  await settled();
  expect(stalled.stream.destroyed).toBe(true);
  expect(program.isPaused).toBe(false);
  expect(program.isEnded).toBe(false);
  vi.useRealTimers();
});

test('nothing is kept of a program that has ended', async () => {
  const { host, programs, worker } = hosted();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const one = worker(1);
  const two = worker(2);
  const [first, second] = [opened(one.client, wanted('s')), opened(two.client, wanted('s'))];
  await settled();
  expect([programs.length, host.servers, vi.getTimerCount()]).toEqual([1, 1, 2]);
  programs[0]?.events.closed(new HubError('upstream_unavailable', 'It has ended.'));
  await settled();
  expect([first.closed, second.closed]).toEqual([['It has ended.'], ['It has ended.']]);
  expect([host.servers, vi.getTimerCount()]).toEqual([0, 0]);
  const removed = opened(one.client, wanted('s', { TOKEN: 'secret' }));
  await settled();
  expect(host.servers).toBe(1);
  await removed.channel.close();
  expect([host.servers, vi.getTimerCount()]).toEqual([0, 0]);
});

test('a worker that begins with settings that were replaced does not end the program of the new ones', async () => {
  const { programs, worker } = hosted();
  const [old, now] = [wanted('s', { V: 'old' }), wanted('s', { V: 'new' })];
  const one = worker(1);
  opened(one.client, now);
  const begun = worker(2);
  await settled();
  for (const turn of [1, 2]) {
    const late = opened(begun.client, old);
    await settled();
    expect(late.closed, `attempt ${turn}`).toEqual(['The settings of server "s" are changing.']);
  }
  expect(programs.map(({ isEnded }) => isEnded)).toEqual([false]);
  // The first that knows newer ones still ends it, for all.
  const newer = opened(begun.client, wanted('s', { V: 'newer' }));
  await settled();
  expect(newer.closed).toEqual([]);
  expect(programs.map(({ env, isEnded }) => [env['V'], isEnded])).toEqual([
    ['new', true],
    ['newer', false],
  ]);
});

test('what a program says while it is stopped is in the log of one worker', async () => {
  const { worker } = hosted();
  const [one, two] = [worker(1), worker(2)];
  const [first, second] = [opened(one.client, wanted('s')), opened(two.client, wanted('s'))];
  await settled();
  one.client.end('s');
  await settled();
  expect([first.log, second.log]).toEqual([['info it ends'], []]);
  const last = opened(two.client, wanted('s'));
  await settled();
  await last.channel.close();
  expect(last.log).toEqual(['info it ends']);
});

test('a program that is started again begins when the one before has ended', async () => {
  const { host, programs, worker } = hosted();
  const one = worker(1);
  opened(one.client, wanted('s'));
  await settled();
  const end = deferred<void>();
  const [first] = programs as [Program];
  first.ends = end.promise;
  one.client.end('s');
  await settled();
  opened(one.client, wanted('s'));
  await settled();
  expect([programs.length, host.servers]).toEqual([1, 1]);
  end.resolve();
  await settled();
  expect(programs.map(({ isEnded }) => isEnded)).toEqual([true, false]);
});
