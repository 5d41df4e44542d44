import cluster, { type ClusterSettings } from 'node:cluster';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { atEnd } from '../../../test/kit/at-end.ts';
import { isAlive } from '../../../test/kit/processes.ts';
import { until, within } from '../../../test/kit/until.ts';
import { deferred } from '../../core/deferred.ts';
import type { Logger } from '../../core/logger.ts';
import { readEnv } from '../../env/env.ts';
import { exitCodes } from '../exit.ts';
import { cliLimits } from '../limits.ts';
import { Workers } from './workers.ts';

const exec = fileURLToPath(new URL('../../../test/kit/fixtures/worker.cjs', import.meta.url));
const forking = (more: ClusterSettings = {}) =>
  cluster.setupPrimary({ exec, args: [], execArgv: [], cwd: undefined, uid: undefined, ...more });

const nowhere = { cwd: '/nowhere/at/all' };

/** A process that was started, and its stream to the programs. */
interface Served {
  readonly number: number;
  readonly pid: number;
  readonly stream: Duplex;
  serves: boolean;
}

/** Workers that run until the test ends. */
function running(count: number, settings: ClusterSettings = {}) {
  const served: Served[] = [];
  const errors: string[] = [];
  const quiet: Logger['info'] = () => undefined;
  const error: Logger['error'] = (text, fields) => void errors.push(`${text} ${JSON.stringify(fields)}`);
  const workers = new Workers({
    count,
    startOf: (number) => ({ env: readEnv({ DB_URL: 'off' }), number, count, dataDir: '', secrets: {} }),
    programs: {
      serve(number, stream) {
        const pid = Object.values(cluster.workers ?? {}).at(-1)?.process.pid ?? 0;
        const one = { number, pid, stream, serves: false };
        served.push(one);
        stream.on('data', () => (one.serves = true));
      },
      servers: 0,
      close: () => Promise.resolve(),
    },
    log: { debug: quiet, info: quiet, warn: quiet, error },
  });
  forking(settings);
  const asked = deferred<undefined>();
  const ended = workers.run({ asked: asked.promise, signal: new AbortController().signal });
  const stop = () => {
    asked.resolve(undefined);
    return within('the end of the workers', ended);
  };
  atEnd(async () => {
    const stopping = stop();
    for (const { pid } of served) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    await stopping;
  });
  const serving = (number: number) =>
    until('the last that was started serves', () => served.length === number && served[number - 1]?.serves);
  return { served, errors, serving, stop, ended };
}

test('a worker that hangs is ended and replaced when it is cut off from the programs', async () => {
  const { served, serving, stop } = running(2);
  await serving(2);
  const [one, two] = served as [Served, Served];
  process.kill(two.pid, 'SIGSTOP');
  two.stream.destroy();
  await serving(3);
  expect(served.map(({ number }) => number)).toEqual([1, 2, 2]);
  expect([isAlive(one.pid), isAlive(two.pid)]).toEqual([true, false]);
  expect(await stop()).toBe(exitCodes.stopped);
});

const failing: [string, ClusterSettings][] = [
  ['cannot be started', nowhere],
  ['cannot be asked for', { uid: 0.5 }],
];

test.each(failing)('a first worker that %s ends the start, and the log says so', async (_, settings) => {
  const { errors, ended } = running(1, settings);
  expect(await within('the end', ended)).toBe(exitCodes.failed);
  expect(errors).toEqual([expect.stringMatching(/^No process could be started for the first worker: .*"why":"/)]);
});

test.each(failing)('a worker that %s is tried again, ever later', async (_, settings) => {
  const { served, errors, serving, stop } = running(1);
  await serving(1);
  forking(settings);
  process.kill(served[0]?.pid ?? 0, 'SIGKILL');
  await until('it was tried', () => errors.length >= 3);
  const waits = errors.slice(0, 3).map((text) => Number(/"waitMs":(\d+)/.exec(text)?.[1]));
  expect(waits).toEqual([1, 2, 4].map((times) => times * cliLimits.workerAgainMs));
  expect(errors[0]).toMatch(/^A worker ended and is started again .*SIGKILL/);
  expect(errors[1]).toMatch(/^No process could be started for a worker, which is tried again: /);
  expect(served).toHaveLength(1);
  forking();
  await serving(2);
  expect(await stop()).toBe(exitCodes.stopped);
});

test('a stop ends also where no worker can be started', async () => {
  const { served, errors, serving, stop } = running(1);
  await serving(1);
  forking(nowhere);
  process.kill(served[0]?.pid ?? 0, 'SIGKILL');
  await until('it was tried', () => errors.length >= 2);
  expect(await stop()).toBe(exitCodes.stopped);
});
