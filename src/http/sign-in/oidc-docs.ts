import { object, text } from '../../core/answers/schema.ts';
import type { Subject } from '../frame/operation.ts';

export const oidcLogin: Subject = {
  name: 'Login at a provider',
  operations: {
    'GET /auth/oidc/:id/start': {
      summary: 'Send the browser to the provider to log in',
      description:
        'For browsers, not for programs: it answers with a redirect and a cookie, or a page that says why not.',
      query: {
        return: { type: 'string', description: 'The path of the hub to go to afterwards.' },
        fresh: { type: 'string', description: 'The person has to log in there again.' },
        request: { type: 'string', description: 'What an app asked the hub for, as its login page has it.' },
      },
      answer: { bare: text, type: 'text/html' },
    },
    'GET /auth/oidc/:id/callback': {
      summary: 'Where the browser comes back from the provider',
      query: { code: text, state: text, iss: text, error: text },
      answer: { bare: text, type: 'text/html' },
    },
    'POST /auth/oidc/:id/backchannel-logout': {
      summary: 'The provider ends sessions (OpenID Connect Back-Channel Logout)',
      body: { type: 'application/x-www-form-urlencoded', schema: object({ logout_token: text }) },
      answer: { bare: text, type: 'text/plain' },
    },
  },
};
