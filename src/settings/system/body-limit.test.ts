import { describe, expect, test } from 'vitest';
import { parseSettings } from '../document/parse-settings.ts';

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

  test.each([
    ['63kb', 65_536],
    [0, 65_536],
    ['200mb', 134_217_728],
    [1.5e9, 134_217_728],
  ])('%j is taken as %s bytes, with a warning', (jsonBodyLimit, expected) => {
    const { settings, warnings } = parseSettings({ systemConfig: { routing: { jsonBodyLimit } } });
    expect(settings.system.routing.jsonBodyBytes).toBe(expected);
    expect(warnings).toEqual([
      {
        path: 'systemConfig.routing.jsonBodyLimit',
        message: `is taken as ${expected} bytes: a limit may be from "64kb" to "128mb"`,
      },
    ]);
  });

  test.each(['much', '1 tb', '-1mb', '1e9', '0x20000', true, {}, { said: ['1mb'] }])('%j is refused', (said) => {
    expect(() => bytes(said)).toThrow('systemConfig.routing.jsonBodyLimit: expected the size of the largest JSON body');
  });
});
