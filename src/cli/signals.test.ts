import { expect, test } from 'vitest';
import { stopSignals } from './signals.ts';

test('a hub stops in order on every signal by which its system asks for it', () => {
  expect(stopSignals('linux')).toEqual(['SIGTERM', 'SIGINT']);
  expect(stopSignals('darwin')).toEqual(['SIGTERM', 'SIGINT']);
  // SIGHUP: the window was closed.
  expect(stopSignals('win32')).toEqual(['SIGTERM', 'SIGINT', 'SIGBREAK', 'SIGHUP']);
});
