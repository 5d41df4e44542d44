import { expect, test } from 'vitest';
import { HubError } from '../../core/errors.ts';
import type { Problem } from '../../core/errors.ts';
import { parseSettings } from '../document/parse-settings.ts';

const parse = (document: unknown) => parseSettings(document);

function problems(document: unknown): Problem[] {
  try {
    parse(document);
  } catch (error) {
    if (error instanceof HubError && error.code === 'invalid_input') return [...error.problems];
    throw error;
  }
  throw new Error('accepted');
}
const lines = (document: unknown) => problems(document).map(({ path, message }) => `${path}: ${message}`);
const warnings = (document: unknown) => parse(document).warnings.map(({ path, message }) => `${path}: ${message}`);

test('without an id a group has one that depends on its name alone, in any spelling', () => {
  const id = (name: string, before: object[] = []) =>
    parse({ groups: [...before, { name }] }).settings.groups.at(-1)?.id;
  expect(id('Dev')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(id('Dev')).toBe(id('dev', [{ name: 'other' }]));
  expect(id('Dev')).not.toBe(id('Dev2'));
});

test('an unknown server is kept, with a warning; a disabled or listed one is known', () => {
  const document = {
    mcpServers: { a: { command: 'x', enabled: false } },
    groups: [{ name: 'g', servers: ['a', 'b'] }],
  };
  expect(parse(document).settings.groups[0]?.servers.map((s) => s.name)).toEqual(['a', 'b']);
  expect(warnings(document)).toEqual(['groups[0].servers[1]: there is no server "b"; kept for when there is one']);
});

test('names of tools as clients see them are kept, with a warning what to write', () => {
  const document = {
    mcpServers: { a: { command: 'x' }, b: { command: 'x' } },
    groups: [
      {
        name: 'g',
        servers: [
          { name: 'a', tools: ['a-echo', 'add'] },
          { name: 'b', alias: 'c', prompts: ['c-x'] },
        ],
      },
    ],
  };
  expect(warnings(document)).toEqual([
    'groups[0].servers[0].tools[0]: has the server\'s name in front; if the server itself calls it "echo", write that',
    'groups[0].servers[1].prompts[0]: has the server\'s name in front; if the server itself calls it "x", write that',
  ]);
});

test('two servers of a group cannot have one prefix', () => {
  const servers = [{ name: 'a' }, { name: 'b', alias: 'a' }];
  expect(lines({ groups: [{ name: 'g', servers }] })[0]).toContain(
    'groups[0].servers[1].alias: is the same as groups[0].servers[0]',
  );
});

test('a selection is "all" or names', () => {
  const servers = [{ name: 'a', tools: 'some', prompts: [1] }];
  expect(lines({ groups: [{ name: 'g', servers }] })).toEqual([
    'groups[0].servers[0].tools: expected "all" or an array of names, found a string',
    'groups[0].servers[0].prompts: expected "all" or an array of names, found an array',
  ]);
});

test('a group whose ids meet another one is refused', () => {
  expect(
    lines({
      groups: [
        { id: 'x', name: 'a' },
        { id: 'x', name: 'b' },
      ],
    })[0],
  ).toContain('groups[1].id: is the same as groups[0].id');
});
