// How late the main thread of another process was.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { after } from './numbers.mjs';

/** For Node, of the process that is to be looked into. */
export const delayFlags = ['--require', fileURLToPath(new URL('tell-delay.cjs', import.meta.url))];

/** Since the last time it was asked, in milliseconds. */
export async function delayOf(pid) {
  const file = `${tmpdir()}/bench-delay-${pid}`;
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) await after(5);
  const told = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file, { force: true });
  return told;
}
