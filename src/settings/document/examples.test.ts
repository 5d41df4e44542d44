import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isObject } from '../../core/protocol/rpc.ts';
import { parseSettings } from './parse-settings.ts';

// What the documents show of the settings file is taken by the hub as it stands.

const root = new URL('../../../', import.meta.url);
const documents = ['README.md', 'SECURITY.md', ...readdirSync(new URL('docs', root)).map((name) => `docs/${name}`)];
const members = new Set(['mcpServers', 'groups', 'users', 'bearerKeys', 'systemConfig', 'prompts', 'resources']);

/** The examples that are JSON, each with its place; a part of an object is put into braces. */
const examples = documents
  .filter((path) => path.endsWith('.md'))
  .flatMap((path) => {
    const text = readFileSync(new URL(path, root), 'utf8');
    return [...text.matchAll(/^ *```json\n([\s\S]*?)^ *```/gm)].map(({ 1: block = '', index }) => ({
      place: `${path}:${text.slice(0, index).split('\n').length}`,
      block: block.trim(),
    }));
  });

/** Undefined: it is no JSON. Several objects, a line each, are their list. */
function parsed(block: string): unknown {
  for (const text of [block, `{${block}}`, `[${block.split('\n').join(',')}]`]) {
    try {
      return JSON.parse(text);
    } catch {
      // The next form.
    }
  }
  return undefined;
}

test.each(examples)('the example at $place is JSON', ({ block }) => {
  expect(parsed(block)).toBeDefined();
});

const ofSettings = examples.flatMap(({ place, block }) => {
  const value = parsed(block);
  return isObject(value) && Object.keys(value).some((member) => members.has(member)) ? [{ place, value }] : [];
});

test('there are examples of settings', () => {
  expect(ofSettings.length).toBeGreaterThan(15);
});

test.each(ofSettings)('the settings at $place are accepted, without a warning', ({ value }) => {
  // A hash is too long for a page; an example may name a server that another one has.
  let hashes = 0;
  const hash = () => `"${String(++hashes).padEnd(64, '0')}"`;
  const whole: unknown = JSON.parse(JSON.stringify(value).replaceAll(/"…[^"]*"/g, hash));
  const { warnings, faults } = parseSettings(whole);
  expect([...faults.values()].flat()).toEqual([]);
  expect(warnings.filter(({ message }) => !message.endsWith('kept for when there is one'))).toEqual([]);
});
