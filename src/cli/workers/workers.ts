import cluster, { type Worker as Process } from 'node:cluster';
import type { Duplex } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import { deferred } from '../../core/deferred.ts';
import { errorText } from '../../core/errors.ts';
import type { LogEntry } from '../../core/log-entry.ts';
import type { Logger } from '../../core/logger.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { WorkerNote } from '../../hub/worker.ts';
import type { ProgramHost } from '../../upstream/channels/shared/program-host.ts';
import { type ExitCode, exitCodes } from '../exit.ts';
import { cliLimits } from '../limits.ts';
import type { StopSignals } from '../signals.ts';
import {
  type FromWorker,
  type MetricsForm,
  OnTheirWay,
  type ToWorker,
  workerMark,
  type WorkerStart,
} from './messages.ts';

export interface WorkersOptions {
  readonly count: number;
  readonly startOf: (number: number) => Omit<WorkerStart, 'reports'>;
  readonly programs: ProgramHost;
  readonly log: Logger;
}

/** What is known of one of the workers. */
interface Place {
  readonly number: number;
  process: Process | undefined;
  isReady: boolean;
  /** Live pages of the log are open at it. */
  isRead: boolean;
  startedAt: number;
  /** It ended so often before it had held. */
  failures: number;
  again: NodeJS.Timeout | undefined;
}

function newToLead() {
  return {
    connections: new OnTheirWay(cliLimits.handoversWaiting),
    /** Closes each connection that was not sent yet: what waits to be sent to a process that ends stays open here. */
    unsent: new Set<() => void>(),
    entries: new OnTheirWay(cliLimits.loggedWaiting),
    /** Entries that were not sent. */
    missed: 0,
  };
}

/** What a worker is started with; the last is its stream to the programs. */
const streams = ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] as const;
const programsFd = streams.indexOf('pipe');

/** What the log says of the first worker before it served, and of any later. */
const endings = {
  ended: { first: 'The first worker ended before it served', later: 'A worker ended and is started again' },
  'not started': {
    first: 'No process could be started for the first worker: look at the bounds of processes, memory and open files',
    later:
      'No process could be started for a worker, which is tried again: look at the bounds of processes, memory and open files',
  },
} as const;

