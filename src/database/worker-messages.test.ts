import { expect, test } from 'vitest';
import { packError, unpackError } from './worker-messages.ts';

test('an error crosses with its code, and whatever else is thrown says what it is', () => {
  const full = Object.assign(new Error('could not extend file'), { code: '53100' });
  expect(unpackError(packError(full))).toMatchObject({ message: 'could not extend file', code: '53100' });
  // As the file system of the WebAssembly throws them.
  expect(packError({ name: 'ErrnoError', errno: 51 }).message).toBe('no space left on the device');
  expect(packError({ name: 'ErrnoError', errno: 8 }).message).toBe('file system error 8 (WASI)');
  expect(packError({ name: 'ExitStatus', message: 'Program terminated with exit(1)', status: 1 }).message).toBe(
    'ExitStatus: Program terminated with exit(1)',
  );
  for (const odd of [{}, { message: 5 }, Object.create(null)]) expect(packError(odd).message).toBe('unknown failure');
  expect([packError('text'), packError(undefined)].map(({ message }) => message)).toEqual(['text', 'undefined']);
});
