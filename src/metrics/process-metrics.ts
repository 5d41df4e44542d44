import type { Page } from './page.ts';
import type { ProcessFacts } from './process.ts';

/** The process, under the names that dashboards for Node.js know. */
export function describeProcess(page: Page, facts: ProcessFacts): void {
  const { startedAt, cpu, loopActive, loopLag, memory, openFiles, collections } = facts;
  page.gauge('process_start_time_seconds', 'When the process started, in seconds since 1970.', [[startedAt]]);
  page.counter('process_cpu_user_seconds_total', 'CPU time of the process outside the kernel.', [[cpu.user]]);
  page.counter('process_cpu_system_seconds_total', 'CPU time of the process in the kernel.', [[cpu.system]]);
  page.counter('process_cpu_seconds_total', 'CPU time of the process.', [[cpu.user + cpu.system]]);
  page.gauge('process_resident_memory_bytes', 'Memory of the process.', [[memory.resident]]);
  if (openFiles !== undefined) page.gauge('process_open_fds', 'Open files and sockets.', [[openFiles]]);
  page.gauge('nodejs_heap_size_total_bytes', 'Size of the heap of the main thread.', [[memory.heap]]);
  page.gauge('nodejs_heap_size_used_bytes', 'What of it is in use.', [[memory.heapUsed]]);
  page.gauge('nodejs_external_memory_bytes', 'Memory of objects outside the heap.', [[memory.external]]);
  page.gauge('nodejs_eventloop_lag_seconds', 'How late the main thread was when it was asked.', [[loopLag]]);
  page.counter('nodejs_eventloop_active_seconds_total', 'How long the main thread had something to do.', [
    [loopActive],
  ]);
  page.counter(
    'nodejs_gc_duration_seconds_sum',
    'How long garbage collections took, by kind.',
    collections.map(({ kind, seconds }) => [seconds, { kind }]),
  );
  page.counter(
    'nodejs_gc_duration_seconds_count',
    'Garbage collections by kind.',
    collections.map(({ kind, count }) => [count, { kind }]),
  );
}
