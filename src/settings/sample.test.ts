import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../test/kit/databases.ts';
import { program, settingsPlace } from '../../test/kit/settings-place.ts';
import { makeSampleFolder, sampleSettings } from './sample.ts';

test('the folder of the samples is there for each hub that has them in its settings, whoever wrote those, and for no other', async () => {
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
