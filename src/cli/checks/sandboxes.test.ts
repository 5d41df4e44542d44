import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../../test/kit/databases.ts';
import type { SandboxSettings } from '../../core/settings/server.ts';
import { checkSandboxes } from './sandboxes.ts';

const program = (name: string, sandbox?: SandboxSettings) => ({
  name,
  transport: { type: 'stdio' as const, command: 'x', args: [], env: {}, cwd: undefined, sandbox },
});
const closed = { network: 'none', read: [], write: [] } as const;

test('a report says how each program is held, and that bubblewrap is missing where one needs it', () => {
  const folder = tempFolder();
  const servers = [
    program('free'),
    program('held', { ...closed, read: ['/a'] }),
    program('open', { ...closed, network: 'host' }),
  ];
  const detail =
    'in a sandbox: held (no network; reads /a), open (network of the hub); without one, as the hub itself: free';
  expect(checkSandboxes(servers, folder)).toMatchObject([
    {
      status: 'fail',
      detail: expect.stringContaining(detail) as string,
      fix: expect.stringContaining('bubblewrap') as string,
    },
  ]);
  expect(checkSandboxes([program('free')], folder)).toMatchObject([{ status: 'ok' }]);
  writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\n');
  chmodSync(join(folder, 'bwrap'), 0o755);
  expect(checkSandboxes(servers, folder)).toEqual([{ name: 'sandboxes', status: 'ok', detail }]);
  expect(
    checkSandboxes([program('small', { ...closed, memoryMb: 64, cpus: 0.5, processes: 9 })], folder),
  ).toMatchObject([{ detail: 'in a sandbox: small (no network; 64 MB of memory; 0.5 processors; 9 processes)' }]);
  const { name, transport } = program('boxed');
  const boxed = { name, transport: { ...transport, container: { image: 'node:24' } } };
  expect(checkSandboxes([boxed], tempFolder())).toMatchObject([
    { status: 'ok', detail: 'in a sandbox: boxed (container of node:24; no network)' },
  ]);
  expect(checkSandboxes([], folder)).toEqual([]);
});
