import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { statFields } from '../disk/process-start.ts';

/** Secrets that programs of the hub's user can read outside the hub, and where. */
export interface ReadableSecrets {
  readonly names: readonly string[];
  /** `process 12 (npm start)`; undefined: in the hub's own process, which could not be wiped on this system. */
  readonly process: string | undefined;
}

/**
 * Takes these secrets out of `process.env`, so that no child inherits them, and wipes the block of text that the system
 * handed this process at its start with all variables in it: `/proc/<pid>/environ` shows it to every program of the
 * same user for as long as the process runs (decisions/0036). Returns where they can be read all the same: in this
 * process where there is no such file, and in the processes that started it.
 */
export function withdrawSecrets(names: readonly string[]): ReadableSecrets[] {
  const held = names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined || value === '' ? [] : [{ name, value }];
  });
  for (const { name } of held) delete process.env[name];
  const isWiped = wipeBlock();
  if (held.length === 0) return [];
  const here = isWiped ? [] : [{ names: held.map(({ name }) => name), process: undefined }];
  return [...here, ...inAncestors(held)];
}

/** What the operator should know of them, and do. */
export function readableText({ names, process }: ReadableSecrets): string {
  const where =
    process === undefined ? 'the environment of the hub' : `the environment of ${process}, which started the hub`;
  const direct =
    process === undefined ? '' : ', or start the hub without a process in between (node dist/cli.js serve)';
  return `Stdio servers run as the hub's user and can read ${names.join(', ')} in ${where}. Put them into files (${names.map((name) => `${name}_FILE`).join(', ')})${direct}.`;
}

/** Whether nothing is left of the block. Only Linux lets a process write to it. */
function wipeBlock(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    // Setting a variable copies its text out of the block, where the C library would go on to look for it.
    for (const [name, value] of Object.entries(process.env)) process.env[name] = value;
    const start = startOfBlock(readFileSync('/proc/self/stat', 'utf8'));
    const wiped = withoutText(readFileSync('/proc/self/environ'));
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      writeSync(memory, wiped, 0, wiped.length, start);
    } finally {
      closeSync(memory);
    }
    return readFileSync('/proc/self/environ').equals(wiped);
  } catch {
    return false;
  }
}

/** Where the block begins in the memory of a process: field 50 of proc(5) stat. */
function startOfBlock(stat: string): number {
  const start = Number(statFields(stat)[47]);
  if (Number.isSafeInteger(start) && start > 0) return start;
  throw new Error('The system does not say where the environment is');
}

/**
 * The block with zeros for every variable but those that are not text in UTF-8: Node could not have copied them, and
 * programs would lose them.
 */
function withoutText(block: Buffer): Buffer {
  const wiped = Buffer.from(block);
  for (let from = 0; from < block.length;) {
    const zero = block.indexOf(0, from);
    const end = zero === -1 ? block.length : zero;
    const entry = block.subarray(from, end);
    if (Buffer.from(entry.toString('utf8')).equals(entry)) wiped.fill(0, from, end);
    from = end + 1;
  }
  return wiped;
}

/**
 * The processes above this one that still have them: `npm start` runs the hub as a grandchild that gets all its
 * variables from it.
 */
function inAncestors(held: readonly { readonly name: string; readonly value: string }[]): ReadableSecrets[] {
  const found: ReadableSecrets[] = [];
  for (let pid = process.ppid; pid > 0; pid = parentOf(pid)) {
    const entries = new Set(told(`/proc/${pid}/environ`).split('\0'));
    const names = held.filter(({ name, value }) => entries.has(`${name}=${value}`)).map(({ name }) => name);
    const command = told(`/proc/${pid}/comm`).trim();
    if (names.length > 0) found.push({ names, process: `process ${pid} (${command})` });
  }
  return found;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(told(`/proc/${pid}/status`))?.[1] ?? 0);
}

/**
 * Processes of other users, and those that have just ended, tell nothing: what cannot be read by us cannot be read by
 * our children.
 */
function told(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** What a variable of this process is, which it has no more afterwards. */
export function takeVariable(name: string): string | undefined {
  const value = process.env[name];
  delete process.env[name];
  return value;
}
