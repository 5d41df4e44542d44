import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { endGroup } from './process-group.ts';

test('where there are no process groups the tree of a process is ended, and no signal is sent', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const pid = child.pid ?? 0;
  const ended: number[] = [];
  await endGroup(pid, 60_000, async (tree) => {
    ended.push(tree);
  });
  expect(ended).toEqual([pid]);
  expect(child.exitCode ?? child.signalCode).toBe(null);
  child.kill('SIGKILL');
  await exited;
});