/** The processes that serve. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #places: readonly Place[];
  /** The first start: the others begin when it is up, and all ends where it is not. */
  readonly #first = deferred<ExitCode | undefined>();
  /** Pages of metrics that are being collected. */
  readonly #collecting = new Map<number, (number: number, text: string) => void>();
  #lastCollected = 0;
  /** A worker has served. */
  #isUp = false;
  #isStopping = false;
  #lead: Place | undefined;
  /** What is on its way to the lead. */
  #toLead = newToLead();

  constructor(options: WorkersOptions) {
    this.#options = options;
    const fresh = { process: undefined, isReady: false, isRead: false, startedAt: 0, failures: 0, again: undefined };
    this.#places = Array.from({ length: options.count }, (_, i) => ({ number: i + 1, ...fresh }));
    cluster.setupPrimary({ stdio: [...streams], serialization: 'advanced' });
  }

  /** Until it is told to stop, or the first worker cannot start. */
  async run(stop: StopSignals): Promise<ExitCode> {
    const [one, ...others] = this.#places;
    if (one) this.#start(one);
    const failed = await Promise.race([this.#first.promise, stop.asked]);
    if (failed !== undefined) {
      await this.#stopAll();
      return failed;
    }
    if (!stop.signal.aborted) for (const place of others) this.#start(place);
    await stop.asked;
    return this.#stopAll();
  }

  #start(place: Place): void {
    place.startedAt = performance.now();
    let own: Process;
    try {
      own = cluster.fork({ [workerMark]: process.pid });
    } catch (error) {
      return this.#ended(place, errorText(error), 'not started');
    }
    // Messages that could not be sent any more.
    own.on('error', () => undefined);
    if (own.process.pid === undefined) {
      // There is no room for one more process now: Node tells of it by an event, and of no end.
      own.once('error', (error) => this.#ended(place, errorText(error), 'not started'));
      return;
    }
    Object.assign(place, { process: own, isReady: false, isRead: false });
    const programs = own.process.stdio[programsFd] as Duplex;
    this.#options.programs.serve(place.number, programs);
    // A worker that cannot reach them ends by itself, unless it hangs.
    programs.once('close', () => setTimeout(() => own.process.kill('SIGKILL'), cliLimits.workerGoneMs).unref());
    own.on('message', (message: FromWorker, handle?: unknown) => this.#heard(place, message, handle));
    const closeUntaken = watchUntaken(own);
    own.once('exit', (code, signal) => {
      closeUntaken();
      if (place.process === own) this.#ended(place, signal ?? `exit code ${code}`);
    });
  }

  #heard(place: Place, message: FromWorker, handle: unknown): void {
    switch (message.kind) {
      case 'hello': {
        const start = { ...this.#options.startOf(place.number), reports: !this.#isUp };
        this.#send(place, { kind: 'start', start });
        if (this.#lead) this.#tellLead(place);
        break;
      }
      case 'ready':
        return this.#ready(place);
      case 'not started':
        return this.#first.resolve(message.code);
      case 'connection':
        if (handle !== undefined) this.#giveToLead(message.unread, handle);
        break;
      case 'logged':
        return this.#logged(message.entry);
      case 'read':
        place.isRead = message.isRead;
        if (place === this.#lead) this.#tellLead();
        break;
      case 'restart':
        for (const other of this.#places)
          if (other !== place) this.#send(other, { kind: 'restart', server: message.server });
        break;
      case 'metrics of others': {
        const { id, form } = message;
        void this.#collect(place, form).then((pages) => this.#send(place, { kind: 'metrics of all', id, pages }));
        break;
      }
      case 'metrics':
        this.#collecting.get(message.id)?.(place.number, message.text);
    }
  }

  #giveToLead(unread: Buffer, handle: unknown): void {
    const { connections, unsent } = this.#toLead;
    const close = (): void => closeHandle(handle);
    unsent.add(close);
    const over = (): void => {
      unsent.delete(close);
      close();
    };
    const isTaken = connections.take((sent) =>
      this.#send(this.#lead, { kind: 'connection', unread }, handle, () => {
        sent();
        over();
      }),
    );
    if (!isTaken) over();
  }

  #ready(place: Place): void {
    place.isReady = true;
    const pid = place.process?.process.pid ?? 0;
    if (this.#isUp) this.#note('info', 'A worker serves', { number: place.number, pid });
    this.#isUp = true;
    this.#first.resolve(undefined);
    this.#chooseLead();
  }

  /** `not started`: the system gave it no process. */
  #ended(place: Place, why: string, how: keyof typeof endings = 'ended'): void {
    Object.assign(place, { process: undefined, isReady: false });
    if (this.#isStopping) return;
    if (!this.#isUp) {
      this.#options.log.error(endings[how].first, { why });
      return this.#first.resolve(exitCodes.failed);
    }
    this.#chooseLead();
    if (performance.now() - place.startedAt > cliLimits.workerHeldMs) place.failures = 0;
    const waitMs = Math.min(cliLimits.workerAgainMs * 2 ** place.failures, cliLimits.workerAgainMostMs);
    place.failures++;
    this.#note('error', endings[how].later, { number: place.number, why, waitMs });
    place.again = setTimeout(() => this.#start(place), waitMs);
  }

  /** `handle`: what the message is about, passed on as it came. `sent` is called when it is there, or cannot be. */
  #send(place: Place | undefined, message: ToWorker, handle?: unknown, sent?: () => void): void {
    if (!place?.process?.isConnected()) return sent?.();
    place.process.process.send(message, handle as undefined, {}, () => sent?.());
  }

  /** The log is that of a worker, where there is one. */
  #note(level: WorkerNote['level'], text: string, fields: WorkerNote['fields']): void {
    if (this.#lead) this.#send(this.#lead, { kind: 'note', note: { level, text, fields } });
    else this.#options.log[level](text, { ...fields });
  }

  /** The lead stays as long as it serves: live pages are open at it. */
  #chooseLead(): void {
    if (this.#lead?.isReady !== true) {
      this.#lead = this.#places.find(({ isReady }) => isReady);
      const { unsent } = this.#toLead;
      this.#toLead = newToLead();
      for (const close of unsent) close();
    }
    this.#tellLead();
  }

  #tellLead(...places: readonly Place[]): void {
    const { number, isRead = false } = this.#lead ?? {};
    for (const place of places.length > 0 ? places : this.#places) this.#send(place, { kind: 'lead', number, isRead });
  }

  /** An entry of the log for live pages. Those there is no room for are in the log all the same. */
  #logged(entry: LogEntry): void {
    const to = this.#toLead;
    if (!to.entries.take((sent) => this.#send(this.#lead, { kind: 'logged', entry }, undefined, sent))) {
      to.missed++;
    } else if (to.missed > 0) {
      this.#note('warn', 'Entries of the log were not shown in live pages: there were too many', {
        entries: to.missed,
      });
      to.missed = 0;
    }
  }

  async #collect(asker: Place, form: MetricsForm): Promise<Map<number, string>> {
    const others = this.#places.filter((place) => place !== asker && place.isReady);
    const missing = new Set(others.map(({ number }) => number));
    const pages = new Map<number, string>();
    const id = (this.#lastCollected += 1);
    const all = deferred<void>();
    this.#collecting.set(id, (number, text) => {
      if (text !== '') pages.set(number, text);
      missing.delete(number);
      if (missing.size === 0) all.resolve();
    });
    if (others.length === 0) all.resolve();
    for (const place of others) this.#send(place, { kind: 'metrics wanted', id, form });
    await Promise.race([all.promise, after(cliLimits.workersMetricsMs, undefined, { ref: false })]);
    this.#collecting.delete(id);
    return pages;
  }

  /** Ends all in order, and those that do not go. The code of a stop as asked for, or failed. */
  async #stopAll(): Promise<ExitCode> {
    this.#isStopping = true;
    for (const { again } of this.#places) clearTimeout(again);
    const running = this.#places.flatMap(({ process }) => process ?? []);
    const codes = Promise.all(running.map((own) => new Promise<number | null>((resolve) => own.once('exit', resolve))));
    for (const place of this.#places) this.#send(place, { kind: 'stop' });
    const late = after(cliLimits.stopMs + cliLimits.workerGoneMs, undefined, { ref: false }).then(() => {
      for (const own of running) own.process.kill('SIGKILL');
      return codes;
    });
    const all = await Promise.race([codes, late]);
    return all.every((code) => code === 0) ? exitCodes.stopped : exitCodes.failed;
  }
}

/**
 * Node's cluster gives a process the next connection when it has taken the one before. One that was given to a process
 * which ends before it takes it stays open in this process, and its client would wait for ever (Node 20 to 24). The
 * function that is returned closes it, where it was not taken.
 */
function watchUntaken({ process: own }: Process): () => void {
  const send = own.send.bind(own);
  let last: unknown;
  Object.defineProperty(own, 'send', {
    value(...sent: Parameters<typeof send>): boolean {
      const [message, handle] = sent;
      if (isObject(message) && message['act'] === 'newconn') last = handle;
      return send(...sent);
    },
  });
  return () => closeHandle(last);
}

/** A connection as it is passed between processes. Closing one again does nothing. */
function closeHandle(handle: unknown): void {
  if (isObject(handle) && typeof handle['close'] === 'function') handle['close']();
}
