import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Folders that all programs of a machine share. `/mnt` and `/media` are not among them: volumes are mounted there. */
const ofAllPrograms = new Set(
  [
    '/bin /boot /etc /home /lib /lib64 /opt /run /sbin /srv /tmp /usr /var',
    '/usr/bin /usr/lib /usr/lib64 /usr/local /usr/local/bin /usr/local/lib /usr/sbin /usr/share',
    '/var/cache /var/lib /var/log /var/run /var/spool /var/tmp',
    '/Applications /Library /System /Users /private /private/etc /private/tmp /private/var',
  ].flatMap((paths) => paths.split(' ')),
);

/** What the kernel shows there are no files: a folder cannot be made, and Node tries without end. */
const ofKernel = /^\/(?:proc|sys|dev(?!\/shm(?:\/|$)))(?:\/|$)/;

/**
 * Why a folder, given by its absolute path, cannot be one program's own, as the end of a sentence; undefined where it
 * can. Links are followed. Nothing is made or changed.
 */
export function notForOneProgram(path: string): string | undefined {
  const real = realPath(path);
  if (ofKernel.test(real)) return 'it is in a file system of the kernel, which keeps no files. Name another place.';
  if (dirname(real) !== real && !ofAllPrograms.has(real)) return undefined;
  return `all programs of the machine share that folder, and it would be closed to them. Name one in it: ${join(real, 'toolhub')}`;
}

/** The path with the links in it followed, as far as it is there. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}
