import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { atEnd } from '../../../../test/kit/at-end.ts';
import { descendants } from '../../../../test/kit/processes.ts';
import { until } from '../../../../test/kit/until.ts';
import { signalGroup } from './process-group.ts';
import { openProcessTable } from './process-table.ts';

test.runIf(process.platform === 'linux')('a process that leads a group by now is found in it', async () => {
  const table = openProcessTable();
  // Its child is in the group of the shell, and then leads one of its own.
  const shell = spawn('/bin/sh', ['-c', '(read line; exec setsid sleep 1000) <&3 & wait'], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const group = shell.pid ?? 0;
  atEnd(() => void signalGroup(group, 'SIGKILL'));
  const child = await until('the child is there', () => descendants(group)[0]?.pid);
  const pidsOf = async (wanted: number) =>
    (await table.members(new Set([wanted])))?.get(wanted)?.map(({ pid }) => pid) ?? [];
  expect(await pidsOf(group)).toEqual(expect.arrayContaining([group, child]));
  const go = shell.stdio[3];
  if (go && 'write' in go) go.write('go\n');
  atEnd(() => void signalGroup(child, 'SIGKILL'));
  await until('it leads a group', () => descendants(group).some((one) => one.pid === child && one.group === child));
  expect(await pidsOf(child)).toEqual([child]);
});
