import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cpuMsOf } from '../../../test/kit/cpu.ts';
import { clausesOf } from './clauses.ts';

describe('a task is taken apart into its steps', () => {
  test.each([
    ['create an issue', []],
    [
      'Read the sheet, plot it as a bar chart and save the picture',
      ['Read the sheet', 'plot it as a bar chart', 'save the picture'],
    ],
    [
      'Find the repository. Then read its wiki\nwrite a summary',
      ['Find the repository.', 'Then read its wiki', 'write a summary'],
    ],
    [
      'whois information (and a sitemap of it) for example.com',
      ['whois information', 'and a sitemap of it', 'for example.com'],
    ],
    ['Lies die Tabelle und zeichne ein Diagramm', ['Lies die Tabelle', 'zeichne ein Diagramm']],
    ['Lis le fichier puis envoie un message', ['Lis le fichier', 'envoie un message']],
    ['查询明天的天气，然后发送邮件给同事。', ['查询明天的天气', '然后发送邮件给同事']],
  ])('%s', (query, expected) => {
    expect(clausesOf(query, 10)).toEqual(expected);
  });
});

test('of more parts than may count the longest do, in their order', () => {
  const query = 'Hello there, my friend. Convert the document to PDF, thank you. Merge both of the files together.';
  expect(clausesOf(query, 2)).toEqual(['Convert the document to PDF', 'Merge both of the files together.']);
});

test('a longer part counts before shorter ones that are as long as the shortest that counts', () => {
  const steps = ['send a mail', 'read a file', 'convert the whole document to PDF'];
  expect(clausesOf(steps.join(', '), 2)).toEqual([steps[0], steps[2]]);
});

test('there are never more parts than may count, and each is a part of the text', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('send mail', ', ', ' and ', '. ', '\n', '，', '查询天气查询', 'x')),
      (pieces) => {
        const query = pieces.join('');
        const parts = clausesOf(query, 3);
        expect(parts.length).toBeLessThanOrEqual(3);
        for (const part of parts) expect(query).toContain(part);
      },
    ),
  );
});

test('a hostile text takes no longer than its length deserves', () => {
  for (const unit of [' ', ', ', 'and ', ' and', '.', '(', '，', '天', ' - '])
    expect(cpuMsOf(() => void clausesOf(unit.repeat(100_000 / unit.length), 12))).toBeLessThan(1_000);
});
