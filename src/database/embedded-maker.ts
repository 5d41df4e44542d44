/**
 * Makes an embedded database in the folder that is its argument, and ends: 0 when it is there, 1 after saying why not
 * to the process that started it (make-embedded.ts).
 */
import { PGlite } from '@electric-sql/pglite';
import { packError } from './worker-messages.ts';

// The process that would wait for it is gone.
process.once('disconnect', () => process.exit(1));
make(process.argv[2] ?? '').then(
  () => process.exit(0),
  (error: unknown) => process.send?.(packError(error), () => process.exit(1)),
);

async function make(folder: string): Promise<void> {
  const database = await PGlite.create({ dataDir: folder });
  await database.close();
}
