import { execFileSync } from 'node:child_process';

/** Whether bubblewrap can make a sandbox here: in containers without user namespaces it cannot. */
export const canSandbox = ((): boolean => {
  try {
    execFileSync('bwrap', ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();
