import { count, listOf, object, ref, text } from '../../core/answers/schema.ts';
import { keyUpdateInput, newKeyInput } from '../../settings/key/key-input.ts';
import {
  changePasswordInput,
  loginInput,
  newUserInput,
  passwordCheckInput,
  reauthenticateInput,
  userUpdateInput,
} from '../../settings/user/user-input.ts';
import type { Subject } from './operation.ts';

export const login: Subject = {
  name: 'Login',
  operations: {
    'POST /auth/login': {
      summary: 'Get an access token, good for 24 hours',
      body: loginInput,
      answer: { bare: ref('Login') },
    },
    'POST /auth/reauthenticate': {
      summary: 'Give the own password again, for a token as after a login',
      description:
        'Exports with secrets and changes to the accounts of admins are answered 403 with `error: "reauthenticate"` when the login is older than 10 minutes. The token that this request carries goes on working.',
      body: reauthenticateInput,
      answer: { bare: object({ success: { const: true }, message: text, token: text }) },
    },
    'POST /auth/password-check': {
      summary: 'How strong a password would be, and whether it may be set',
      description:
        'Nothing of it is kept. `weakness`: `short`, `common`, `name` (of the user), `product`, `repeated` or `sequence`. `refusal` says why `systemConfig.auth.passwordPolicy` does not allow it.',
      body: passwordCheckInput,
      answer: {
        data: object(
          { strength: { enum: ['weak', 'fair', 'good', 'strong'] }, minLength: count },
          { weakness: { enum: ['short', 'common', 'name', 'product', 'repeated', 'sequence'] }, refusal: text },
        ),
      },
    },
    'POST /auth/logout': { summary: 'End the access token' },
    'GET /auth/user': { summary: 'Who is logged in', answer: { bare: ref('LoggedIn') } },
    'POST /auth/change-password': {
      summary: 'Change the own password; every older token ends',
      body: changePasswordInput,
      answer: { bare: object({ success: { const: true }, message: text, token: text }) },
    },
  },
};

const key = { data: ref('AccessKey') };

export const keys: Subject = {
  name: 'Access keys',
  operations: {
    'GET /auth/keys': { summary: 'The own access keys; admins see all', answer: { data: listOf(ref('AccessKey')) } },
    'POST /auth/keys': {
      summary: 'Make an access key; its token is shown this once',
      body: newKeyInput,
      answer: key,
      created: true,
    },
    'PUT /auth/keys/:id': { summary: 'Change an access key', body: keyUpdateInput, answer: key },
    'DELETE /auth/keys/:id': { summary: 'Delete an access key' },
  },
};

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
        'A new password ends the logins of the user and, without `keepKeys`, the access keys; `ended` in the answer lists them.',
      admin: true,
      body: userUpdateInput,
      answer: user,
    },
    'DELETE /users/:username': { summary: 'Delete a user, with all tokens and keys', admin: true },
    'GET /users-stats': { summary: 'How many users reach what', admin: true, answer: { data: ref('UserStatistics') } },
  },
};
