import { count, listOf, object, ref } from '../../core/answers/schema.ts';
import { newUserInput, userUpdateInput } from '../../settings/user/user-input.ts';
import type { Subject } from '../frame/operation.ts';

const user = { data: ref('User') };

export const users: Subject = {
  name: 'Users',
  operations: {
    'GET /users': { summary: 'All users', admin: true, answer: { data: listOf(ref('User')) } },
    'POST /users': { summary: 'Create a user', admin: true, body: newUserInput, answer: user, created: true },
    'GET /users/:username': { summary: 'One user', admin: true, answer: user },
    'PUT /users/:username': {
      summary: 'Change a user',
      description:
        'A new password ends the logins and grants of the user and, without `keepKeys`, the access keys; `ended` in the answer lists them.',
      admin: true,
      body: userUpdateInput,
      answer: user,
    },
    'DELETE /users/:username': { summary: 'Delete a user, with all tokens and keys', admin: true },
    'DELETE /users/:username/sessions': {
      summary: 'End all sessions of a user in browsers',
      description: 'Access tokens, access keys and apps of the user go on. A new password ends those too.',
      admin: true,
      answer: { data: object({ ended: count }) },
    },
    'DELETE /users/:username/second-factor': {
      summary: 'Reset the second factor of a user who has lost it; all logins and apps of the user end',
      admin: true,
    },
    'GET /users-stats': { summary: 'How many users reach what', admin: true, answer: { data: ref('UserStatistics') } },
  },
};
