import { upstreamLimits } from '../../limits.ts';
import { type LauncherName, signsOf } from './launcher.ts';
import type { GroupMember, ProcessTable } from './process-table.ts';

/**
 * What the process group of a launcher is doing. `busy`: installing, and the launcher has other processes at work.
 * `unknown`: the system does not tell.
 */
export type GroupState = 'installing' | 'busy' | 'running' | 'gone' | 'unknown';

/** Follows the process groups of launchers. */
export interface GroupWatch {
  /** Calls `changed` with each new state, and at first with the state found, until the function returned is called. */
  follow(group: number, launcher: LauncherName, changed: (state: GroupState) => void): () => void;
  look(group: number, launcher: LauncherName): Promise<GroupState>;
}

export function createGroupWatch(table: ProcessTable): GroupWatch {
  interface Followed {
    readonly group: number;
    readonly launcher: LauncherName;
    readonly changed: (state: GroupState) => void;
    state: GroupState | undefined;
  }
  const followed = new Set<Followed>();
  let timer: NodeJS.Timeout | undefined;

  async function lookAtAll(): Promise<void> {
    const members = await table.members(new Set([...followed].map(({ group }) => group)));
    for (const one of followed) {
      const state = members ? stateOf(members.get(one.group) ?? [], one.group, one.launcher) : 'unknown';
      if (!followed.has(one) || state === one.state) continue;
      one.state = state;
      one.changed(state);
    }
    timer = followed.size > 0 ? setTimeout(() => void lookAtAll(), upstreamLimits.installLookMs).unref() : undefined;
  }

  return {
    follow(group, launcher, changed) {
      const one: Followed = { group, launcher, changed, state: undefined };
      followed.add(one);
      timer ??= setTimeout(() => void lookAtAll(), upstreamLimits.installLookMs).unref();
      return () => void followed.delete(one);
    },
    async look(group, launcher) {
      const members = await table.members(new Set([group]));
      return members ? stateOf(members.get(group) ?? [], group, launcher) : 'unknown';
    },
  };
}

function stateOf(members: readonly GroupMember[], group: number, name: LauncherName): GroupState {
  const { launcher, program } = signsOf(name);
  if (members.length === 0) return 'gone';
  const leader = members.find(({ pid }) => pid === group);
  // It became the program itself. A process that is ending has no command line any more.
  if (launcher !== undefined && leader?.command && !new RegExp(launcher).test(leader.command)) return 'running';
  const others = members.filter((one) => one !== leader);
  const isProgram = program === undefined ? undefined : new RegExp(program, 'm');
  const runs = others.some(({ command, environment }) => isProgram?.test(command) || isProgram?.test(environment));
  return runs ? 'running' : others.length > 0 ? 'busy' : 'installing';
}
