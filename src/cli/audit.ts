import { HubError } from '../core/errors.ts';
import { type Command, type Flags, variablesFrom } from './command.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { disarmed, oneLine } from './terminal.ts';

/** `toolhub audit verify`: whether the chain of the audit log holds, without a hub (CONTRACT §9). Changes no record. */
export const audit: Command = {
  name: 'audit',
  summary: 'check the chain of the audit log',
  argument: 'verify',
  help: `      --file <export>      an export of a hub (GET /api/audit/export), "-" for standard input;
                           without it the database of the hub, which must not run where it is the embedded one
      --head <hash>        also look for the record with this hash, which was published before
      --data-dir <folder>  what the hub keeps on disk            (DATA_DIR, default ./data)`,
  options: { file: { type: 'string' }, head: { type: 'string' }, 'data-dir': { type: 'string' } },
  async run(flags, given) {
    if (given.join(' ') !== 'verify') throw wrongUse('say what to do: toolhub audit verify [--file <export>]');
    const head = flags['head'];
    if (head !== undefined && !/^[0-9a-f]{64}$/.test(String(head)))
      throw wrongUse('--head takes the 64 hexadecimal digits of a hash');
    return report(flags, typeof head === 'string' ? head : undefined);
  },
};

async function report(flags: Flags, head: string | undefined): Promise<ExitCode> {
  const { checkStored, checkExport } = await import('./check-audit.ts');
  const { file } = flags;
  const { broken, whole, hasHead } =
    typeof file === 'string' ? await checkExport(file, head) : await checkStored(await environment(flags), head);
  if (broken) {
    const { line, id, why } = broken;
    const where = id === undefined ? `line ${line}` : `record ${id} (line ${line})`;
    process.stdout.write(`The chain is broken at ${where}: it ${oneLine(disarmed(why))}.\n`);
    return exitCodes.failed;
  }
  if (!whole?.last) {
    process.stdout.write('There is no record.\n');
    return typeof file === 'string' ? exitCodes.failed : exitCodes.stopped;
  }
  const { records, first, last } = whole;
  const older = first > 1 ? ` What was before ${first} went because of its age, as a later record says.` : '';
  process.stdout.write(`The chain is whole: ${records} records, ${first} to ${last.id}.${older}\n`);
  process.stdout.write(`The newest is of ${oneLine(last.time, 40)}, hash ${last.hash}\n`);
  if (head === undefined || hasHead) return exitCodes.stopped;
  process.stdout.write(
    `No record has the hash ${head}: records were taken from the end, or the chain was made again.\n`,
  );
  return exitCodes.failed;
}

async function environment(flags: Flags) {
  const { readProcessEnv } = await import('../env/env.ts');
  return readProcessEnv(variablesFrom(flags));
}

function wrongUse(why: string): HubError {
  return new HubError('misconfigured', `Cannot check the audit log: ${why}.`);
}
