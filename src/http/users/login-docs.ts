import { count, listOf, object, ref, text } from '../../core/answers/schema.ts';
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
      description:
        'With `cookie: true` it is a session of a browser instead: the cookie `toolhub_session`, accepted below `/api` from pages of the hub alone, and `toolhub_csrf`, whose value changes (all but GET) have to send in the header `x-csrf-token`. A session ends after 8 hours without a request.',
      body: loginInput,
      answer: { bare: ref('Login') },
    },
    'POST /auth/reauthenticate': {
      summary: 'Give the own password again, for a token as after a login',
      description:
        'Exports with secrets and changes to the accounts of admins are answered 403 with `error: "reauthenticate"` when the login is older than 10 minutes. The token that this request carries goes on working. A session gets new cookies, and no token.',
      body: reauthenticateInput,
      answer: { bare: object({ success: { const: true }, message: text }, { token: text }) },
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
    'POST /auth/logout': { summary: 'End the access token, or the session and its cookies' },
    'GET /auth/sessions': {
      summary: 'Where you are logged in by a browser, last seen first',
      answer: { data: listOf(ref('LoginSession')) },
    },
    'DELETE /auth/sessions/:id': { summary: 'End one of your sessions' },
    'DELETE /auth/sessions': {
      summary: 'End all your sessions but the one of this request',
      answer: { data: object({ ended: count }) },
    },
    'GET /auth/user': { summary: 'Who is logged in', answer: { bare: ref('LoggedIn') } },
    'POST /auth/change-password': {
      summary: 'Change the own password; every older token and session ends',
      body: changePasswordInput,
      answer: { bare: object({ success: { const: true }, message: text }, { token: text }) },
    },
  },
};
