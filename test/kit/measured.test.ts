import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { measured } from '../../vitest.config.ts';

test('tests of modules that compare the CPU time of their process have processes of their own', () => {
  const comparing = readdirSync('src', { encoding: 'utf8', recursive: true })
    .map((path) => `src/${path}`)
    .filter((path) => path.endsWith('.test.ts'))
    .filter((path) => /\b(?:cpuMs(?:Of|Until)|process\.cpuUsage)\(/.test(readFileSync(path, 'utf8')));
  expect(comparing.toSorted()).toEqual(measured);
});
