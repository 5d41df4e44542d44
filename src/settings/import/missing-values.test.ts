import { expect, test } from 'vitest';
import { missingValues, withGivenValues } from './missing-values.ts';

const config = {
  command: 'npx',
  args: ['-y', 'server', '--token', '<YOUR_TOKEN>', '${SET}', '${OTHER:-default}'],
  env: { API_KEY: '', PLAIN: 'x', FROM: '${NOT_SET}', NAMED: 'your-api-key-here' },
  headers: { Authorization: 'Bearer ${NOT_SET}' },
};
const isSet = (name: string) => name === 'SET';

test('what an entry lacks is found once: places of a README, variables that are not set, empty ones', () => {
  const keys = missingValues(config, isSet).map(({ key }) => key);
  expect(keys.toSorted()).toEqual(['<YOUR_TOKEN>', 'API_KEY', 'NOT_SET', 'your-api-key-here']);
  expect(missingValues({ command: 'node', args: ['a < b > c', 'yours.js', '--id', 'youth'] }, isSet)).toEqual([]);
});

test('given values stand in their places as they are, and what is not given stays', () => {
  const values = new Map([
    ['<YOUR_TOKEN>', 'a$&b'],
    ['NOT_SET', 'say ${SET}'],
    ['API_KEY', 'key'],
    ['your-api-key-here', ''],
  ]);
  const filled = withGivenValues(config, values);
  expect(filled.args?.[3]).toBe('a$&b');
  expect(filled.env).toEqual({
    API_KEY: 'key',
    PLAIN: 'x',
    FROM: 'say ${DOLLAR:-$}{SET}',
    NAMED: 'your-api-key-here',
  });
  expect(filled.headers).toEqual({ Authorization: 'Bearer say ${DOLLAR:-$}{SET}' });
  expect(config.args[3]).toBe('<YOUR_TOKEN>');
});
