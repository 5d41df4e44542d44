import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/kit/hostile.ts';
import { brokenCacheSigns, isInstalled, npxFolder, npxPackages, removeFromCache } from './npx-cache.ts';

test('what npx is asked to install is told from its arguments, or not guessed', () => {
  expect(npxPackages(['-y', '@scope/pkg@latest', '/tmp', '--flag'])).toEqual(['@scope/pkg@latest']);
  expect(npxPackages(['--yes', '--package=one', '-p', 'two', 'bin'])).toEqual(['one', 'two']);
  expect(npxPackages(['-y', '--', 'pkg'])).toEqual(['pkg']);
  for (const args of [[], ['-y'], ['--registry', 'x', 'pkg'], ['-y', './here'], ['-y', 'github:a/b'], ['-c', 'ls']])
    expect(npxPackages(args)).toBeUndefined();
});

test('the folder of a package is the one that npm takes', () => {
  expect(npxFolder(['@modelcontextprotocol/server-everything'], { HOME: '/home/ann' })).toBe(
    '/home/ann/.npm/_npx/5b2dd62b9d0bddd4',
  );
  expect(npxFolder(['a'], { npm_config_cache: '/cache' })).toMatch(/^\/cache\/_npx\/[0-9a-f]{16}$/);
  const home = temporaryFolder();
  writeFileSync(join(home, '.npmrc'), 'color=false\ncache = /var/npm\n');
  expect(npxFolder(['a'], { HOME: home })).toMatch(/^\/var\/npm\/_npx\//);
});

const hash = '0123456789abcdef';

function cacheFolder(): string {
  const folder = join(temporaryFolder(), '.npm/_npx', hash);
  mkdirSync(join(folder, 'node_modules/pkg'), { recursive: true });
  return folder;
}

test('an installation counts from its last step on', () => {
  const folder = cacheFolder();
  expect(isInstalled(folder)).toBe(false);
  writeFileSync(join(folder, 'package.json'), '{"dependencies":{"pkg":"1"}}');
  writeFileSync(join(folder, 'node_modules/.package-lock.json'), '{}');
  expect(isInstalled(folder)).toBe(false);
  writeFileSync(join(folder, 'package.json'), '{"dependencies":{"pkg":"1"},"_npx":{"packages":["pkg"]}}');
  expect(isInstalled(folder)).toBe(true);
  writeFileSync(join(folder, 'package.json'), '{"dependencies":{"pkg":"1","other":"1"},"_npx":{"packages":["pkg"]}}');
  expect(isInstalled(folder)).toBe(false);
  writeFileSync(join(folder, 'package.json'), '{"dep');
  expect(isInstalled(folder)).toBe(false);
});

test.each([
  [`Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/h/.npm/_npx/${hash}/node_modules/zod/index.js'`],
  [`Error: Cannot find module 'zod'`, 'Require stack:', `- /h/.npm/_npx/${hash}/node_modules/pkg/index.js`],
  [`npm error code ENOTEMPTY`, `npm error path /h/.npm/_npx/${hash}/node_modules/zod`],
  [`npm error enoent Could not read package.json: ENOENT: '/h/.npm/_npx/${hash}/package.json'`],
  ['sh: 1: mcp-server: not found'],
  ['sh: mcp-server: command not found'],
])('%s tells of a cache that lacks files', (...lines) => {
  const signs = brokenCacheSigns(`/h/.npm/_npx/${hash}`);
  for (const line of lines) signs.add(line);
  expect(signs.found).toBe(true);
});

test.each([
  ["Error: Cannot find module '/srv/config.json'"],
  [`at /h/.npm/_npx/${hash}/node_modules/pkg/index.js:1:1`, 'Error: API_KEY is not set'],
  [`Cannot find module '/h/.npm/_npx/ffffffffffffffff/x.js'`],
])('%s tells nothing of the cache', (...lines) => {
  const signs = brokenCacheSigns(`/h/.npm/_npx/${hash}`);
  for (const line of lines) signs.add(line);
  expect(signs.found).toBe(false);
});

test('nothing is removed that is not a folder of the cache, or that npm is at work in', async () => {
  const folder = cacheFolder();
  const elsewhere = temporaryFolder();
  mkdirSync(join(elsewhere, hash));
  const linked = join(temporaryFolder(), '_npx');
  symlinkSync(elsewhere, linked);
  for (const wrong of [join(folder, '..'), join(folder, 'node_modules'), join(elsewhere, hash), join(linked, hash)])
    expect(await removeFromCache(wrong)).toBe('refused');
  expect(existsSync(join(elsewhere, hash))).toBe(true);
  const lock = join(folder, 'concurrency.lock');
  mkdirSync(lock);
  expect(await removeFromCache(folder)).toBe('in use');
  utimesSync(lock, 1, 1);
  symlinkSync(elsewhere, join(folder, 'node_modules/linked'));
  expect(await removeFromCache(folder)).toBe('removed');
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(join(elsewhere, hash))).toBe(true);
});
