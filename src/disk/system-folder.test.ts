import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { notForOneProgram } from './system-folder.ts';

test.each(['/', '/etc', '/home', '/tmp', '/usr', '/usr/local', '/var/lib', '/Users'])(
  '%s is no folder of one program',
  (path) => {
    expect(notForOneProgram(path)).toMatch(/^all programs of the machine share that folder, .*\/toolhub$/);
  },
);

test.each(['/proc', '/proc/self/toolhub', '/sys/kernel/x', '/dev', '/dev/null/x'])('%s keeps no files', (path) => {
  expect(notForOneProgram(path)).toContain('file system of the kernel');
});

test.each(['/data', '/mnt', '/procedures', '/etc/toolhub', '/var/lib/toolhub', '/dev/shm/toolhub', '/home/ann'])(
  '%s may be the folder of one program',
  (path) => {
    expect(notForOneProgram(path)).toBeUndefined();
  },
);

test('links are followed, and a folder below that is not there yet', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'system-folder-')));
  atEnd(() => rmSync(folder, { recursive: true }));
  const link = join(folder, 'link');
  symlinkSync('/proc', link);
  expect(notForOneProgram(join(link, 'data', 'deep'))).toContain('file system of the kernel');
  expect(notForOneProgram(join(folder, 'data', 'deep'))).toBeUndefined();
});
