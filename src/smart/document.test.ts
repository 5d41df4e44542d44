import { expect, test } from 'vitest';
import { cpuMsOf } from '../../test/kit/cpu.ts';
import { toolDocument } from './document.ts';

const server = { name: 'files' };

test('title and description are read, and names and texts of all parameters', () => {
  const document = toolDocument(
    'k',
    { name: 'files', description: 'Works with files.' },
    {
      name: 'write_file',
      title: 'Write',
      description: 'Writes a file.',
      inputSchema: {
        type: 'object',
        properties: {
          path: { type: 'string', description: 'Where to.' },
          mode: { enum: ['append', 'replace', 7] },
          options: { properties: { encoding: { description: 'Such as UTF-8.' } } },
          lines: { type: 'array', items: { properties: { text: {} } } },
        },
        anyOf: [{ properties: { owner: {} } }],
      },
    },
  );
  expect(document).toEqual({
    key: 'k',
    server: 'files',
    serverDescription: 'Works with files.',
    name: 'write_file',
    description: 'Write. Writes a file.',
    parameterNames: 'path mode options encoding lines text owner',
    parameterTexts: 'Where to. append replace Such as UTF-8.',
  });
});

test('long enumerations are left out', () => {
  const zones = Array.from({ length: 400 }, (_, i) => `Zone/${i}`);
  const { parameterTexts } = toolDocument('k', server, {
    name: 'n',
    inputSchema: { properties: { zone: { enum: zones } } },
  });
  expect(parameterTexts).toBe('');
});

test('whatever a server sends in place of texts and schemas, there is a document', () => {
  for (const odd of [
    undefined,
    null,
    7,
    'text',
    [],
    [[]],
    { properties: [] },
    { properties: { a: null, b: 3, c: { enum: {}, items: 'x' } }, anyOf: {} },
  ]) {
    const document = toolDocument('k', server, { name: 'n', title: odd, description: odd, inputSchema: odd });
    expect(Object.values(document).every((value) => typeof value === 'string')).toBe(true);
  }
});

test('a schema of any depth and width takes bounded time and text', () => {
  const deep: Record<string, unknown> = {};
  for (let i = 0, node = deep; i < 10_000; i++) {
    const next = {};
    node['properties'] = { [`level${i}`]: next };
    node = next;
  }
  expect(toolDocument('k', server, { name: 'n', inputSchema: deep }).parameterNames.split(' ').length).toBeLessThan(10);
  const fan = (depth: number): unknown =>
    depth === 0 ? {} : { anyOf: Array(40).fill(fan(depth - 1)), properties: { p: fan(depth - 1) } };
  const schema = fan(4);
  expect(cpuMsOf(() => void toolDocument('k', server, { name: 'n', inputSchema: schema }))).toBeLessThan(1_000);
});
