import { expect, test } from 'vitest';
import { timeIn } from './time-words.ts';

test.each([
  ['20 seconds', 'de', '20 Sekunden'],
  ['a minute', 'fr', '1 minute'],
  ['5 minutes', 'es', '5 minutos'],
  ['5 minutes', 'ja', '5 分'],
  ['5 minutes', 'zh', '5分钟'],
])('the time of a refused login, %s, in %s', (time, tag, words) => {
  expect(timeIn(tag, time)).toBe(words);
});

test('what is no such time stays as it is', () => {
  expect(timeIn('de', 'some time')).toBe('some time');
});
