import i18next from 'i18next';
import { expect, test } from 'vitest';
import { problemNamed } from '../../../src/core/problems.ts';
import { reasonWords } from '../../../src/core/reasons.ts';
import { problemIn, reasonIn, sentenceIn } from './hub-texts.ts';
import { reasons } from './languages/zh/hub.ts';
import { problems } from './languages/zh/problems.ts';
import { sentences } from '../../../src/core/words/zh.ts';

test('a reason is in the language of the page, with what its values are written as, and in English where it has no words', async () => {
  const reason = { code: 'value_missing', values: { name: '$t(x)', line: '{{name}} <b>' } } as const;
  const given = { ...reason, ...reasonWords(reason) };
  await i18next.init({
    lng: 'zh',
    resources: { zh: { translation: {}, hub: { reasons, sentences, problems } }, en: { translation: {} } },
  });
  expect(reasonIn(given)).toEqual({ text: '程序需要 $t(x)：{{name}} <b>', advice: '请在“环境变量”中设置 $t(x)。' });
  expect(sentenceIn({ code: 'no_server', values: { name: 'x' } })).toBe('没有名为“x”的服务器。');
  const message = 'may have 64 characters at most';
  const said = problemNamed(message);
  expect(problemIn({ message, ...(said && { said }) })).toBe('最多 64 个字符。');
  const range = 'expected a whole number from 1 to 60 seconds, found 0';
  const outside = problemNamed(range);
  expect(problemIn({ message: range, ...(outside && { said: outside }) })).toBe('应为 1 到 60 之间的整数（秒）。');
  expect(problemIn({ message: 'is odd' })).toBeUndefined();
  expect(sentenceIn({ code: 'not_known', values: {} })).toBeUndefined();
  await i18next.changeLanguage('en');
  expect(reasonIn(given)).toEqual(reasonWords(reason));
});
