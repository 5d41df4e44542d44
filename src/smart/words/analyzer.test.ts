import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cpuMsOf } from '../../../test/kit/cpu.ts';
import { terms, words } from './analyzer.ts';
import { stem } from './stem.ts';
import { codePoints } from '../../../test/kit/code-points.ts';

test('a name gives the same words however it is spelled', () => {
  const spellings = [
    'getUserById',
    'get_user_by_id',
    'get-user-by-id',
    'GetUserById',
    'get.user/by:id',
    'GET_USER_BY_ID',
  ];
  expect(spellings.map(words)).toEqual(spellings.map(() => ['get', 'user', 'by', 'id']));
  expect(words('parseHTMLDocument')).toEqual(['parse', 'html', 'document']);
});

test('letters and digits part, and short mixtures can also be found as a whole', () => {
  expect(words('convert to mp3')).toEqual(['convert', 'to', 'mp', '3', 'mp3']);
  expect(words('S3')).toEqual(['s', '3', 's3']);
  expect(words('deadbeef0123456789')).toEqual(['deadbeef', '0123456789']);
});

describe('scripts', () => {
  test.each([
    ['天气预报', ['天气', '气预', '预报']],
    ['雨', ['雨']],
    ['データを検索', ['デー', 'ータ', 'タを', 'を検', '検索']],
    ['날씨 예보', ['날씨', '예보']],
    ['ค้นหา', ['ค้', '้น', 'นห', 'หา']],
    ['погода в Москве', ['погода', 'в', 'москве']],
    ['חיפוש קבצים', ['חיפוש', 'קבצים']],
    ['بحث عن ملف', ['بحث', 'عن', 'ملف']],
    ['Café Zürich', ['cafe', 'zurich']],
    ['search天气now', ['search', '天气', 'now']],
    ['ｆｕｌｌ ｗｉｄｔｈ', ['full', 'width']],
  ])('%s', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });
});

test('what is neither letter nor digit separates and gives nothing', () => {
  const texts = ['', ' \t\n', '.,;!?', '🚀🔥', '\uFE0F', '((((', '\\(?:+)*'];
  expect(texts.flatMap(words)).toEqual([]);
  expect(words('rocket🚀science')).toEqual(['rocket', 'science']);
});

test('terms leave out stop words and ids, unless there is nothing else', () => {
  expect(terms('please show me the files of 1234567')).toEqual(['file']);
  expect(terms('what is this')).toEqual(['what', 'is', 'thi']);
});

test('forms of a word meet in one stem', () => {
  const groups = [
    ['search', 'searches', 'searched', 'searching'],
    ['convert', 'converts', 'converting'],
    ['repository', 'repositories'],
    ['pr', 'prs'],
    ['relational', 'relate'],
    ['hopping', 'hop'],
  ];
  expect(groups.map((group) => new Set(group.map(stem)).size)).toEqual(groups.map(() => 1));
});

test('stems are those of the vocabulary that comes with the paper', () => {
  const expected = {
    caresses: 'caress',
    agreed: 'agre',
    plastered: 'plaster',
    conflated: 'conflat',
    sky: 'sky',
    vietnamization: 'vietnam',
    electricity: 'electr',
    adjustable: 'adjust',
    controlling: 'control',
    bus: 'bus',
  };
  expect(Object.keys(expected).map(stem)).toEqual(Object.values(expected));
});

test('whatever the text, its words are letters or digits, and white space around it adds none', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoints, maxLength: 40 }), (text) => {
      const found = words(text);
      for (const word of found) expect(word).toMatch(/^[\p{L}\p{M}\p{Nd}]+$/u);
      expect(words(`\n${text} `)).toEqual(found);
    }),
  );
});

test('a hostile text takes no longer than its length deserves', () => {
  for (const unit of ['a', 'aA', 'A', 'a1', "'", '́', '天', '(', 'ー', 'yyyy'])
    expect(cpuMsOf(() => void words(unit.repeat(100_000 / unit.length)))).toBeLessThan(1_000);
});
