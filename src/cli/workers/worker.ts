import cluster from 'node:cluster';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { deferred } from '../../core/deferred.ts';
import type { LogEntry } from '../../core/log-entry.ts';
import type { Worker, WorkerNote } from '../../hub/worker.ts';
import { takeVariable } from '../../env/withdraw.ts';
import { createProgramClient, type ProgramClient } from '../../upstream/channels/shared/program-client.ts';
import { type ExitCode, exitCodes } from '../exit.ts';
import { explainFailure } from '../failure.ts';
import { cliLimits } from '../limits.ts';
import { stopSignals } from '../signals.ts';
import { closeInTime, startReported } from '../run-hub.ts';
import {
  type FromWorker,
  type MetricsForm,
  OnTheirWay,
  type ToWorker,
  workerMark,
  type WorkerStart,
} from './messages.ts';

/** The stream to the process that has the programs: beside standard input and output and the channel of messages. */
const programsFd = 4;

/**
 * Whether the first process of a hub started this one. PM2 and others use `cluster` too: what they start is a hub.
 */
export function isWorker(): boolean {
  return cluster.isWorker && takeVariable(workerMark) === String(process.ppid);
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
    restart: (_server: string): void => undefined,
    metrics: (_form: MetricsForm): Promise<string> => Promise.resolve(''),
  };
  const pages = new Map<number, (pages: ReadonlyMap<number, string>) => void>();
  const heard = {
    start: start.promise,
    stop,
    listeners,
    pages,
    lead: undefined as number | undefined,
    isRead: false,
  };
  process.on('message', (message: ToWorker, handle?: unknown) => {
    switch (message.kind) {
      case 'start':
        return start.resolve(message.start);
      case 'stop':
        return stop.abort();
      case 'lead':
        heard.lead = message.number;
        heard.isRead = message.isRead;
        return;
      case 'connection':
        // Its client has left meanwhile where there is none.
        if (handle !== undefined) listeners.given(connectionOf(handle), Buffer.from(message.unread));
        return;
      case 'logged':
        return listeners.logged(message.entry);
      case 'note':
        return listeners.note(message.note);
      case 'restart':
        return listeners.restart(message.server);
      case 'metrics wanted': {
        const { id, form } = message;
        // Without its page the others are shown.
        const page = listeners.metrics(form).catch(() => '');
        void page.then((text) => tell({ kind: 'metrics', id, text }));
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
  { number, count, dataDir, secrets }: WorkerStart,
  heard: ReturnType<typeof createHeard>,
  programs: ProgramClient,
): Worker {
  const { listeners, pages } = heard;
  let lastAsked = 0;
  const handing = new OnTheirWay(cliLimits.handoversWaiting);
  const telling = new OnTheirWay(cliLimits.loggedWaiting);
  return {
    number,
    count,
    dataDir,
    secrets,
    programs,
    lead: {
      get isHere() {
        return heard.lead === undefined || heard.lead === number;
      },
      give(connection, unread) {
        const { _handle: handle } = connection as Socket & { readonly _handle?: { readStop(): void } | null };
        if (!handle) return false;
        return handing.take((sent) => {
          handle.readStop();
          connection.removeAllListeners('data');
          connection.on('error', () => connection.destroy());
          // What was read while the connection was paused is in the stream.
          connection.pause();
          const rest = connection.read() as Buffer | null;
          tell({ kind: 'connection', unread: rest ? Buffer.concat([unread, rest]) : unread }, handle, () => {
            sent();
            connection.destroy();
          });
        });
      },
      onGiven: (taken) => void (listeners.given = taken),
      get isRead() {
        return heard.isRead;
      },
      tellRead: (isRead) => tell({ kind: 'read', isRead }),
      tellLogged: (entry) => telling.take((sent) => tell({ kind: 'logged', entry }, undefined, sent)),
      onLogged: (logged) => void (listeners.logged = logged),
      onNote: (note) => void (listeners.note = note),
    },
    restarts: {
      tell: (server) => tell({ kind: 'restart', server }),
      onTold: (restart) => void (listeners.restart = restart),
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
