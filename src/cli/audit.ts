import { HubError } from '../core/errors.ts';
import { type Command, type Flags, variablesFrom } from './command.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { oneLine } from './terminal.ts';

/**
 * `toolhub audit`: who did what at a hub, for admins; `export`, all of it; `verify`, whether the chain holds, without a
 * hub (CONTRACT §9 and §12). Changes no record.
 */
export const audit: Command = {
  name: 'audit',
  summary: 'who changed what at a hub; check the chain of its audit log',
  argument: '[export|verify]',
  help: `  Without a word: the newest records of a hub, for its admins.
      --actor <name>       of whom
      --action <part>      like server, login or key.rotate
      --target <part>      what it was done to
      --since <time>, --until <time>
                           a date or a time (ISO 8601)
  -n, --limit <number>     how many at most                      (default 100)
      --json               whole, as lines of JSON
      --url <address>      the hub                               (TOOLHUB_URL, default http://127.0.0.1:3000)
  export: all records of a hub on standard output, as lines of JSON.
  verify: whether the chain holds, without a hub.
      --file <export>      an export, "-" for standard input; without it the database of the hub of this machine,
                           which must not run where it is the embedded one
      --head <hash>        also look for the record with this hash, which was noted before
      --data-dir <folder>  what the hub keeps on disk            (DATA_DIR, default ./data)`,
  options: {
    actor: { type: 'string' },
    action: { type: 'string' },
    target: { type: 'string' },
    since: { type: 'string' },
    until: { type: 'string' },
    limit: { type: 'string', short: 'n' },
    json: { type: 'boolean' },
    url: { type: 'string' },
    file: { type: 'string' },
    head: { type: 'string' },
    'data-dir': { type: 'string' },
  },
  async run(flags, given) {
    const what = given.join(' ');
    if (what === 'verify') return verify(flags);
    if (what !== '' && what !== 'export')
      throw wrongUse('it is "toolhub audit", "toolhub audit export" or "toolhub audit verify"');
    const { exportAudit, listAudit } = await import('./read-audit.ts');
    return what === 'export' ? exportAudit(flags) : listAudit(flags);
  },
};

async function verify(flags: Flags): Promise<ExitCode> {
  const { checkStored, checkExport } = await import('./check-audit.ts');
  const { file, head } = flags;
  if (head !== undefined && !/^[0-9a-f]{64}$/.test(String(head)))
    throw wrongUse('--head takes the 64 hexadecimal digits of a hash');
  const hash = typeof head === 'string' ? head : undefined;
  const { broken, whole, hasHead } =
    typeof file === 'string' ? await checkExport(file, hash) : await checkStored(await environment(flags), hash);
  if (broken) {
    const { line, id, why } = broken;
    const where = id === undefined ? `line ${line}` : `record ${id} (line ${line})`;
    process.stdout.write(`The chain is broken at ${where}: it ${oneLine(why)}.\n`);
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
  if (hash === undefined || hasHead) return exitCodes.stopped;
  process.stdout.write(
    `No record has the hash ${hash}: records were taken from the end, or the chain was made again.\n`,
  );
  return exitCodes.failed;
}

async function environment(flags: Flags) {
  const { readProcessEnv } = await import('../env/env.ts');
  return readProcessEnv(variablesFrom(flags));
}

function wrongUse(why: string): HubError {
  return new HubError('misconfigured', `Cannot use the audit log: ${why}.`);
}
