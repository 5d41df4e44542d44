import { bundleLimits } from './limits.ts';

/**
 * The path of a zip entry below the folder it is unpacked to, as segments; a string says what is wrong with it. The
 * same rules hold on every system, so that a bundle accepted here is not an attack elsewhere. An empty array is the
 * folder itself.
 */
export function entryPath(name: string): string[] | string {
  if (Buffer.byteLength(name) > bundleLimits.bundlePathBytes)
    return `is longer than ${bundleLimits.bundlePathBytes} bytes`;
  // oxlint-disable-next-line no-control-regex -- these are the ones to refuse
  if (/[\u0000-\u001f\u007f]/.test(name)) return 'contains a control character';
  if (name.includes('\\')) return 'contains a backslash';
  if (name.startsWith('/')) return 'is absolute';
  // A drive letter, or an alternate stream of NTFS.
  if (name.includes(':')) return 'contains a colon';
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) return 'leads out of the bundle';
  if (segments.some((segment) => Buffer.byteLength(segment) > 255)) return 'has a part longer than 255 bytes';
  if (segments.some((segment) => /[. ]$/.test(segment))) return 'has a part that ends with a dot or a blank';
  return segments;
}

/**
 * The paths of one archive. Two that differ only in case or Unicode form are one file on macOS and Windows, where the
 * second would replace the first.
 */
export function createPathSet() {
  const kinds = new Map<string, 'file' | 'folder'>();

  return {
    /** Adds a path; says what is wrong when it collides with another. */
    add(segments: readonly string[], kind: 'file' | 'folder'): string | undefined {
      for (let depth = 1; depth < segments.length; depth++) {
        const parent = key(segments.slice(0, depth));
        if (kinds.get(parent) === 'file') return 'lies below a file';
        kinds.set(parent, 'folder');
      }
      const own = key(segments);
      const known = kinds.get(own);
      if (known !== undefined && (kind === 'file' || known === 'file')) return 'occurs twice';
      kinds.set(own, kind);
      return undefined;
    },
  };
}

function key(segments: readonly string[]): string {
  return segments.join('/').normalize('NFC').toLowerCase();
}
