// What is alive in another process: it is made to collect, and to tell.
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

/** For Node, of the process that is to be looked into. */
export const memoryFlags = ['--require', fileURLToPath(new URL('tell-memory.cjs', import.meta.url))];

/** Kilobytes in use after a collection. */
export async function liveMemory(pid) {
  const file = `${tmpdir()}/bench-memory-${pid}`;
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (let wait = 0; wait < 500; wait++) {
    await new Promise((done) => setTimeout(done, 20));
    try {
      const text = readFileSync(file, 'utf8');
      if (text.endsWith('\n')) return Number(text);
    } catch {
      // Not yet.
    }
  }
  throw new Error('the process does not tell what it holds');
}
