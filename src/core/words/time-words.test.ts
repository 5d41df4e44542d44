import { expect, test } from 'vitest';
import { inWords } from '../../auth/limiter.ts';
import { timeIn } from './time-words.ts';

test.each([
  [20_000, 'de', '20 Sekunden'],
  [50_000, 'fr', '1 minute'],
  [280_000, 'es', '5 minutos'],
  [280_000, 'ja', '5 分'],
  [280_000, 'zh', '5分钟'],
])('the time of a refused login, %i ms, in %s', (ms, tag, words) => {
  expect(timeIn(tag, inWords(ms))).toBe(words);
});

test('what is no such time stays as it is', () => {
  expect(timeIn('de', 'some time')).toBe('some time');
});
