import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/**
 * Makes sure that no process group outlives the hub, however the hub ends: one shell for the whole hub waits on a pipe, and when the kernel closes
 * that pipe because the hub is gone (kill -9 too), it ends the groups that are still registered. Where there is no `sh` it does nothing.
 */
export interface Reaper {
  add(pgid: number): void;
  /** This group has ended: its number may soon belong to somebody else. */
  remove(pgid: number): void;
  /** Lets the shell go; groups still registered are ended by it. Resolves when it has ended. */
  close(): Promise<void>;
}

/**
 * Reads `+pgid` and `-pgid`. It survives every signal meant for the hub, because the groups must be ended after the hub and not before. Nothing but
 * POSIX shell, so that it runs on the smallest image; some shells do not know the `--` of kill.
 */
const script = `
trap '' HUP INT TERM
groups=' '
while IFS= read -r line; do
  pgid=\${line#?}
  case $line in
    +*) groups="$groups$pgid " ;;
    -*) case $groups in *" $pgid "*) groups="\${groups%%" $pgid "*} \${groups#*" $pgid "}" ;; esac ;;
  esac
done
send() {
  for pgid in $groups; do
    if kill -s "$1" -- "-$pgid" 2>/dev/null || kill -s "$1" "-$pgid" 2>/dev/null; then found=1; fi
  done
}
found=
send TERM
for second in 1 2; do
  [ -z "$found" ] && exit 0
  sleep 1
  found=
  send 0
done
send KILL
exit 0
`;

/** A hub whose shell keeps dying is on a machine where starting it again and again would not help. */
const startsAllowed = 5;

export function openReaper(): Reaper {
  const groups = new Set<number>();
  let shell: ChildProcess | undefined;
  let starts = 0;
  let closed = false;

  function start(): void {
    if (process.platform === 'win32' || starts >= startsAllowed) return;
    starts++;
    const child = spawn('/bin/sh', ['-c', script, 'toolhub-reaper'], {
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
    for (const pgid of groups) child.stdin?.write(`+${pgid}\n`);
  }

  return {
    add(pgid) {
      if (closed) return;
      groups.add(pgid);
      if (shell) shell.stdin?.write(`+${pgid}\n`);
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
      child.ref();
      child.stdin?.end();
      await ended;
    },
  };
}
