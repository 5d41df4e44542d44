import cluster from 'node:cluster';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { deferred } from '../../core/deferred.ts';
import type { LogEntry } from '../../core/log-entry.ts';
import type { Worker, WorkerNote } from '../../hub/worker.ts';
import { createProgramClient, type ProgramClient } from '../../upstream/channels/shared/program-client.ts';
import { type ExitCode, exitCodes } from '../exit.ts';
import { explainFailure } from '../failure.ts';
import { cliLimits } from '../limits.ts';
import { stopSignals } from '../signals.ts';
import { closeInTime, startReported } from '../run-hub.ts';
import type { FromWorker, MetricsForm, ToWorker, WorkerStart } from './messages.ts';

/** The stream to the process that has the programs: beside standard input and output and the channel of messages. */
const programsFd = 4;

export function isWorker(): boolean {
  return cluster.isWorker;
}

/** One of the processes of a hub, from its start until the process that started it says stop, or ends. */
export async function runWorker(): Promise<ExitCode> {
  // Ctrl-C in a terminal reaches all processes; the first of them says when to stop.
  for (const signal of stopSignals()) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit(exitCodes.failed));
  const heard = createHeard();
  tell({ kind: 'hello' });
  const start = await heard.start;
  const stream = new Socket({ fd: programsFd, readable: true, writable: true });
  const programs = createProgramClient(stream, () => process.exit(exitCodes.failed));
  const worker = workerOf(start, heard, programs);
  const { signal } = heard.stop;
  const { startHub } = await import('../../hub/start-hub.ts');
  const starting = start.reports ? startReported(start.env, signal, worker) : startHub(start.env, signal, worker);
  const asked = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  try {
    await Promise.race([starting, asked]);
    if (!signal.aborted) tell({ kind: 'ready' });
    await asked;
  } catch (error) {
    const code = explainFailure(error);
    tell({ kind: 'not started', code });
    return code;
  }
  return closeInTime(starting);
}

function tell(message: FromWorker, handle?: unknown, sent?: () => void): void {
  // A handle of a connection is passed on as it is; the types name only what Node wraps it in.
  process.send?.(message, handle as Socket | undefined, {}, () => sent?.());
}

/** What comes from the first process. */
function createHeard() {
  const start = deferred<WorkerStart>();
  const stop = new AbortController();
  const listeners = {
    given: (_connection: Socket, _unread: Buffer): void => undefined,
    logged: (_entry: LogEntry): void => undefined,
    note: (_note: WorkerNote): void => undefined,
    metrics: (_form: MetricsForm): Promise<string> => Promise.resolve(''),
  };
  const pages = new Map<number, (pages: ReadonlyMap<number, string>) => void>();
  const heard = {
    start: start.promise,
    stop,
    listeners,
    pages,
    lead: undefined as number | undefined,
  };
  process.on('message', (message: ToWorker, handle?: unknown) => {
    switch (message.kind) {
      case 'start':
        return start.resolve(message.start);
      case 'stop':
        return stop.abort();
      case 'lead':
        heard.lead = message.number;
        return;
      case 'connection':
        return listeners.given(connectionOf(handle), Buffer.from(message.unread));
      case 'logged':
        return listeners.logged(message.entry);
      case 'note':
        return listeners.note(message.note);
      case 'metrics wanted': {
        const { id, form } = message;
        void listeners.metrics(form).then((text) => tell({ kind: 'metrics', id, text }));
        return;
      }
      case 'metrics of all':
        pages.get(message.id)?.(message.pages);
        pages.delete(message.id);
    }
  });
  return heard;
}

function connectionOf(handle: unknown): Socket {
  const options = { handle, allowHalfOpen: true, readable: true, writable: true };
  const connection = new Socket(options);
  connection.setNoDelay(true);
  return connection;
}

function workerOf(
  { number, count, dataDir }: WorkerStart,
  heard: ReturnType<typeof createHeard>,
  programs: ProgramClient,
): Worker {
  const { listeners, pages } = heard;
  let lastAsked = 0;
  return {
    number,
    count,
    dataDir,
    programs,
    lead: {
      get isHere() {
        return heard.lead === undefined || heard.lead === number;
      },
      give(connection, unread) {
        const { _handle: handle } = connection as Socket & { readonly _handle?: { readStop(): void } | null };
        if (!handle) return false;
        handle.readStop();
        connection.removeAllListeners('data');
        tell({ kind: 'connection', unread }, handle, () => connection.destroy());
        return true;
      },
      onGiven: (taken) => void (listeners.given = taken),
      tellLogged: (entry) => tell({ kind: 'logged', entry }),
      onLogged: (logged) => void (listeners.logged = logged),
      onNote: (note) => void (listeners.note = note),
    },
    othersMetrics(form) {
      const id = (lastAsked += 1);
      return new Promise((resolve) => {
        pages.set(id, resolve);
        setTimeout(() => {
          if (pages.delete(id)) resolve(new Map());
        }, cliLimits.workersMetricsMs * 2).unref();
        tell({ kind: 'metrics of others', id, form });
      });
    },
    onMetricsAsked: (page) => void (listeners.metrics = page),
  };
}
