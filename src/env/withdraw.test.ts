import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { readableText, withdrawSecrets } from './withdraw.ts';

test('where the block of variables cannot be wiped no child inherits the secrets, and the operator is told what to do', () => {
  const name = 'TOOLHUB_TEST_SECRET';
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
  atEnd(() => void Object.defineProperty(process, 'platform', platform));
  Object.defineProperty(process, 'platform', { ...platform, value: 'darwin' });
  process.env[name] = 'a secret';
  const [here] = withdrawSecrets([name, 'TOOLHUB_TEST_NOT_SET']);
  expect(process.env[name]).toBeUndefined();
  expect(here).toEqual({ names: [name], process: undefined });
  expect(readableText(here ?? { names: [], process: '' })).toBe(
    `Stdio servers run as the hub's user and can read ${name} in the environment of the hub. Put them into files (${name}_FILE).`,
  );
});
