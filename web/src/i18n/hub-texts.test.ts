import i18next from 'i18next';
import { expect, test } from 'vitest';
import { reasonTable, reasonWords } from '../../../src/core/reasons.ts';
import type { ServerReason } from '../api/types.ts';
import { reasonIn } from './hub-texts.ts';
import { reasons } from './languages/zh/reasons.ts';

const valuesIn = (words: { readonly text: string; readonly advice: string }) =>
  [...new Set(`${words.text}${words.advice}`.match(/\{\{\w+\}\}/g))].toSorted();

test('what the hub says names the same values in every language', () => {
  for (const [code, words] of Object.entries(reasons))
    expect([code, valuesIn(words)]).toEqual([code, valuesIn(reasonTable[code as ServerReason['code']])]);
});

test('a reason is in the language of the page, with what its values are written as, and in English where it has no words', async () => {
  const reason = { code: 'value_missing', values: { name: '$t(x)', line: '{{name}} <b>' } } as const;
  const given = { ...reason, ...reasonWords(reason) };
  await i18next.init({ lng: 'zh', resources: { zh: { translation: {}, hub: { reasons } }, en: { translation: {} } } });
  expect(reasonIn(given)).toEqual({ text: '程序需要 $t(x)：{{name}} <b>', advice: '请在“环境变量”中设置 $t(x)。' });
  await i18next.changeLanguage('en');
  expect(reasonIn(given)).toEqual(reasonWords(reason));
});
