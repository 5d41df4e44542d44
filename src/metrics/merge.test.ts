import { expect, test } from 'vitest';
import { mergePages } from './merge.ts';

test('the pages of several workers are one page, with each family once', () => {
  const page = (calls: number) =>
    [
      '# HELP toolhub_calls_total Calls.',
      '# TYPE toolhub_calls_total counter',
      `toolhub_calls_total{server="a b",status="ok"} ${calls} # {trace_id="x"} 0.1`,
      '# HELP up Up.',
      '# TYPE up gauge',
      'up 1',
      'up{} 2',
      '# EOF',
      '',
    ].join('\n');
  const own = `${page(2).replace('# EOF\n', '')}# HELP only One of the workers has it.\n# TYPE only gauge\nonly 3\n# EOF\n`;
  expect(
    mergePages(
      new Map([
        [1, page(1)],
        [2, own],
      ]),
    ),
  ).toBe(
    [
      '# HELP toolhub_calls_total Calls.',
      '# TYPE toolhub_calls_total counter',
      'toolhub_calls_total{worker="1",server="a b",status="ok"} 1 # {trace_id="x"} 0.1',
      'toolhub_calls_total{worker="2",server="a b",status="ok"} 2 # {trace_id="x"} 0.1',
      '# HELP up Up.',
      '# TYPE up gauge',
      'up{worker="1"} 1',
      'up{worker="1"} 2',
      'up{worker="2"} 1',
      'up{worker="2"} 2',
      '# HELP only One of the workers has it.',
      '# TYPE only gauge',
      'only{worker="2"} 3',
      '# EOF',
      '',
    ].join('\n'),
  );
});
