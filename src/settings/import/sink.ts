import type { Problem } from '../../core/errors.ts';
import type { RequiredConfig } from '../server/required-config.ts';

/** Gathers what is to be said about an import while it is read. */
export interface Sink {
  /** What was changed or left out, by path. The import is usable all the same. */
  readonly notes: Problem[];
  /** What could not be used, by path. */
  readonly problems: Problem[];
  note(path: string, message: string): void;
  problem(path: string, message: string): void;
}

/** Questions a VS Code file asks its user (`inputs`), by id. */
export type Inputs = ReadonlyMap<string, Omit<RequiredConfig, 'key'>>;

export function createSink(): Sink {
  const notes: Problem[] = [];
  const problems: Problem[] = [];
  return {
    notes,
    problems,
    note: (path, message) => void notes.push({ path, message }),
    problem: (path, message) => void problems.push({ path, message }),
  };
}

/** `mcpServers.github`, `mcpServers["two words"]`, `args[2]`. */
export function at(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  if (!/^[\w@/.-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
