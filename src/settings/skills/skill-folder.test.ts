import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { until } from '../../../test/kit/until.ts';
import type { Logger } from '../../core/logger.ts';
import { settingsLimits } from '../limits.ts';
import { watchSkillFolder } from './skill-folder.ts';

let base: string;
let lines: string[];

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'toolhub-skills-'));
  lines = [];
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(path: string, content: string | Buffer): void {
  const file = join(base, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

const md = (name: string, more = '') => `---\nname: ${name}\ndescription: Does ${name}\n${more}---\n# Steps`;

/** What is in the folder `s`, looked at once. */
async function read(named: string | undefined = 's') {
  const log = { warn: (text: string) => void lines.push(text), error: (text: string) => void lines.push(text) };
  const folder = await watchSkillFolder({
    folder: () => named,
    base,
    log: log as unknown as Logger,
    changed: () => undefined,
  });
  folder.close();
  return folder.skills;
}

test('a folder with a SKILL.md is a skill, with every file, its bytes and its digest', async () => {
  write('s/pdf/SKILL.md', md('pdf', 'metadata: { version: 1.0, on: 2024-01-02 }\nx: [no]\n'));
  write('s/pdf/ref/Größe 1.md', 'a\r\n');
  write('s/pdf/logo.png', Buffer.from([0xff, 0xfe, 0]));
  write('s/pdf/.git/config', 'hidden');
  write('s/.hidden/SKILL.md', md('hidden'));
  write('s/README.md', 'no skill');
  const [skill, ...others] = await read();
  expect([others, lines]).toEqual([[], []]);
  const entry = JSON.parse(skill?.entry ?? '{}') as Record<string, unknown>;
  expect(entry).toMatchObject({
    uri: 'skill://$hub/pdf/SKILL.md',
    frontmatter: { name: 'pdf', description: 'Does pdf', metadata: { version: 1, on: '2024-01-02' }, x: ['no'] },
  });
  expect(entry['resources']).toEqual([
    { uri: 'skill://$hub/pdf/SKILL.md', digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), size: 98 },
    { uri: 'skill://$hub/pdf/logo.png', digest: expect.any(String), size: 3 },
    {
      uri: 'skill://$hub/pdf/ref/Gr%C3%B6%C3%9Fe%201.md',
      // printf 'a\r\n' | sha256sum
      digest: 'sha256:8e4621379786ef42a4fec155cd525c291dd7db3c1fde3478522f4f61c03fd1bd',
      size: 3,
    },
  ]);
  expect(skill?.files.map(({ name, mimeType, content }) => [name, mimeType, content]).slice(1)).toEqual([
    ['logo.png', 'image/png', { blob: '//4A' }],
    ['Größe 1.md', 'text/markdown', { text: 'a\r\n' }],
  ]);
});

test('one that cannot be used is left out, and a line says what to do', async () => {
  write('s/good/SKILL.md', md('good'));
  write('s/empty/other.md', 'x');
  write('s/other-name/SKILL.md', md('another'));
  write('s/Upper/SKILL.md', md('Upper'));
  write('s/no-yaml/SKILL.md', '# Steps');
  write('s/bad-yaml/SKILL.md', '---\nname: [\n---\n');
  write('s/aliases/SKILL.md', '---\nname: &a aliases\ndescription: *a\n---\n');
  write('s/list/SKILL.md', '---\n- a\n---\n');
  write('s/no-words/SKILL.md', '---\nname: no-words\n---\n');
  write('s/binary/SKILL.md', Buffer.from([0xff, 0xfe]));
  write('s/long/SKILL.md', md('long'));
  write('s/long/big.bin', Buffer.alloc(settingsLimits.skillFileBytes + 1));
  write('s/deep/SKILL.md', md('deep'));
  write(`s/deep/${'d/'.repeat(settingsLimits.skillDepth + 1)}x`, '');
  expect((await read()).map(({ name }) => name)).toEqual(['good']);
  expect(lines).toHaveLength(11);
  for (const line of lines) expect(line).toMatch(/^The skill "[\w-]+" is left out: .+: .+\.$/);
  expect(lines.join('\n')).toContain('write "name: other-name"');
});

test('no link leads out of the folder; one within it is followed', async () => {
  write('secret/SKILL.md', md('linked'));
  write('secret/key', 'private');
  for (const name of ['file', 'up', 'loop', 'within']) write(`s/${name}/SKILL.md`, md(name));
  symlinkSync(join(base, 'secret'), join(base, 's/linked'));
  symlinkSync(join(base, 'secret/key'), join(base, 's/file/key'));
  symlinkSync('../../secret', join(base, 's/up/ref'));
  symlinkSync('.', join(base, 's/loop/again'));
  write('s/..data/a.md', 'mounted');
  symlinkSync('../..data/a.md', join(base, 's/within/a.md'));
  const skills = await read();
  expect(skills.map(({ name }) => name)).toEqual(['within']);
  expect(skills[0]?.files.map(({ name }) => name)).toEqual(['SKILL.md', 'a.md']);
  expect(lines).toHaveLength(4);
});

test('no folder is named, or it is not there', async () => {
  const none = { folder: () => undefined, base, log: {} as Logger, changed: () => undefined };
  const folder = await watchSkillFolder(none);
  folder.close();
  expect(folder.skills).toEqual([]);
  expect(await read('missing')).toEqual([]);
  expect(lines).toEqual([expect.stringContaining('systemConfig.skills.folder')]);
});

test('files that come into a folder that was empty when it was named are a change; the name itself is none', async () => {
  let named: string | undefined;
  let looks = 0;
  const changes: (readonly string[])[] = [];
  mkdirSync(join(base, 's'));
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const folder = await watchSkillFolder({
    folder() {
      looks += 1;
      return named;
    },
    base,
    log: { warn: () => undefined, error: () => undefined } as unknown as Logger,
    changed: () => undefined,
    filesChanged: (before, after) => void changes.push([before.length, after.length].map(String)),
  });
  try {
    /** One whole look: the next one begins only after it. */
    const looked = async () => {
      const before = looks;
      await until('a whole look', () => {
        vi.advanceTimersByTime(settingsLimits.settingsPollMs);
        return looks > before + 1;
      });
    };
    named = 's';
    await looked();
    write('s/good/SKILL.md', md('good'));
    await looked();
    expect([folder.skills.length, changes]).toEqual([1, [['0', '1']]]);
    write('other/good/SKILL.md', md('good', 'x: 1\n'));
    named = 'other';
    await looked();
    expect([folder.skills.length, changes.length]).toEqual([1, 1]);
  } finally {
    folder.close();
    vi.useRealTimers();
  }
});
