import { availableParallelism } from 'node:os';
import type { Check } from './check.ts';

/** Whether there are cores for the processes that are to serve (`WORKERS`); nothing where there is one. */
export function checkWorkers(workers: number, cores: number = availableParallelism()): Check[] {
  if (workers === 1) return [];
  const name = 'workers';
  if (workers <= cores) return [{ name, status: 'ok', detail: `${workers} processes on ${cores} cores` }];
  const detail = `${workers} processes are to share ${cores} ${cores === 1 ? 'core' : 'cores'}`;
  return [{ name, status: 'warn', detail, fix: `Set WORKERS to ${cores} at most: more cost memory and win nothing.` }];
}
