import { atFileEnd } from './at-end.ts';
import { startPostgres } from './postgres.ts';
import type { TestPostgres } from './postgres.ts';

let server: Promise<TestPostgres> | undefined;

/**
 * The PostgreSQL of this test file, started when it is first asked for, stopped when everything that uses it has ended.
 */
export function sharedPostgres(): Promise<TestPostgres> {
  return (server ??= startPostgres().then((started) => {
    atFileEnd(() => {
      server = undefined;
      return started.close();
    });
    return started;
  }));
}
