import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '../version.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolhub-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the real program in an empty folder, with nothing of the tester's environment. */
async function toolhub(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [resolve('dist/cli.js'), ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 20_000,
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

describe('toolhub', () => {
  test.each([['--version'], ['-v'], ['doctor', '--version']])('%s %s prints the version', async (...args) => {
    expect(await toolhub(args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test.each([['--help'], ['-h'], ['help']])('%s lists the commands and the flags', async (...args) => {
    const { code, stdout, stderr } = await toolhub(args);
    expect([code, stderr]).toEqual([0, '']);
    for (const word of ['toolhub serve', 'toolhub doctor', '--port', 'SETTINGS_PATH']) expect(stdout).toContain(word);
  });

  test.each([
    ['help', 'doctor'],
    ['doctor', '--help'],
  ])('%s %s explains one command', async (...args) => {
    const { code, stdout } = await toolhub(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^toolhub doctor: .*\n[\s\S]*--json/);
  });

  test.each([['frobnicate'], ['help', 'frobnicate']])(
    '%s %s: an unknown command gets the help on stderr and exit code 2',
    async (...args) => {
      const { code, stdout, stderr } = await toolhub(args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('There is no command "frobnicate"');
      expect(stderr).toContain('toolhub serve');
    },
  );

  test.each([
    [['--frobnicate'], /--frobnicate[\s\S]*toolhub help serve/],
    [['doctor', '--port'], /--port[\s\S]*toolhub help doctor/],
    [['serve', 'extra'], /extra[\s\S]*toolhub help serve/],
  ])('%j: a bad flag is named, exit code 2', async (args, message) => {
    const { code, stderr } = await toolhub(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
