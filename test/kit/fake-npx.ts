import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';
import { type HostileOptions, temporaryFolder } from './hostile.ts';
import { processes } from './processes.ts';

const fixture = (path: string) => fileURLToPath(new URL(`fixtures/${path}`, import.meta.url));

export interface NpxEvent {
  readonly package: string;
  readonly pid: number;
  /** `install`, `installed`, `run`, `ended`, or the name of a signal that came while it was installing. */
  readonly event: string;
}

/** A home folder with a cache of its own, and an `npx` that installs as slowly as a test wants. */
export interface FakeNpx {
  readonly home: string;
  readonly env: Record<string, string>;
  /** The settings of a server that is started by `npx -y <name>`. */
  server(name: string, options?: HostileOptions): Record<string, unknown>;
  /** Lets the installation of a package, whenever it comes, end. */
  install(name: string): void;
  /** The installation of a package ends because of a script of it, without a word. */
  fail(name: string): void;
  /** The program of the package does not start before `go` is called. */
  hold(name: string): { go(): void };
  /** The folder of a package in the cache. */
  folder(name: string): string;
  /** Whether a package is in the cache as a whole. */
  isWhole(name: string): boolean;
  /** Takes a file of the package out of the cache, as an interrupted installation does. */
  breakCache(name: string): void;
  events(name?: string): NpxEvent[];
  /** How many times each thing happened to a package. */
  count(name: string, event: string): number;
}

export function fakeNpx(): FakeNpx {
  const home = temporaryFolder();
  const bin = join(home, 'bin');
  for (const folder of ['bin', 'go', 'hold', 'fail']) mkdirSync(join(home, folder));
  symlinkSync(fixture('npx/npx.mjs'), join(bin, 'npx'));
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: home,
    FAKE_SERVER: fixture('hostile-stdio.mjs'),
  };
  const folder = (name: string): string =>
    join(home, '.npm/_npx', createHash('sha512').update(name).digest('hex').slice(0, 16));
  const events = (name?: string): NpxEvent[] => {
    const journal = join(home, 'journal.jsonl');
    if (!existsSync(journal)) return [];
    const lines = readFileSync(journal, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as NpxEvent).filter((one) => !name || one.package === name);
  };
  const part = (name: string): string => join(folder(name), 'node_modules', name, 'part.mjs');
  // A launcher that is installing is left alone by the hub, and by what ends hubs after a test.
  atEnd(() => {
    for (const { pid, command } of processes()) if (command.includes(home)) process.kill(pid, 'SIGKILL');
  });
  return {
    home,
    env,
    server: (name, options = {}) => ({ command: 'npx', args: ['-y', name, JSON.stringify(options)], env }),
    install: (name) => writeFileSync(join(home, 'go', name), ''),
    fail(name) {
      writeFileSync(join(home, 'fail', name), '');
      this.install(name);
    },
    hold(name) {
      const file = join(home, 'hold', name);
      writeFileSync(file, '');
      return { go: () => rmSync(file) };
    },
    folder,
    isWhole: (name) => existsSync(part(name)) && existsSync(join(folder(name), 'node_modules/.package-lock.json')),
    breakCache: (name) => rmSync(part(name)),
    events,
    count: (name, event) => events(name).filter((one) => one.event === event).length,
  };
}
