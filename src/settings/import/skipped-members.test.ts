import { expect, test } from 'vitest';
import { skippedMembers } from './skipped-members.ts';

test('users who are there, access keys and unknown sections are said to be passed over; what is taken is not', () => {
  const draft = { users: [{ username: 'admin' }] };
  const file = {
    mcpServers: { notes: {} },
    groups: [{ name: 'dev' }],
    users: [{ username: 'admin' }, { username: 'new' }, 7],
    bearerKeys: [{ name: 'laptop' }],
    systemConfig: {},
    prompts: [],
    other: [],
  };
  expect(skippedMembers(draft, file)).toEqual([
    { kind: 'user', name: 'admin' },
    { kind: 'key', name: 'laptop' },
    { kind: 'section', name: 'other' },
  ]);
});

test.each([undefined, [], 'text', { users: 'x', bearerKeys: {} }])(
  'a file that is none passes over nothing: %j',
  (file) => {
    expect(skippedMembers({}, file)).toEqual([]);
  },
);
