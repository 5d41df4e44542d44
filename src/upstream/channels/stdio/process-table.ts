import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { statFields } from '../../../disk/process-start.ts';
import { upstreamLimits } from '../../limits.ts';

export interface GroupMember {
  readonly pid: number;
  /** Its arguments with blanks between them. */
  readonly command: string;
  /** Its environment, one variable a line; empty where the system does not tell. */
  readonly environment: string;
}

/** Who is in which process group now. */
export interface ProcessTable {
  /** The members of these groups; a group that is gone has none. Undefined where the system does not tell. */
  members(groups: ReadonlySet<number>): Promise<ReadonlyMap<number, readonly GroupMember[]> | undefined>;
}

export function openProcessTable(platform: NodeJS.Platform = process.platform): ProcessTable {
  if (platform === 'linux') return linuxTable();
  if (platform === 'win32') return { members: async () => undefined };
  return { members: psMembers };
}

/**
 * Reads `/proc`. What group a process is in is read once, for a process that is new since the last look; again where
 * that was long ago, since another process may have its number by now, and of a process whose id is one of the groups.
 */
function linuxTable(): ProcessTable {
  let groupOf = new Map<string, number>();
  let lookedAt = -Infinity;
  let own: number | undefined;
  return {
    async members(groups) {
      own ??= groupIn(await textOf('/proc/self/stat'));
      const found = new Map<number, GroupMember[]>();
      const known = new Map<string, number>();
      if (performance.now() - lookedAt > upstreamLimits.groupsKnownMs) groupOf = new Map();
      lookedAt = performance.now();
      for (const pid of await readdir('/proc')) {
        if (!/^\d+$/.test(pid)) continue;
        const before = groups.has(Number(pid)) ? undefined : groupOf.get(pid);
        const group = before ?? groupIn(await textOf(`/proc/${pid}/stat`));
        // A child of the hub is in the group of the hub until it gets one of its own.
        if (group > 0 && group !== own) known.set(pid, group);
        if (!groups.has(group)) continue;
        const member = {
          pid: Number(pid),
          command: (await textOf(`/proc/${pid}/cmdline`)).replaceAll('\0', ' ').trim(),
          environment: (await textOf(`/proc/${pid}/environ`)).replaceAll('\0', '\n'),
        };
        const members = found.get(group);
        if (members) members.push(member);
        else found.set(group, [member]);
      }
      groupOf = known;
      return found;
    },
  };
}

function groupIn(stat: string): number {
  return Number(statFields(stat)[2] ?? 0);
}

async function psMembers(
  groups: ReadonlySet<number>,
): Promise<ReadonlyMap<number, readonly GroupMember[]> | undefined> {
  const found = new Map<number, GroupMember[]>();
  try {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,pgid=,command='], {
      maxBuffer: 16 * 1024 * 1024,
    });
    for (const line of stdout.split('\n')) {
      const [, pid, pgid, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      const group = Number(pgid);
      if (!groups.has(group)) continue;
      const member = { pid: Number(pid), command, environment: '' };
      const members = found.get(group);
      if (members) members.push(member);
      else found.set(group, [member]);
    }
    return found;
  } catch {
    return undefined;
  }
}

/** Processes end while they are looked at, and those of other users may not be: both read as nothing. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return '';
  }
}
