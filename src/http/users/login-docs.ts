import { count, object, ref, text } from '../../core/answers/schema.ts';
import {
  changePasswordInput,
  loginInput,
  passwordCheckInput,
  reauthenticateInput,
} from '../../settings/user/user-input.ts';
import type { Subject } from '../frame/operation.ts';

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
