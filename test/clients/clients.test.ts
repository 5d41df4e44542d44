import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { person } from '../kit/command.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';

// `toolhub connect` with the clients' own programs (CONTRACT §12): what it wrote is what they list. They are looked for
// on PATH and where `node test/clients/install.mjs` puts them; a client that is in neither place is skipped.

const execFileAsync = promisify(execFile);
const programs = fileURLToPath(new URL('programs/node_modules/.bin', import.meta.url));
const places = [programs, ...(process.env['PATH'] ?? '').split(delimiter)];
const found = (program: string) => places.map((folder) => join(folder, program)).find((path) => existsSync(path));

interface Listed {
  readonly client: string;
  readonly program: string;
  /** What its `mcp list` prints of the hub; `isGone` is what it prints when there is none. */
  readonly says: (url: string) => RegExp;
  readonly env?: Record<string, string>;
}

const clients: readonly Listed[] = [
  {
    client: 'claude-code',
    program: 'claude',
    says: (url) => new RegExp(`toolhub-dev: ${url} \\(HTTP\\) - .*Connected`),
  },
  // It lists what it was told, and connects when it is used.
  { client: 'codex', program: 'codex', says: (url) => new RegExp(`toolhub-dev +${url} .*enabled`) },
  {
    client: 'gemini-cli',
    program: 'gemini',
    says: (url) => new RegExp(`toolhub-dev: ${url} \\(http\\) - Connected`),
    // In a folder that its user does not trust it connects to nothing.
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
];

describe('the own list of', () => {
  let hub: TestHub;
  beforeAll(async () => {
    const mail = await hostileHttp({ name: 'mail' });
    const groups = [{ id: 'g1', name: 'dev', servers: ['mail'] }];
    hub = await testHub({ mcpServers: { mail: mail.config }, groups });
    await hub.connected(1);
  });

  for (const { client, program, says, env = {} } of clients) {
    const path = found(program);
    test.skipIf(path === undefined)(`${client} has the hub once it is connected, and not after --remove`, async () => {
      const who = person(hub);
      // Codex keeps its files only in a folder that is there.
      mkdirSync(join(who.home, '.codex'), { recursive: true });
      const own = { HOME: who.home, XDG_CONFIG_HOME: join(who.home, '.config'), ...env };
      const list = async (): Promise<string> => {
        const running = execFileAsync(path ?? '', ['mcp', 'list'], { cwd: who.home, env: { ...process.env, ...own } });
        running.child.stdin?.end();
        const { stdout, stderr } = await running;
        return `${stdout}${stderr}`;
      };
      const connect = ['connect', client, '--group', 'dev'];
      expect((await who.run([...connect, '--write', '--no-wait'])).stderr).toBe('');
      expect(await list()).toMatch(says(hub.mcp('dev')));
      expect((await who.run([...connect, '--remove'])).stderr).toBe('');
      expect(await list()).not.toContain(hub.mcp('dev'));
    });
  }
});
