import { atFileEnd } from './at-end.ts';

/**
 * Runs the tests of another file, a path below `test/` without its end, with hubs that have a database. In the process
 * that runs files without one: a process for each kind would load the hub once more.
 */
export async function again(file: string, kind: 'postgres' | 'embedded'): Promise<void> {
  const before = process.env['TEST_DATABASE'];
  const restore = () => {
    process.env['TEST_DATABASE'] = before;
  };
  process.env['TEST_DATABASE'] = kind;
  // Each kind is a module of its own: one that was loaded before would have no tests for this file.
  const suite = `../${file}.test.ts?${kind}`;
  try {
    await import(/* @vite-ignore */ suite);
    atFileEnd(restore);
  } catch (error) {
    restore();
    throw error;
  }
}
