import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { upstreamLimits } from '../../limits.ts';

/**
 * Makes sure that no process group outlives the hub, however the hub ends: one shell for the whole hub waits on a pipe,
 * and when the kernel closes that pipe because the hub is gone (kill -9 too), it ends the groups that are still
 * registered. A launcher that is installing is left to end its installation first; what it starts then is ended. Where
 * there is no `sh` it does nothing.
 */
export interface Reaper {
  /**
   * Before a process is started: the shell is there when its group is added. A hub that is killed between the two
   * leaves the process running, and starting the shell would take most of that time.
   */
  prepare(): void;
  /**
   * `installing`: how to tell that the launcher that leads the group has come to the program. Added again without it,
   * the group is treated as any other.
   */
  add(pgid: number, installing?: LauncherSigns): void;
  /** This group has ended: its number may soon belong to another process group. */
  remove(pgid: number): void;
  /**
   * Lets the shell go; groups still registered are ended by it. Resolves when it has ended, or goes on for the sake of
   * an installation.
   */
  close(): Promise<void>;
}

/** Both are POSIX extended regular expressions. */
export interface LauncherSigns {
  /** What the command line of the leader has for as long as it is the launcher. */
  readonly launcher?: string;
  /**
   * What a line of the command line or the environment of another process of the group has when that is the program.
   */
  readonly program?: string;
}

/**
 * Reads `+pgid`, `-pgid`, and for one that is installing `~pgid`, and its two signs in the next lines. It survives
 * every signal meant for the hub, because the groups must be ended after the hub and not before. Nothing but POSIX
 * shell, so that it runs on the smallest image; some shells do not know the `--` of kill.
 */
const script = () => `
trap '' HUP INT TERM
groups=' '
installs=' '
while IFS= read -r line; do
  pgid=\${line#?}
  case $groups in *" $pgid "*) groups="\${groups%%" $pgid "*} \${groups#*" $pgid "}" ;; esac
  case $installs in *" $pgid "*) installs="\${installs%%" $pgid "*} \${installs#*" $pgid "}" ;; esac
  case $line in
    +*) groups="$groups$pgid " ;;
    '~'*)
      installs="$installs$pgid "
      IFS= read -r launcher
      IFS= read -r program
      eval "launcher_$pgid=\\$launcher program_$pgid=\\$program"
      ;;
  esac
done
signal() {
  kill -s "$1" -- "-$2" 2>/dev/null || kill -s "$1" "-$2" 2>/dev/null
}
send() {
  found=
  for pgid in $groups; do
    if signal "$1" "$pgid"; then found=1; fi
  done
}
end() {
  send TERM
  for look in 1 2; do
    [ -z "$found" ] && return
    sleep 1
    send 0
  done
  send KILL
}
runs() {
  eval "launcher=\\$launcher_$1 program=\\$program_$1"
  if [ ! -d /proc/self ]; then
    ps -A -ww -o pgid=,command= 2>/dev/null | grep -E "^ *$1 " | grep -Eq "$program"
    return
  fi
  command=$(tr '\\0' ' ' <"/proc/$1/cmdline" 2>/dev/null)
  if [ -n "$command" ] && ! printf '%s' "$command" | grep -Eq "$launcher"; then return 0; fi
  for process in /proc/[0-9]*; do
    [ "$process" = "/proc/$1" ] && continue
    stat=
    read -r stat 2>/dev/null <"$process/stat" || continue
    group=\${stat##*) }
    group=\${group#* }
    group=\${group#* }
    [ "\${group%% *}" = "$1" ] || continue
    { tr '\\0' ' ' <"$process/cmdline"; echo; tr '\\0' '\\n' <"$process/environ"; } 2>/dev/null | grep -Eq "$program" && return 0
  done
  return 1
}
end
second=0
while [ "$installs" != ' ' ] && [ $second -lt ${upstreamLimits.installLeftMs / 1_000} ]; do
  sleep 1
  second=$((second + 1))
  groups=' '
  left=' '
  for pgid in $installs; do
    signal 0 "$pgid" || continue
    if runs "$pgid"; then groups="$groups$pgid "; else left="$left$pgid "; fi
  done
  installs=$left
  end
done
groups=$installs
end
exit 0
`;

/** A hub whose shell keeps dying is on a machine where starting it again and again would not help. */
const startsAllowed = 5;

export function openReaper(): Reaper {
  const groups = new Map<number, LauncherSigns | undefined>();
  let shell: ChildProcess | undefined;
  let starts = 0;
  let closed = false;

  function start(): void {
    if (process.platform === 'win32' || starts >= startsAllowed) return;
    starts++;
    const child = spawn('/bin/sh', ['-c', script(), 'toolhub-reaper'], {
      cwd: '/',
      detached: true,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const gone = (): void => {
      if (shell === child) shell = undefined;
    };
    child.on('error', gone);
    child.on('exit', gone);
    child.stdin?.on('error', gone);
    // It must not keep a hub alive that has nothing else to do.
    child.unref();
    if (child.stdin && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
    shell = child;
    for (const [pgid, installing] of groups) child.stdin?.write(lineOf(pgid, installing));
  }

  return {
    prepare() {
      if (!closed && !shell) start();
    },
    add(pgid, installing) {
      if (closed || (shell && groups.has(pgid) && groups.get(pgid) === installing)) return;
      groups.set(pgid, installing);
      if (shell) shell.stdin?.write(lineOf(pgid, installing));
      else start();
    },
    remove(pgid) {
      if (groups.delete(pgid)) shell?.stdin?.write(`-${pgid}\n`);
    },
    async close() {
      closed = true;
      const child = shell;
      if (!child?.pid) return;
      const ended = new Promise((resolve) => {
        child.once('exit', resolve);
      });
      child.stdin?.end();
      if ([...groups.values()].some((installing) => installing !== undefined)) return;
      child.ref();
      await ended;
    },
  };
}

function lineOf(pgid: number, installing: LauncherSigns | undefined): string {
  if (!installing) return `+${pgid}\n`;
  return `~${pgid}\n${installing.launcher ?? ''}\n${installing.program ?? ''}\n`;
}
