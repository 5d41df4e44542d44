import { expect, test } from 'vitest';
import { valuesOf } from '../../ui/key-values.tsx';
import { withGiven } from '../servers/asks.ts';
import { takenOf } from './registry.ts';

test('a remote server asks for its headers, and for the places in them', () => {
  const taken = takenOf({
    name: 'io.example/notes',
    remotes: [
      {
        type: 'streamable-http',
        url: 'https://{region}.example.com/mcp',
        variables: { region: { description: 'eu or us', isRequired: true, isSecret: false } },
        headers: [
          { name: 'Authorization', value: 'Bearer {token}', variables: { token: { description: 'Of your account' } } },
          { name: 'X-Team' },
        ],
      },
    ],
  });
  expect(taken).toMatchObject({ isProgram: false, needs: ['key'], server: { name: 'notes' } });
  const { draft, asks = [] } = taken?.server ?? never();
  expect(asks.map(({ key, hint, secret, required }) => [key, hint, secret, required])).toEqual([
    ['<region>', 'eu or us', false, true],
    ['<token>', 'Of your account', true, true],
    ['X-Team', undefined, false, false],
  ]);
  const filled = withGiven(draft, asks, { '<region>': 'eu', '<token>': 'abc' });
  expect([filled.url, valuesOf(filled.headers)]).toEqual([
    'https://eu.example.com/mcp',
    { Authorization: 'Bearer abc' },
  ]);
});

test('a package asks for its variables and required arguments, and says what starts it', () => {
  const taken = takenOf({
    name: 'io.example/files',
    packages: [
      { registryType: 'unheard-of', identifier: 'x' },
      {
        registryType: 'npm',
        identifier: '@example/files',
        version: '1.2.3',
        packageArguments: [{ type: 'positional', valueHint: 'folder', isRequired: true, description: 'What it reads' }],
        environmentVariables: [
          { name: 'API_KEY', isRequired: true, isSecret: true },
          { name: 'MODE', default: 'slow' },
        ],
      },
    ],
  });
  expect(taken).toMatchObject({ isProgram: true, needs: ['node', 'key'] });
  const { draft, asks = [] } = taken?.server ?? never();
  expect([draft.command, draft.args]).toEqual(['npx', '-y\n@example/files@1.2.3\n<folder>']);
  expect(asks.map(({ key }) => key)).toEqual(['<folder>', 'API_KEY']);
  const filled = withGiven(draft, asks, { '<folder>': '/srv', API_KEY: 'k' });
  expect([filled.args.split('\n').at(-1), valuesOf(filled.env)]).toEqual(['/srv', { API_KEY: 'k', MODE: 'slow' }]);
});

test('what this hub cannot start is said to be so', () => {
  expect(takenOf({ name: 'a/b', packages: [{ registryType: 'cargo', identifier: 'x' }] })).toBeUndefined();
});

function never(): never {
  throw new Error('No way to it');
}
