import { beforeAll, describe, expect, test } from 'vitest';
import type { SearchReport } from '../../src/mcp/search-report.ts';
import { keyToken, login, userToken } from '../kit/api.ts';
import { runProgram } from '../kit/command.ts';
import { hostileHttp, temporaryFolder } from '../kit/hostile.ts';
import { searchReady } from '../kit/search-ready.ts';
import { type SettingsDocument, type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// `toolhub search`: the real program, asking a hub, or what a hub left behind.

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } });
const mail = await hostileHttp({
  name: 'mail',
  tools: [
    tool('send_email', 'Send an email message \u001b[2J to a recipient'),
    tool('send_fax', 'Send a fax message to a recipient'),
  ],
});
const vault = await hostileHttp({ name: 'vault', tools: [tool('open_vault', 'Open the vault')] });
const settings: SettingsDocument = {
  mcpServers: { mail: mail.config, vault: { ...vault.config, visibility: 'private' } },
  groups: [{ id: 'g1', name: 'faxes', servers: [{ name: 'mail', tools: ['send_fax'] }] }],
};

let hub: TestHub;
let admin: string;
beforeAll(async () => {
  hub = await testHub(settings);
  await hub.connected(2);
  admin = await login(hub);
  await searchReady(hub, admin);
});

async function toolhub(args: string[], env: Record<string, string>) {
  const ran = await runProgram({ args: ['search', ...args], env, cwd: temporaryFolder() });
  return { ...ran, report: () => JSON.parse(ran.stdout) as SearchReport };
}
const ask = (args: string[], more: Record<string, string> = {}) => toolhub(args, { ...hub.env, ...more });
const names = ({ results }: SearchReport) => results.map(({ name }) => name);

describe('a hub that runs', () => {
  test('is found by its data folder and asked without a credential', async () => {
    const { code, stdout, stderr } = await ask(['send', 'an', 'email']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^ +1 {2}0\.\d\d {2}mail-send_email {2}Send an email message/m);
    expect(stdout).not.toContain('\u001b');
  });

  test('tells an admin where scores come from and what was left out', async () => {
    const { stdout } = await ask(['send a message', '--group', 'faxes', '--explain'], { TOOLHUB_TOKEN: admin });
    expect(stdout).toMatch(
      /mail-send_fax[^]*words \d\.\d\d {3}parts of words \d[^]*Left out[^]*not in this group: mail-send_email/,
    );
    const json = (
      await ask(['send a message', '-g', 'faxes', '--explain', '--json'], { TOOLHUB_TOKEN: admin })
    ).report();
    expect(json.dropped).toMatchObject([{ toolName: 'send_email', reason: 'not_in_group' }]);
  });

  test('answers keys and users as it answers their clients', async () => {
    const user = await userToken(hub, admin, 'ann');
    const key = await keyToken(hub, admin, { name: 'CI' });
    expect(names((await ask(['open the vault', '--json'], { TOOLHUB_TOKEN: key })).report())).toContain(
      'vault-open_vault',
    );
    expect(names((await ask(['open the vault', '--json'], { TOOLHUB_TOKEN: user })).report())).not.toContain(
      'vault-open_vault',
    );
    const { code, stderr } = await ask(['send an email', '--explain'], { TOOLHUB_TOKEN: key });
    expect([code, stderr]).toEqual([2, expect.stringContaining('admins only')]);
  });

  test.each([
    [['x'], { TOOLHUB_TOKEN: 'nonsense' }, 2, 'set TOOLHUB_TOKEN'],
    // Arguments of programs are no place for a secret.
    [['x', '--token', 'nonsense'], {}, 2, '--token'],
    [['x', '--url', 'http://127.0.0.1:9'], {}, 1, 'Is it running?'],
    [['x', '--url', 'nowhere'], {}, 2, 'no http'],
    [['x'], { TOOLHUB_URL: 'http://127.0.0.1:9' }, 1, 'Is it running?'],
    [[], {}, 2, 'say what to look for'],
    [[' '], {}, 2, 'say what to look for'],
    [['x', '--limit', '0'], {}, 2, '--limit'],
    [['x', '--no-such'], {}, 2, '--no-such'],
  ])('%j with %j is refused, with what to do', async (args, env, code, words) => {
    const answer = await ask(args, env);
    expect([answer.code, answer.stderr, answer.stdout]).toEqual([code, expect.stringContaining(words), '']);
    expect(answer.stderr).not.toContain('    at ');
  });
});

describe('without a hub', () => {
  test('what the last one saved is searched, and said to be that', async () => {
    const own = await testHub(settings);
    await own.connected(2);
    await own.close();
    const { code, stderr, report } = await toolhub(['send an email', '--explain', '--json'], own.env);
    expect([code, stderr]).toEqual([0, expect.stringContaining('no hub has the data folder')]);
    expect(names(report())[0]).toBe('mail-send_email');
    expect(report().results[0]?.channels?.meaning).toBeGreaterThan(0);
    const grouped = await toolhub(['send an email', '-g', 'faxes', '--json'], own.env);
    expect(names(grouped.report())).toEqual(['mail-send_fax']);
  });

  test('and also while one runs, where that is wanted', async () => {
    await until('the catalogue is saved', async () => (await ask(['send a fax', '--saved'])).code === 0);
    const { stderr, stdout } = await ask(['send a fax', '--saved']);
    expect([stderr, stdout]).toEqual(['', expect.stringContaining('mail-send_fax')]);
  });

  test('nothing saved is said, with what to do', async () => {
    const folder = temporaryFolder();
    const missing = await toolhub(['x'], { DATA_DIR: folder, SETTINGS_PATH: `${folder}/none.json` });
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('no settings file')]);
    const empty = await toolhub(['x'], { DATA_DIR: folder, SETTINGS_PATH: hub.settingsPath });
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('holds no tools')]);
  });
});
