import { describe, expect, test } from 'vitest';
import { parseSettings } from './schema.ts';

describe('routing.jsonBodyLimit', () => {
  const bytes = (jsonBodyLimit: unknown) =>
    parseSettings({ systemConfig: { routing: { jsonBodyLimit } } }).settings.system.routing.jsonBodyBytes;

  test.each([
    ['1mb', 1_048_576],
    [' 2.5 MB ', 2_621_440],
    ['64kb', 65_536],
    ['100000', 100_000],
    ['100000b', 100_000],
    [100_000, 100_000],
    ['0.125gb', 134_217_728],
    [undefined, undefined],
    [null, undefined],
    ['', undefined],
  ])('%j is %s bytes', (said, expected) => {
    expect(bytes(said)).toBe(expected);
  });

  test.each(['much', '1 tb', '-1mb', '63kb', '129mb', '1e9', '0x20000', 0, 1.5e9, true, {}, { said: ['1mb'] }])(
    '%j is refused',
    (said) => {
      expect(() => bytes(said)).toThrow(
        'systemConfig.routing.jsonBodyLimit: expected the size of the largest JSON body',
      );
    },
  );
});
