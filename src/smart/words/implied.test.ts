import { expect, test } from 'vitest';
import { cpuMsOf } from '../../../test/kit/cpu.ts';
import { hasCoordinates, namesDayToCome, namesFileToWrite, takesCoordinates } from './implied.ts';
import { terms } from './analyzer.ts';

test.each([
  'Compare the three libraries and write a report to /tmp/compare.md',
  'Collect the prices, then save them as prices.csv.',
  'Give me a summary in ~/notes/trip.txt',
  'Save the component to src/form.tsx or ./src/form.ts',
  String.raw`Export the result to C:\data\result.json`,
  'Fasse die Seite zusammen und schreibe sie nach /tmp/seite.md',
  '查询天气并保存到 /tmp/weather.txt',
])('a file of text is to be written: %s', (query) => {
  expect(namesFileToWrite(query)).toBe(true);
});

test.each([
  'Create a small web server with Node.js',
  'Read the list in /data/people.csv and tell me the oldest',
  'Write a summary. The source is /data/people.csv',
  'Save a copy of https://example.com/notes/today.md',
  'Create a summary of example.com/index.html',
  'Save the slides as /tmp/slides.pptx',
  'Write a report about the release 2.0.md5',
  'write a report',
])('no file of text is to be written: %s', (query) => {
  expect(namesFileToWrite(query)).toBe(false);
});

test.each([
  ['trains from Rome to Milan tomorrow', true],
  ['find a room for next Wednesday', true],
  ['Züge nach Bonn morgen früh', true],
  ['明天的火车', true],
  ['what was the price last week', false],
  ['open the next page', false],
])('a day to come, as seen from today: %s', (query, expected) => {
  expect(namesDayToCome(query)).toBe(expected);
});

test('coordinates are numbers with decimals, and tools take them by a latitude', () => {
  expect(hasCoordinates('parking near 48.137, 11.575')).toBe(true);
  expect(hasCoordinates('parking within 1.5 km of the station, for 3 days')).toBe(false);
  expect(takesCoordinates(terms('latitude longitude radius'))).toBe(true);
  expect(takesCoordinates(terms('originLat originLon'))).toBe(true);
  expect(takesCoordinates(terms('city latest lateral'))).toBe(false);
});

test('a hostile text takes no longer than its length deserves', () => {
  for (const unit of ['a', '/', '.', 'a.', 'a.md', 'a.md ', 'save a.md ', '写入 a.ts '])
    expect(cpuMsOf(() => void namesFileToWrite(unit.repeat(6_000 / unit.length)))).toBeLessThan(1_000);
});
