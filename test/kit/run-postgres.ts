import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Port of the PostgreSQL that the hubs of the run share. Only with `TEST_DATABASE=postgres`. */
    postgresPort: number;
  }
}

/**
 * A run whose hubs are to have PostgreSQL starts one for them all, ahead of the workers. Tests that kill theirs start
 * their own.
 */
export default async function runPostgres({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  provide('postgresPort', server.port);
  return () => server.close();
}
