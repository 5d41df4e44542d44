import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';
import { within } from './until.ts';

/** `old`: revision 2025-11-25 and its sessions. `new`: 2026-07-28. */
export type Era = 'old' | 'new';

const fixture = fileURLToPath(new URL('conformance/fixture.mjs', import.meta.url));

/** Settings of a server of the hub: the conformance fixture over stdio. */
export function stdioFixture(era: Era): { command: string; args: string[] } {
  return { command: process.execPath, args: [fixture, 'stdio', era] };
}

/** Starts the conformance fixture over HTTP, until the test or its file ends. The address of its endpoint. */
export async function httpFixture(era: Era): Promise<string> {
  const child = fork(fixture, ['http', era], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  atEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
    child.once('exit', (code) => reject(new Error(`The fixture ended with ${code}`)));
  });
  return within('the start of the fixture', url, 60_000);
}
