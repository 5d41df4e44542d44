import { expect, test } from 'vitest';
import { draftOf, overrideOf } from './draft.ts';

const before = {
  name: 'find',
  inputSchema: {
    type: 'object',
    properties: { tenant: { type: 'string', description: 'Whose' }, limit: { type: 'integer' }, open: true },
    required: ['tenant'],
  },
};

function drafted(override: Record<string, unknown> | null) {
  return draftOf({ tool: 'find', before, after: before, override });
}

test('a form that is not touched gives the override as it was', () => {
  const override = {
    name: 'search',
    title: 'Search',
    annotations: { title: 'Finds', readOnlyHint: true, openWorldHint: false },
    arguments: {
      tenant: { value: 'acme', hidden: true },
      limit: { default: 20, description: 'At most 100' },
      gone: { value: { a: [null] } },
    },
  };
  expect(overrideOf(drafted(override))).toEqual({ override, wrong: [] });
  expect(overrideOf(drafted(null))).toEqual({ override: {}, wrong: [] });
});

test('arguments come in the order of the server, with what it says of them, and then those that it has not', () => {
  const shown = drafted({ arguments: { gone: { hidden: true } } }).arguments;
  expect(shown.map(({ name, own }) => [name, own])).toEqual([
    ['tenant', { type: 'string', required: true, description: 'Whose' }],
    ['limit', { type: 'integer', required: false, description: '' }],
    ['open', { type: '', required: false, description: '' }],
    ['gone', undefined],
  ]);
});

test('a text stays a text, other values are JSON, and what is no JSON is named', () => {
  const draft = drafted(null);
  const typed = draft.arguments.map((one) => ({ ...one, way: 'value' as const, text: one.isText ? '007' : 'many' }));
  const { override, wrong } = overrideOf({ ...draft, arguments: typed });
  expect(override).toMatchObject({ arguments: { tenant: { value: '007' } } });
  expect(wrong).toEqual(['arguments.limit.value', 'arguments.open.value']);
});

test('a value of another kind than its argument is shown as JSON and not turned into a text', () => {
  const override = { arguments: { tenant: { value: 7 } } };
  expect(overrideOf(drafted(override)).override).toEqual(override);
});
