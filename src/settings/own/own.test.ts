import { expect, test } from 'vitest';
import { importSettings } from '../import/import-settings.ts';
import { parseSettings } from '../document/parse-settings.ts';

const prompt = { id: '1', name: 'greet', template: 'Hello {{name}}', arguments: [{ name: 'name' }] };
const resource = { uri: 'docs://a', content: '' };

test('what MCPHub writes is read, and what is switched off is not there', () => {
  const { own } = parseSettings({
    prompts: [prompt, { name: 'off', template: 'x', enabled: false }],
    resources: [resource],
  }).settings;
  expect(own).toMatchObject({
    prompts: [{ name: 'greet', template: 'Hello {{name}}', arguments: [{ name: 'name', required: false }] }],
    resources: [{ uri: 'docs://a', name: 'docs://a', mimeType: 'text/plain', content: '' }],
  });
  expect(own?.prompts).toHaveLength(1);
  expect(parseSettings({ prompts: [], resources: [{ ...resource, enabled: false }] }).settings.own).toBeUndefined();
});

test.each([
  [{ prompts: {} }, 'prompts'],
  [{ prompts: ['x'] }, 'prompts[0]'],
  [{ prompts: [{ name: 'a' }] }, 'prompts[0].template'],
  [{ prompts: [{ template: 'a' }] }, 'prompts[0].name'],
  [{ prompts: [prompt, prompt] }, 'prompts[1].name'],
  [{ resources: [{ uri: 'docs://a' }] }, 'resources[0].content'],
  [{ resources: [resource, resource] }, 'resources[1].uri'],
  [{ prompts: [{ ...prompt, arguments: [{}] }] }, 'prompts[0].arguments[0].name'],
])('%j names the place that is wrong', (document, path) => {
  expect(() => parseSettings(document)).toThrow(path);
});

test('an import replaces those of the same name; one that takes the place of all leaves no others', () => {
  const draft = { prompts: [prompt, { name: 'old', template: 'x' }] };
  importSettings(draft, { prompts: [{ name: 'greet', template: 'New' }] }, 'merge', 'admin');
  expect(draft.prompts).toEqual([
    { name: 'old', template: 'x' },
    { name: 'greet', template: 'New' },
  ]);
  importSettings(draft, { prompts: [{ name: 'only', template: 'x' }] }, 'replace', 'admin');
  expect(draft.prompts).toEqual([{ name: 'only', template: 'x' }]);
});
