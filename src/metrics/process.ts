import { readdir } from 'node:fs/promises';
import { constants, performance, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';

/** What the process took since it started. Times in seconds. */
export interface ProcessFacts {
  readonly startedAt: number;
  readonly cpu: { readonly user: number; readonly system: number };
  /** How long the main thread was not waiting for something to do. */
  readonly loopActive: number;
  /** How late the main thread comes to something at this moment. */
  readonly loopLag: number;
  readonly memory: {
    readonly resident: number;
    readonly heap: number;
    readonly heapUsed: number;
    readonly external: number;
  };
  /** Undefined where the system does not tell. */
  readonly openFiles: number | undefined;
  readonly collections: readonly Collections[];
}

/** Garbage collections of one kind since the hub began to watch. */
export interface Collections {
  readonly kind: string;
  readonly count: number;
  readonly seconds: number;
}

/**
 * Reads what the process took when it is called; between two calls no timer runs, only garbage collections are added
 * up.
 */
export function watchProcess(): { read(): Promise<ProcessFacts>; close(): void } {
  const collections = new Map(kinds.map(([id, kind]) => [id, { kind, count: 0, seconds: 0 }]));
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // Types of Node.js have it for other kinds of entries only.
      const { kind: id } = (entry as PerformanceEntry & { readonly detail: { readonly kind: number } }).detail;
      const found = collections.get(id);
      if (!found) continue;
      found.count += 1;
      found.seconds += entry.duration / 1000;
    }
  });
  observer.observe({ entryTypes: ['gc'] });

  return {
    async read() {
      const asked = performance.now();
      await setImmediate();
      const loopLag = (performance.now() - asked) / 1000;
      const { user, system } = process.cpuUsage();
      const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
      return {
        startedAt: performance.timeOrigin / 1000,
        cpu: { user: user / 1e6, system: system / 1e6 },
        loopActive: performance.eventLoopUtilization().active / 1000,
        loopLag,
        memory: { resident: rss, heap: heapTotal, heapUsed, external },
        openFiles: await readdir('/proc/self/fd').then(
          (names) => names.length,
          () => undefined,
        ),
        collections: [...collections.values()],
      };
    },
    close: () => observer.disconnect(),
  };
}

const kinds: readonly (readonly [id: number, kind: string])[] = [
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
];
