import { expect, test } from 'vitest';
import { valuesOf } from '../../ui/key-values.tsx';
import { asksIn, freeName, openRows, withGiven } from './asks.ts';
import { emptyDraft } from './config.ts';

const draft = {
  ...emptyDraft,
  command: 'npx',
  args: '-y\nserver\n--key=<YOUR_KEY>\n${HOME_FOLDER}',
  env: openRows({ TOKEN: '', MODE: 'your-api-key', KEPT: 'as it is' }),
};

test('places of a README, variables and empty variables are what a configuration leaves open', () => {
  expect(asksIn(draft).map(({ key }) => key)).toEqual(['HOME_FOLDER', '<YOUR_KEY>', 'your-api-key', 'TOKEN']);
});

test('what was given is in its place as it was typed, and an empty variable is not sent', () => {
  const given = { '<YOUR_KEY>': 'a$&b', HOME_FOLDER: ' /srv ', 'your-api-key': 'c${d}' };
  const filled = withGiven(draft, asksIn(draft), given);
  expect(filled.args).toBe('-y\nserver\n--key=a$&b\n/srv');
  expect(valuesOf(filled.env)).toEqual({ MODE: 'c${DOLLAR:-$}{d}', KEPT: 'as it is' });
});

test('a taken name is offered with the next number that is free', () => {
  expect(freeName('github', new Set(['github']))).toBe('github-2');
  expect(freeName('github-2', new Set(['github', 'github-2', 'github-3']))).toBe('github-4');
});
