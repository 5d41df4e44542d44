import { expect, test } from 'vitest';
import { draftOf, promptOf, shownText, unnamed } from './prompt-draft.ts';

const prompt = {
  id: 'p1',
  name: 'greet',
  template: 'Hello {{ name }}, from {{from}} and {{from}}!',
  enabled: true,
  arguments: [{ name: 'name', required: true, title: 'Whom' }],
};

test('a form that is not touched sends the prompt as it was', () => {
  expect(promptOf(draftOf(prompt))).toEqual({
    name: 'greet',
    title: null,
    description: null,
    template: prompt.template,
    arguments: [{ name: 'name', required: true, title: 'Whom' }],
  });
});

test('rows without a name are left out', () => {
  const draft = draftOf(prompt);
  const row = { row: 7, name: ' ', description: 'x', required: false, others: {} };
  expect(promptOf({ ...draft, arguments: [...draft.arguments, row] }).arguments).toHaveLength(1);
});

test('names that no argument has are found once', () => {
  expect(unnamed(draftOf(prompt))).toEqual(['from']);
});

test('what an argument brings along is no template', () => {
  expect(shownText(draftOf(prompt), { name: '{{from}}' })).toBe('Hello {{from}}, from  and !');
});
