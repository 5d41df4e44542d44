import { atFileEnd } from './at-end.ts';
import { startPostgres } from './postgres.ts';
import type { TestPostgres } from './postgres.ts';

let server: Promise<TestPostgres> | undefined;

/**
 * The PostgreSQL of this test file, started when it is first asked for, and again when a test has killed it; stopped
 * when everything that uses it has ended.
 */
export async function sharedPostgres(): Promise<TestPostgres> {
  server ??= startPostgres().then((started) => {
    atFileEnd(() => {
      server = undefined;
      return started.close();
    });
    return started;
  });
  const shared = await server;
  await shared.start();
  return shared;
}
