import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../test/kit/databases.ts';
import { program, settingsPlace } from '../../test/kit/settings-place.ts';
import { makeSampleFolder, sampleSettings, sampleVersion } from './sample.ts';

test('the folder of the samples is there for each hub that has them in its settings, however they got there, and for no other', async () => {
  const [cwd, elsewhere] = [tempFolder(), tempFolder()];
  for (const dataDir of [join(cwd, 'data'), elsewhere]) {
    const { current } = await settingsPlace().open(sampleSettings(dataDir, cwd));
    rmSync(join(dataDir, 'sample'), { recursive: true });
    makeSampleFolder(current, dataDir, cwd);
    expect(existsSync(join(dataDir, 'sample/files/welcome.txt'))).toBe(true);
  }
  const other = await settingsPlace().open({ mcpServers: { time: program('time') } });
  makeSampleFolder(other.current, join(cwd, 'other'), cwd);
  expect(existsSync(join(cwd, 'other'))).toBe(false);
});

test('where the packages of the samples are not installed, npx installs the versions that are tested here', () => {
  const cwd = tempFolder();
  const { mcpServers } = sampleSettings(join(cwd, 'data'), cwd, (module) => {
    throw new Error(`Cannot find ${module}`);
  });
  expect(mcpServers).toMatchObject({
    everything: { command: 'npx', args: ['-y', `@modelcontextprotocol/server-everything@${sampleVersion}`, 'stdio'] },
    filesystem: {
      command: 'npx',
      args: ['-y', `@modelcontextprotocol/server-filesystem@${sampleVersion}`, './data/sample/files'],
    },
    memory: { command: 'npx', args: ['-y', `@modelcontextprotocol/server-memory@${sampleVersion}`] },
  });
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
  for (const name of ['everything', 'filesystem', 'memory']) {
    expect(devDependencies[`@modelcontextprotocol/server-${name}`]).toBe(sampleVersion);
  }
  expect(Object.keys(dependencies).filter((name) => name.startsWith('@modelcontextprotocol/'))).toEqual([]);
});
